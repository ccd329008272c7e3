package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// resourceLimit limits how many resources of one kind are accepted in a scope: sandboxes in a namespace, or TestClients in a
// sandbox. It accepts the oldest first. An accepted resource stays accepted, also when the limit is lowered.
type resourceLimit struct {
	max int // 0: no limit

	mutex    sync.Mutex
	reserved map[string]map[types.UID]bool // by scope: accepted here, and not yet shown as accepted by the cache
}

func newResourceLimit(limit int) *resourceLimit {
	return &resourceLimit{max: limit, reserved: map[string]map[types.UID]bool{}}
}

// candidate is a resource that is accepted or waits to be.
type candidate struct {
	metav1.Object
	accepted bool // by its status
}

// older reports whether a comes before b. Creation times are in whole seconds, so names break ties.
func older(a, b candidate) bool {
	first, second := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(first.Compare(second.Time), cmp.Compare(a.GetName(), b.GetName())) < 0
}

// accept reports whether there is room for self. all lists the scope from the cache; accept does not call it for a
// resource that is already accepted, and returns its error.
func (l *resourceLimit) accept(scope string, self candidate, all func() ([]candidate, error)) (bool, error) {
	if l.max == 0 || self.accepted {
		return true, nil
	}
	l.mutex.Lock() // also while the list is read: whoever was accepted since is in the list, or in l.reserved
	defer l.mutex.Unlock()
	if l.reserved[scope][self.GetUID()] {
		return true, nil
	}
	others, err := all()
	if err != nil {
		return false, err
	}
	before := 0
	reserved := map[types.UID]bool{}
	for _, other := range others {
		switch {
		case other.GetUID() == self.GetUID():
		case other.accepted:
			before++
		case l.reserved[scope][other.GetUID()]:
			reserved[other.GetUID()] = true
			before++
		case other.GetDeletionTimestamp() == nil && older(other, self):
			before++
		}
	}
	l.reserved[scope] = reserved
	if before >= l.max {
		return false, nil
	}
	reserved[self.GetUID()] = true
	return true, nil
}

// next names the resources to accept when there is room again: the oldest that are not accepted, at most as many as the limit.
func (l *resourceLimit) next(all []candidate) []reconcile.Request {
	waiting := slices.DeleteFunc(all, func(c candidate) bool { return c.accepted || c.GetDeletionTimestamp() != nil })
	slices.SortFunc(waiting, func(a, b candidate) int {
		if older(a, b) {
			return -1
		}
		return 1
	})
	requests := make([]reconcile.Request, min(len(waiting), l.max))
	for i := range requests {
		requests[i].NamespacedName = client.ObjectKey{Namespace: waiting[i].GetNamespace(), Name: waiting[i].GetName()}
	}
	return requests
}

// onDelete reconciles the resources that a deletion makes room for. list finds the scope of the deleted resource.
func (l *resourceLimit) onDelete(list func(context.Context, client.Object) ([]candidate, error)) handler.EventHandler {
	return handler.Funcs{DeleteFunc: func(
		ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request],
	) {
		if l.max == 0 {
			return
		}
		all, err := list(ctx, e.Object)
		if err != nil { // only while the cache is being stopped
			return
		}
		for _, request := range l.next(all) {
			queue.Add(request)
		}
	}}
}

func limitError(accepted bool, err error, format string, limit int) error {
	switch {
	case err != nil:
		return &failedError{reason: v1alpha1.ReasonRetrying, cause: err}
	case accepted:
		return nil
	default:
		return &stallingError{reason: v1alpha1.ReasonLimitExceeded, message: fmt.Sprintf(format, limit)}
	}
}
