package expectation

import (
	"context"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
)

// Reconciler hands an Expectation to the workers, which evaluate it, and shows their verdict.
type Reconciler struct {
	Installation string // name of this installation
	client.Client
	Database   reconciler.Database
	Gate       reconciler.DatabaseGate
	LiveStatus *resync.LiveStatus
	Clock      clock.PassiveClock
	Recorder   events.EventRecorder
	Pace       reconciler.Pace
	deleted    reconciler.DeletedResources[*v1alpha1.Expectation]
}

// bySandbox has the name of the selectable field: the same selector works for the cache and for the API
// server.
const bySandbox = "spec.sandboxRef.name"

// Watch reconciles Expectations when their spec changes, when their sandbox is created or deleted, or when a worker has
// written results for them.
func (r *Reconciler) Watch(mgr ctrl.Manager, options controller.Options, changes source.Source) error {
	ctx := context.Background() // indexes are registered at once
	indexes := map[string]client.IndexerFunc{
		bySandbox:    func(obj client.Object) []string { return []string{obj.(*v1alpha1.Expectation).Spec.SandboxRef.Name} },
		resync.ByUID: func(obj client.Object) []string { return []string{string(obj.GetUID())} },
	}
	for field, index := range indexes {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.Expectation{}, field, index); err != nil {
			return err
		}
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("expectation").
		For(&v1alpha1.Expectation{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.SandboxEnvironment{},
			handler.EnqueueRequestsFromMapFunc(ofSandbox(mgr.GetCache())),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: reconciler.AvailabilityChanged})).
		Watches(&v1alpha1.Expectation{}, handler.Funcs{DeleteFunc: r.deleted.Note}).
		WatchesRawSource(changes).
		WithOptions(options).
		Complete(r)
}

// ofSandbox returns the Expectations that name a sandbox.
func ofSandbox(cache client.Reader) handler.MapFunc {
	return func(ctx context.Context, sandbox client.Object) (requests []reconcile.Request) {
		var list v1alpha1.ExpectationList
		named := client.MatchingFields{bySandbox: sandbox.GetName()}
		if err := cache.List(ctx, &list, client.InNamespace(sandbox.GetNamespace()), named); err != nil { // only while the cache is being stopped
			return nil
		}
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	}
}
