package testclient

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// Watch registers the controller of TestClients. It watches the TestClients, their sandboxes, deletions of TestClients
// with the same number, and changes of balances.
func (r *Reconciler) Watch(mgr ctrl.Manager, options controller.Options, changes source.Source) error {
	ctx := context.Background() // IndexField does not block
	indexes := map[string]client.IndexerFunc{
		bySandbox: func(obj client.Object) []string { return []string{obj.(*v1alpha1.TestClient).Spec.SandboxRef.Name} },
		byNumber:  func(obj client.Object) []string { return []string{numberKey(obj.(*v1alpha1.TestClient))} },
	}
	for field, index := range indexes {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.TestClient{}, field, index); err != nil {
			return err
		}
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("testclient").
		For(&v1alpha1.TestClient{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.SandboxEnvironment{},
			handler.EnqueueRequestsFromMapFunc(ofSandbox(mgr.GetCache())),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: reconciler.AvailabilityChanged})).
		Watches(&v1alpha1.TestClient{}, handler.Funcs{DeleteFunc: r.deleted.Note}).
		Watches(&v1alpha1.TestClient{}, handler.Funcs{DeleteFunc: enqueueSameNumber(mgr.GetCache())}).
		Watches(&v1alpha1.TestClient{}, r.Limit.OnDelete(testClientsOfSandbox(mgr.GetCache()))).
		WatchesRawSource(changes).
		WithOptions(options).
		Complete(r)
}

// numberKey returns the index key of a number in a sandbox. Neither part contains a blank.
func numberKey(testClient *v1alpha1.TestClient) string {
	return testClient.Spec.SandboxRef.Name + " " + testClient.Spec.MSISDN
}

// ofSandbox returns the TestClients that name a sandbox.
func ofSandbox(testClients client.Reader) handler.MapFunc {
	return func(ctx context.Context, sandbox client.Object) []reconcile.Request {
		return find(ctx, testClients, sandbox.GetNamespace(), client.MatchingFields{bySandbox: sandbox.GetName()})
	}
}

// enqueueSameNumber reconciles the TestClients with the number of a deleted TestClient, so that one of them gets the
// number. If the SIM of the deleted TestClient still has it, register deletes that SIM.
func enqueueSameNumber(
	testClients client.Reader,
) func(context.Context, event.DeleteEvent, workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	return func(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		deleted := e.Object.(*v1alpha1.TestClient)
		for _, request := range find(ctx, testClients, deleted.Namespace, client.MatchingFields{byNumber: numberKey(deleted)}) {
			queue.Add(request)
		}
	}
}

// find returns requests for the TestClients that an index selects.
func find(ctx context.Context, testClients client.Reader, namespace string, fields client.MatchingFields) []reconcile.Request {
	var list v1alpha1.TestClientList
	if testClients.List(ctx, &list, client.InNamespace(namespace), fields) != nil { // only when the cache stops
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}
