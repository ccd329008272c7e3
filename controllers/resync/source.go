package resync

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// priority is the priority in the workqueue of the resources that this package reconciles. It is lower than that of a
// changed spec, and higher than that of the resources of the initial list.
const priority = -10

// Sandboxes returns the source of sandboxes for their controller.
func (l *LiveStatus) Sandboxes() source.Source { return channelSource(l.sandboxes) }

// TestClients returns the source of TestClients for their controller.
func (l *LiveStatus) TestClients() source.Source { return channelSource(l.testClients) }

// Expectations returns the source of the Expectations to reconcile, for their controller.
func (l *LiveStatus) Expectations() source.Source { return channelSource(l.expectations) }

func channelSource(keys <-chan event.TypedGenericEvent[client.ObjectKey]) source.Source {
	return source.Channel(keys, handler.TypedFuncs[client.ObjectKey, reconcile.Request]{
		GenericFunc: func(
			_ context.Context, e event.TypedGenericEvent[client.ObjectKey], queue workqueue.TypedRateLimitingInterface[reconcile.Request],
		) {
			request := reconcile.Request{NamespacedName: e.Object}
			if byPriority, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
				byPriority.AddWithOpts(priorityqueue.AddOpts{Priority: new(priority)}, request)
				return
			}
			queue.Add(request)
		},
	})
}
