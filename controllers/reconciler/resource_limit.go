package reconciler

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

// ResourceLimit limits the accepted resources of one kind in a scope. A scope is the sandboxes of a namespace, or the
// TestClients of a sandbox. The oldest resources are accepted first. An accepted resource stays accepted if the limit
// is lowered.
type ResourceLimit struct {
	Max int // maximum in each scope; 0: no limit

	mutex    sync.Mutex
	reserved map[string]map[types.UID]bool // by scope: accepted resources that the cache does not show as accepted yet
}

func NewResourceLimit(limit int) *ResourceLimit {
	return &ResourceLimit{Max: limit, reserved: map[string]map[types.UID]bool{}}
}

// Candidate is a resource that counts for a limit.
type Candidate struct {
	metav1.Object
	Accepted bool // whether its status shows that it is accepted
}

// ByAge compares the times at which a and b were created. For the same second, the order of the names decides.
func ByAge(a, b metav1.Object) int {
	first, second := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(first.Compare(second.Time), cmp.Compare(a.GetName(), b.GetName()))
}

// Accept reports whether the resource self is within the limit. The function all lists the scope from the cache. accept
// returns the error of that function, and does not call it for a resource that is already accepted.
func (l *ResourceLimit) Accept(scope string, self Candidate, all func() ([]Candidate, error)) (bool, error) {
	if l.Max == 0 || self.Accepted {
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
		case other.Accepted:
			before++
		case l.reserved[scope][other.GetUID()]:
			reserved[other.GetUID()] = true
			before++
		case other.GetDeletionTimestamp() == nil && ByAge(other, self) < 0:
			before++
		}
	}
	l.reserved[scope] = reserved
	if before >= l.Max {
		return false, nil
	}
	reserved[self.GetUID()] = true
	return true, nil
}

// Next returns requests for the oldest resources that are not accepted, at most l.Max.
func (l *ResourceLimit) next(all []Candidate) []reconcile.Request {
	waiting := slices.DeleteFunc(all, func(c Candidate) bool { return c.Accepted || c.GetDeletionTimestamp() != nil })
	slices.SortFunc(waiting, func(a, b Candidate) int { return ByAge(a, b) })
	requests := make([]reconcile.Request, min(len(waiting), l.Max))
	for i := range requests {
		requests[i].NamespacedName = client.ObjectKey{Namespace: waiting[i].GetNamespace(), Name: waiting[i].GetName()}
	}
	return requests
}

// OnDelete returns a handler that reconciles waiting resources after the deletion of another. The function list returns
// the scope of the deleted resource.
func (l *ResourceLimit) OnDelete(list func(context.Context, client.Object) ([]Candidate, error)) handler.EventHandler {
	return handler.Funcs{DeleteFunc: func(
		ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request],
	) {
		if l.Max == 0 {
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

func LimitError(accepted bool, err error, format string, limit int) error {
	switch {
	case err != nil:
		return &FailedError{Reason: v1alpha1.ReasonRetrying, Cause: err}
	case accepted:
		return nil
	default:
		return &StallingError{Reason: v1alpha1.ReasonLimitExceeded, Message: fmt.Sprintf(format, limit)}
	}
}
