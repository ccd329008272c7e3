package sandboxenvironment

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// readSecretValue returns the value that a field of the spec names. missing tells the user what to do if the Secret or its
// key does not exist; otherwise it is empty. It reads from the API server, because the cache has only the controller's
// Secrets.
func (r *Reconciler) readSecretValue(
	ctx context.Context, namespace, field string, ref v1alpha1.SecretKeyReference,
) (value []byte, missing string, err error) {
	secret := &corev1.Secret{}
	err = r.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		leaf := field[strings.LastIndexByte(field, '.')+1:]
		return nil, fmt.Sprintf("%s: the Secret %q does not exist in this namespace: create it, or remove %s to have a value generated",
			field, ref.Name, leaf), nil
	case err != nil:
		return nil, "", &reconciler.FailedError{
			Reason: v1alpha1.ReasonCredentialsError,
			Cause:  fmt.Errorf("reading the Secret %q of %s: %w", ref.Name, field, err),
		}
	case !mayBeRead(secret):
		return nil, "", &reconciler.StallingError{Reason: v1alpha1.ReasonSecretNotLabeled, Message: labelToSet(secret, field)}
	}
	value, ok := secret.Data[ref.Key]
	if !ok {
		return nil, fmt.Sprintf("%s: the Secret %q has no key %q: add it, or name another key", field, ref.Name, ref.Key), nil
	}
	return value, "", nil
}

// mayBeRead reports whether a Secret has the label without which no sandbox reads it. So a user who may edit sandboxes,
// and no Secrets, cannot have the values of any Secret copied or sent.
func mayBeRead(secret *corev1.Secret) bool {
	return secret.Labels[v1alpha1.SandboxMayReadLabel] == v1alpha1.SandboxMayRead
}

// labelToSet tells the user how to let sandboxes read a Secret, which a field of the spec names.
func labelToSet(secret *corev1.Secret, field string) string {
	return fmt.Sprintf("The Secret %q of %s does not have the label %s: %q, without which no sandbox reads it. Whoever may edit the Secret "+
		"sets it: kubectl -n %s label secret %s %s=%s", secret.Name, field, v1alpha1.SandboxMayReadLabel, v1alpha1.SandboxMayRead,
		secret.Namespace, secret.Name, v1alpha1.SandboxMayReadLabel, v1alpha1.SandboxMayRead)
}
