package controllers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/store"
)

// reconcileCredentials writes the credentials Secret first and lets the database follow what the Secret holds, so that a
// crash between the two neither loses a key nor makes a second one. A Secret of a former name goes last of all.
func (r *sandboxReconciler) reconcileCredentials(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen *sandboxObservation) error {
	brought, err := r.broughtSigningSecret(ctx, sandbox)
	if err != nil {
		return err
	}
	stored, err := r.database.SigningSecret(ctx, string(sandbox.UID))
	if err != nil {
		return databaseFailure(err)
	}
	wanted := wantedSecret{organizationID: seen.state.OrganizationID, brought: brought, stored: stored}
	if err := r.issue(ctx, sandbox, wanted); err != nil {
		return err
	}
	seen.secretName = sandbox.CredentialsSecretName()
	return r.deleteSecrets(ctx, sandbox, seen.secretName)
}

// issue brings the Secret and the database together. A key that another sandbox has, which somebody put into the Secret by
// hand, opens neither sandbox's data to the other: a new one takes its place.
func (r *sandboxReconciler) issue(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, wanted wantedSecret) error {
	held, err := r.ensureSecret(ctx, sandbox, wanted)
	if err != nil {
		return err
	}
	err = r.applyCredentials(ctx, sandbox, held)
	if !errors.Is(err, store.ErrKeyTaken) {
		return databaseFailure(err)
	}
	wanted.taken = held.apiKey
	if held, err = r.ensureSecret(ctx, sandbox, wanted); err != nil {
		return err
	}
	return databaseFailure(r.applyCredentials(ctx, sandbox, held))
}

func (r *sandboxReconciler) applyCredentials(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, held credentials) error {
	return r.database.ApplyCredentials(ctx, string(sandbox.UID), store.Credentials{
		APIKeyHash:    sha256.Sum256([]byte(held.apiKey)),
		SigningSecret: held.signingSecret,
	})
}

// broughtSigningSecret is the signing secret that the user brings, empty without a reference. It is read from the API
// server and not from the cache, which holds no Secret but the controller's own.
func (r *sandboxReconciler) broughtSigningSecret(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (string, error) {
	if sandbox.Spec.Webhook == nil || sandbox.Spec.Webhook.SigningSecretRef == nil {
		return "", nil
	}
	ref := *sandbox.Spec.Webhook.SigningSecretRef
	secret := &corev1.Secret{}
	err := r.live.Get(ctx, client.ObjectKey{Namespace: sandbox.Namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return "", &waitingError{
			reason:  v1alpha1.ReasonSigningSecretNotFound,
			message: fmt.Sprintf("spec.webhook.signingSecretRef: there is no Secret %q in this namespace: create it, or leave signingSecretRef out to have a secret generated", ref.Name),
		}
	case err != nil:
		return "", &failedError{reason: v1alpha1.ReasonCredentialsError, cause: fmt.Errorf("reading the Secret %q of spec.webhook.signingSecretRef: %w", ref.Name, err)}
	}
	value, ok := secret.Data[ref.Key]
	if !ok {
		return "", &waitingError{
			reason:  v1alpha1.ReasonSigningSecretNotFound,
			message: fmt.Sprintf("spec.webhook.signingSecretRef: the Secret %q has no key %q: add it, or name another key", ref.Name, ref.Key),
		}
	}
	if err := checkSigningSecret(value); err != nil {
		return "", &waitingError{
			reason:  v1alpha1.ReasonSigningSecretInvalid,
			message: fmt.Sprintf("spec.webhook.signingSecretRef: write %d to %d printable characters to the key %q of the Secret %q: the value there %s", minSigningSecret, maxSigningSecret, ref.Key, ref.Name, err),
		}
	}
	return string(value), nil
}
