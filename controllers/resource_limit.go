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

// resourceLimit limits the accepted resources of one kind in a scope. A scope is the sandboxes of a namespace, or the
// TestClients of a sandbox. The oldest resources are accepted first. An accepted resource stays accepted if the limit
// is lowered.
type resourceLimit struct {
	max int // maximum in each scope; 0: no limit

	mutex    sync.Mutex
	reserved map[string]map[types.UID]bool // by scope: accepted resources that the cache does not show as accepted yet
}

func newResourceLimit(limit int) *resourceLimit {
	return &resourceLimit{max: limit, reserved: map[string]map[types.UID]bool{}}
}

// candidate is a resource that counts for a limit.
type candidate struct {
	metav1.Object
	accepted bool // whether its status shows that it is accepted
}

// byAge compares the times at which a and b were created. For the same second, the order of the names decides.
func byAge(a, b metav1.Object) int {
	first, second := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(first.Compare(second.Time), cmp.Compare(a.GetName(), b.GetName()))
}

// accept reports whether the resource self is within the limit. The function all lists the scope from the cache. accept
// returns the error of that function, and does not call it for a resource that is already accepted.
func (l *resourceLimit) accept(scope string, self candidate, all func() ([]candidate, error)) (bool, error) {
	if l.max == 0 || self.accepted {
		return true, nil
	}
	l.mutex.Lock() // held during all(), so that each accepted resource is in the list or in l.reserved
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
		case other.GetDeletionTimestamp() == nil && byAge(other, self) < 0:
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

// next returns requests for the oldest resources that are not accepted, at most l.max.
func (l *resourceLimit) next(all []candidate) []reconcile.Request {
	waiting := slices.DeleteFunc(all, func(c candidate) bool { return c.accepted || c.GetDeletionTimestamp() != nil })
	slices.SortFunc(waiting, func(a, b candidate) int { return byAge(a, b) })
	requests := make([]reconcile.Request, min(len(waiting), l.max))
	for i := range requests {
		requests[i].NamespacedName = client.ObjectKey{Namespace: waiting[i].GetNamespace(), Name: waiting[i].GetName()}
	}
	return requests
}

// onDelete returns a handler that reconciles waiting resources after the deletion of another. The function list returns
// the scope of the deleted resource.
func (l *resourceLimit) onDelete(list func(context.Context, client.Object) ([]candidate, error)) handler.EventHandler {
	return handler.Funcs{DeleteFunc: func(
		ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request],
	) {
		if l.max == 0 {
			return
		}
		all, err := list(ctx, e.Object)
		if err != nil { // only when the cache stops
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
