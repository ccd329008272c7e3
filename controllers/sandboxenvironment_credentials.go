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
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// reconcileCredentials writes the credentials Secret first and then applies the Secret's content to the database: a crash between
// the two neither loses a key nor creates a second one. It deletes a Secret of a former name last.
func (r *sandboxReconciler) reconcileCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen *sandboxObservation,
) error {
	brought, err := r.broughtSigningSecret(ctx, sandbox)
	if err != nil {
		return err
	}
	wanted := wantedSecret{
		organizationID: seen.state.OrganizationID, brought: brought, keyRotation: sandbox.Spec.KeyRotation, grace: seen.keyRotationGrace,
	}
	if sandbox.Spec.Webhook != nil {
		wanted.secretRotation = sandbox.Spec.Webhook.SecretRotation
	}
	held, err := r.issue(ctx, sandbox, wanted)
	if err != nil {
		return err
	}
	seen.secretName, seen.keyRotation = sandbox.CredentialsSecretName(), held.keyRotation
	return r.deleteSecrets(ctx, sandbox, seen.secretName)
}

// issueRounds limits how often one attempt chooses the credentials again.
const issueRounds = 4

// issue makes the Secret and the database hold the same credentials, and returns them. It starts again in three cases: somebody else
// wrote one of the two meanwhile; the database did not know the key yet that is to be replaced; the key belongs to another sandbox.
// In the last case somebody wrote it into the Secret by hand, and it must not open one sandbox's data to the other.
func (r *sandboxReconciler) issue(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, wanted wantedSecret,
) (held credentials, err error) {
	for range issueRounds {
		if wanted.stored, err = r.database.StoredCredentials(ctx, string(sandbox.UID)); err != nil {
			return held, databaseFailure(err)
		}
		held, err = r.ensureSecret(ctx, sandbox, wanted)
		switch {
		case errors.Is(err, errSpecChanged):
			return held, err
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			continue
		case err != nil:
			return held, err
		}
		err = r.applyCredentials(ctx, sandbox, wanted, held)
		switch {
		case errors.Is(err, sandboxes.ErrKeyTaken):
			wanted.taken = held.apiKey
		case errors.Is(err, sandboxes.ErrCredentialsChanged):
		case err != nil:
			return held, databaseFailure(err)
		case wanted.isMet(held):
			return held, nil
		}
	}
	key := client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.CredentialsSecretName()}
	return held, secretFailure(
		key, apierrors.NewConflict(corev1.Resource("secrets"), key.Name, errors.New("something else keeps changing it")),
	)
}

func (r *sandboxReconciler) applyCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, wanted wantedSecret, held credentials,
) error {
	return r.database.ApplyCredentials(ctx, string(sandbox.UID), sandboxes.Credentials{
		APIKeyHash:     sha256.Sum256([]byte(held.apiKey)),
		KeyRotation:    held.keyRotation,
		Replaces:       parseHash(held.keyReplaces),
		Grace:          wanted.grace,
		SigningSecret:  held.signingSecret,
		SecretRotation: held.secretRotation,
		Following:      wanted.stored.Version,
	})
}

// broughtSigningSecret is the user's own signing secret, empty without a reference. It is read from the API server: the cache holds
// only the controller's Secrets.
func (r *sandboxReconciler) broughtSigningSecret(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (string, error) {
	if sandbox.Spec.Webhook == nil || sandbox.Spec.Webhook.SigningSecretRef == nil {
		return "", nil
	}
	ref := *sandbox.Spec.Webhook.SigningSecretRef
	secret := &corev1.Secret{}
	err := r.apiReader.Get(ctx, client.ObjectKey{Namespace: sandbox.Namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return "", &waitingError{
			reason: v1alpha1.ReasonSigningSecretNotFound,
			message: fmt.Sprintf(
				"spec.webhook.signingSecretRef: the Secret %q does not exist in this namespace: create it, or remove signingSecretRef "+
					"to have a secret generated",
				ref.Name,
			),
		}
	case err != nil:
		return "", &failedError{
			reason: v1alpha1.ReasonCredentialsError,
			cause:  fmt.Errorf("reading the Secret %q of spec.webhook.signingSecretRef: %w", ref.Name, err),
		}
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
			reason: v1alpha1.ReasonSigningSecretInvalid,
			message: fmt.Sprintf(
				"spec.webhook.signingSecretRef: the Secret %q holds an invalid value: write %d to %d printable characters to its key %q; "+
					"the value there %s",
				ref.Name, minSigningSecret, maxSigningSecret, ref.Key, err,
			),
		}
	}
	return string(value), nil
}
