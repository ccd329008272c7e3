package controllers

import (
	"cmp"
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
// the two neither loses a key nor creates a second one. It deletes a Secret with the previous name last.
func (r *sandboxReconciler) reconcileCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen *sandboxObservation,
) error {
	userSigningSecret, err := r.readUserSigningSecret(ctx, sandbox)
	if err != nil {
		return err
	}
	inputs := credentialInputs{
		organizationID: seen.state.OrganizationID, keyRotation: sandbox.Spec.KeyRotation, grace: seen.keyRotationGrace,
		userSigningSecret: cmp.Or(userSigningSecret, r.signingSecret),
	}
	if sandbox.Spec.Webhook != nil {
		inputs.secretRotation = sandbox.Spec.Webhook.SecretRotation
	}
	current, err := r.syncCredentials(ctx, sandbox, inputs)
	if err != nil {
		return err
	}
	seen.secretName, seen.keyRotation = sandbox.CredentialsSecretName(), current.keyRotation
	return r.deleteSecrets(ctx, sandbox, seen.secretName)
}

// syncRounds limits how often one attempt chooses the credentials again.
const syncRounds = 4

// errUnstable is returned when all rounds failed. It is not a conflict of the API server, which is retried soon and
// without end: it is retried with backoff, and logged.
var errUnstable = errors.New("something else keeps changing it, or its copy in the database")

// syncCredentials makes the Secret and the database hold the same credentials, and returns them. It starts again in three cases:
// somebody else wrote one of the two meanwhile; the database did not know the key yet that is to be replaced; the key belongs to
// another sandbox. In the last case somebody wrote it into the Secret by hand. The key is rejected and replaced: it must not open the
// data of one sandbox to the other.
func (r *sandboxReconciler) syncCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs,
) (current credentials, err error) {
	for range syncRounds {
		if inputs.inDatabase, err = r.database.StoredCredentials(ctx, string(sandbox.UID)); err != nil {
			return current, databaseFailure(err)
		}
		current, err = r.ensureSecret(ctx, sandbox, inputs)
		switch {
		case errors.Is(err, errSpecChanged):
			return current, err
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			continue
		case err != nil:
			return current, err
		}
		err = r.applyCredentials(ctx, sandbox, inputs, current)
		switch {
		case errors.Is(err, sandboxes.ErrKeyTaken):
			inputs.rejectedKey = current.apiKey
		case errors.Is(err, sandboxes.ErrCredentialsChanged):
		case err != nil:
			return current, databaseFailure(err)
		case inputs.keyFollowsSpec(current):
			return current, nil
		}
	}
	key := client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.CredentialsSecretName()}
	return current, secretFailure(key, errUnstable)
}

func (r *sandboxReconciler) applyCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs, current credentials,
) error {
	return r.database.ApplyCredentials(ctx, string(sandbox.UID), sandboxes.Credentials{
		APIKeyHash:     sha256.Sum256([]byte(current.apiKey)),
		KeyRotation:    current.keyRotation,
		Replaces:       parseHash(current.keyReplaces),
		Grace:          inputs.grace,
		SigningSecret:  current.signingSecret,
		SecretRotation: current.secretRotation,
		Native:         nativeDigests(sandbox.Spec, current.apiKey),
		Following:      inputs.inDatabase.Version,
	})
}

// readUserSigningSecret returns the user's own signing secret, empty without a reference. It is read from the API server: the cache holds
// only the controller's Secrets.
func (r *sandboxReconciler) readUserSigningSecret(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (string, error) {
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
