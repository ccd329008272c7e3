package sandboxenvironment

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// sandboxBySecret indexes sandboxes by the names of the Secrets that they read or write.
const sandboxBySecret = "cauri.dev/secret"

// Watch registers the controller of sandboxes. It watches the sandboxes, their credentials Secrets, the other Secrets
// that they name, and changes of live values. secretNames is a cache of the metadata of all Secrets.
func (r *Reconciler) Watch(mgr ctrl.Manager, options controller.Options, secretNames cache.Cache, changes source.Source) error {
	ctx := context.Background() // IndexField does not block
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.SandboxEnvironment{}, sandboxBySecret, secretNamesOf); err != nil {
		return err
	}
	anySecret := &metav1.PartialObjectMetadata{}
	anySecret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return ctrl.NewControllerManagedBy(mgr).
		Named("sandboxenvironment").
		For(&v1alpha1.SandboxEnvironment{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, r.ownerChanged()))).
		Owns(&corev1.Secret{}, builder.WithPredicates(r.checkedVersions.changedElsewhere())).
		WatchesRawSource(source.Kind(secretNames, anySecret, handler.TypedEnqueueRequestsFromMapFunc(r.sandboxesUsing(mgr.GetCache())))).
		Watches(&v1alpha1.SandboxEnvironment{}, r.Limit.OnDelete(sandboxesOfNamespace(mgr.GetCache()))).
		WatchesRawSource(changes).
		WithOptions(options).
		Complete(r)
}

// secretNamesOf returns the names of the Secrets that a sandbox reads or writes.
func secretNamesOf(obj client.Object) []string {
	sandbox := obj.(*v1alpha1.SandboxEnvironment)
	names := []string{sandbox.CredentialsSecretName()}
	if webhook := sandbox.Spec.Webhook; webhook != nil && webhook.SigningSecretRef != nil {
		names = append(names, webhook.SigningSecretRef.Name)
	}
	if c := sandbox.Spec.Credentials; c != nil && c.APIKeySecretRef != nil {
		names = append(names, c.APIKeySecretRef.Name)
	}
	for _, s := range sandbox.Spec.Stores {
		for _, o := range s.OperatorCredentials {
			names = append(names, o.SecretRef.Name)
		}
	}
	return names
}

// sandboxesUsing returns a function that finds the sandboxes that read or write a Secret, except the sandbox that has
// just written it.
func (r *Reconciler) sandboxesUsing(
	sandboxes client.Reader,
) func(context.Context, *metav1.PartialObjectMetadata) []reconcile.Request {
	return func(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
		var list v1alpha1.SandboxEnvironmentList
		err := sandboxes.List(ctx, &list, client.InNamespace(secret.Namespace), client.MatchingFields{sandboxBySecret: secret.Name},
			client.UnsafeDisableDeepCopy)
		if err != nil { // only when the cache stops
			return nil
		}
		var requests []reconcile.Request
		for i := range list.Items {
			if list.Items[i].CredentialsSecretName() == secret.Name && r.checkedVersions.isRemembered(secret) {
				continue
			}
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	}
}
