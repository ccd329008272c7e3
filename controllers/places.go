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

// places bounds how many resources of one kind are carried out at a time in a scope: sandboxes in a namespace, or TestClients
// in a sandbox. They get their places in the order of their creation, and keep them: a limit that is lowered takes none away.
type places struct {
	limit int // 0: none

	mutex sync.Mutex
	given map[string]map[types.UID]bool // by scope, until the cache shows that the place is taken
}

func newPlaces(limit int) *places {
	return &places{limit: limit, given: map[string]map[types.UID]bool{}}
}

// applicant is a resource that takes a place, or wants one.
type applicant struct {
	metav1.Object
	taken bool // it was carried out before
}

// older reports whether a comes before b. Times of creation are whole seconds, so that the name decides too.
func older(a, b applicant) bool {
	first, second := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(first.Compare(second.Time), cmp.Compare(a.GetName(), b.GetName())) < 0
}

// take reports whether there is a place for self. all lists the scope, as the cache has it; it is not asked for a resource that
// has its place.
func (p *places) take(scope string, self applicant, all func() ([]applicant, error)) (bool, error) {
	if p.limit == 0 || self.taken {
		return true, nil
	}
	p.mutex.Lock() // also while the list is read: whoever was given a place since is in it, or in p.given
	defer p.mutex.Unlock()
	if p.given[scope][self.GetUID()] {
		return true, nil
	}
	others, err := all()
	if err != nil {
		return false, err
	}
	before := 0
	given := map[types.UID]bool{}
	for _, other := range others {
		switch {
		case other.GetUID() == self.GetUID():
		case other.taken:
			before++
		case p.given[scope][other.GetUID()]:
			given[other.GetUID()] = true
			before++
		case other.GetDeletionTimestamp() == nil && older(other, self):
			before++
		}
	}
	p.given[scope] = given
	if before >= p.limit {
		return false, nil
	}
	given[self.GetUID()] = true
	return true, nil
}

// next are those who have a place as soon as one is free: the oldest of them that have none, no more than there are places.
func (p *places) next(all []applicant) []reconcile.Request {
	waiting := slices.DeleteFunc(all, func(a applicant) bool { return a.taken || a.GetDeletionTimestamp() != nil })
	slices.SortFunc(waiting, func(a, b applicant) int {
		if older(a, b) {
			return -1
		}
		return 1
	})
	requests := make([]reconcile.Request, min(len(waiting), p.limit))
	for i := range requests {
		requests[i].NamespacedName = client.ObjectKey{Namespace: waiting[i].GetNamespace(), Name: waiting[i].GetName()}
	}
	return requests
}

// freed has those reconciled that may take the place of a deleted resource. list finds the scope of that one.
func (p *places) freed(list func(context.Context, client.Object) ([]applicant, error)) handler.EventHandler {
	return handler.Funcs{DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		if p.limit == 0 {
			return
		}
		all, err := list(ctx, e.Object)
		if err != nil { // only while the cache is being stopped
			return
		}
		for _, request := range p.next(all) {
			queue.Add(request)
		}
	}}
}

// sandboxesOfNamespace lists the sandboxes beside one. Their objects are the cache's own and are only read.
func sandboxesOfNamespace(cache client.Reader) func(context.Context, client.Object) ([]applicant, error) {
	return func(ctx context.Context, beside client.Object) ([]applicant, error) {
		var list v1alpha1.SandboxEnvironmentList
		if err := cache.List(ctx, &list, client.InNamespace(beside.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing the SandboxEnvironments of the namespace: %w", err)
		}
		all := make([]applicant, len(list.Items))
		for i := range list.Items {
			all[i] = sandboxApplicant(&list.Items[i])
		}
		return all, nil
	}
}

func sandboxApplicant(sandbox *v1alpha1.SandboxEnvironment) applicant {
	return applicant{sandbox, sandbox.Status.OrganizationID != ""}
}

// testClientsOfSandbox is as sandboxesOfNamespace.
func testClientsOfSandbox(cache client.Reader) func(context.Context, client.Object) ([]applicant, error) {
	return func(ctx context.Context, beside client.Object) ([]applicant, error) {
		var list v1alpha1.TestClientList
		sandbox := sandboxOf(beside.(*v1alpha1.TestClient))
		err := cache.List(ctx, &list, client.InNamespace(sandbox.Namespace), client.MatchingFields{testClientBySandbox: sandbox.Name},
			client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing the TestClients of the sandbox: %w", err)
		}
		all := make([]applicant, len(list.Items))
		for i := range list.Items {
			all[i] = testClientApplicant(&list.Items[i])
		}
		return all, nil
	}
}

func testClientApplicant(testClient *v1alpha1.TestClient) applicant {
	return applicant{testClient, isRegistered(testClient)}
}

// takePlace returns a stalling error for a sandbox that its namespace has no room for.
func (r *sandboxReconciler) takePlace(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) error {
	room, err := r.places.take(sandbox.Namespace, sandboxApplicant(sandbox), func() ([]applicant, error) {
		return sandboxesOfNamespace(r.cache)(ctx, sandbox)
	})
	if err != nil {
		return &failedError{reason: v1alpha1.ReasonRetrying, cause: err}
	}
	if room {
		return nil
	}
	return &stallingError{reason: v1alpha1.ReasonLimitExceeded, message: fmt.Sprintf(
		"Cauri serves at most %d SandboxEnvironments in a namespace here: delete one that is not needed any more, or ask whoever runs "+
			"Cauri for a higher --max-sandboxes-per-namespace. This one becomes ready by itself when there is room.", r.places.limit)}
}

// takePlace returns a stalling error for a TestClient that its sandbox has no room for.
func (r *testClientReconciler) takePlace(ctx context.Context, testClient *v1alpha1.TestClient) error {
	room, err := r.places.take(sandboxOf(testClient).String(), testClientApplicant(testClient), func() ([]applicant, error) {
		return testClientsOfSandbox(r.cache)(ctx, testClient)
	})
	if err != nil {
		return &failedError{reason: v1alpha1.ReasonRetrying, cause: err}
	}
	if room {
		return nil
	}
	return &stallingError{reason: v1alpha1.ReasonLimitExceeded, message: fmt.Sprintf(
		"Cauri serves at most %d TestClients in a sandbox here: delete one that is not needed any more, or ask whoever runs Cauri for a "+
			"higher --max-test-clients-per-sandbox. This one becomes ready by itself when there is room.", r.places.limit)}
}
