package reconciler

import (
	"context"
	"slices"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// DeletedResources has the deleted TestClients or Expectations whose rows may be left. These kinds have no finalizer: it
// would cost a write to the API server for each resource, and block the deletion of a namespace while no controller
// runs. After a crash, [resync.Drift] finds the rows of TestClients; the row of an Expectation ends by its own time.
type DeletedResources[T client.Object] struct {
	mutex sync.Mutex
	named map[client.ObjectKey][]T
}

// Note is the handler of delete events. It remembers the resource, and reconciles its name.
func (d *DeletedResources[T]) Note(
	_ context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request],
) {
	d.Add(e.Object.(T))
	queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)})
}

func (d *DeletedResources[T]) Add(deleted ...T) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.named == nil {
		d.named = map[client.ObjectKey][]T{}
	}
	for _, resource := range deleted {
		key := client.ObjectKeyFromObject(resource)
		if !slices.ContainsFunc(d.named[key], func(known T) bool { return known.GetUID() == resource.GetUID() }) {
			d.named[key] = append(d.named[key], resource)
		}
	}
}

// Take removes and returns the deleted resources of a name.
func (d *DeletedResources[T]) Take(key client.ObjectKey) []T {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	deleted := d.named[key]
	delete(d.named, key)
	return deleted
}
