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

// priority orders changes of balances and drifted resources after changes of a spec, and before the resources that a
// start finds.
const priority = -10

// Sandboxes returns the source of the sandboxes to reconcile, for their controller.
func (l *LiveStatus) Sandboxes() source.Source { return channelSource(l.sandboxes) }

// TestClients returns the source of the TestClients to reconcile, for their controller.
func (l *LiveStatus) TestClients() source.Source { return channelSource(l.testClients) }

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
