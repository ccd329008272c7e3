package sandboxenvironment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// reconcileCredentials writes the credentials Secret, and then applies its content to the database. With this order, a
// crash between the two neither loses a key nor issues a second one. Last, it deletes a Secret with the previous name.
func (r *Reconciler) reconcileCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen *Observation,
) error {
	userSigningSecret, err := r.readUserSigningSecret(ctx, sandbox)
	if err != nil {
		return err
	}
	userAPIKey, err := r.readUserAPIKey(ctx, sandbox)
	if err != nil {
		return err
	}
	inputs := credentialInputs{
		organizationID: seen.State.OrganizationID, keyRotation: sandbox.Spec.KeyRotation, grace: seen.keyRotationGrace,
		userAPIKey: userAPIKey, userSigningSecret: cmp.Or(userSigningSecret, r.SigningSecret),
		unwritten: !reconciler.IsObserved(sandbox.Status.ObservedGeneration),
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

// syncRounds is the maximum number of rounds of syncCredentials.
const syncRounds = 4

// errUnstable is returned after syncRounds rounds. Unlike a conflict of the API server, it is retried with backoff and
// logged.
var errUnstable = errors.New("something else keeps changing it, or its copy in the database")

// syncCredentials makes the credentials of the Secret and the database equal, and returns them. It starts another round
// in three cases:
//
//   - The Secret or the stored credentials changed during the round.
//   - The key must be replaced, but the database did not have the present key yet. This round stores the present key.
//   - The key belongs to another sandbox, because a user wrote it into the Secret. The next round replaces this key, so
//     that it does not open the other sandbox. If it is the user's own key, the sandbox then stalls.
func (r *Reconciler) syncCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs,
) (current credentials, err error) {
	for range syncRounds {
		if inputs.inDatabase, err = r.Database.StoredCredentials(ctx, string(sandbox.UID)); err != nil {
			return current, reconciler.DatabaseFailure(err)
		}
		if err = r.checkOwnKey(ctx, sandbox, inputs); err != nil {
			return current, err
		}
		current, err = r.ensureSecret(ctx, sandbox, inputs)
		switch {
		case errors.Is(err, reconciler.ErrSpecChanged):
			return current, err
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			inputs.unwritten = false
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
			return current, reconciler.DatabaseFailure(err)
		case inputs.userAPIKey != "" && inputs.userAPIKey == inputs.rejectedKey:
			return current, ownKeyTaken(sandbox)
		case inputs.keyFollowsSpec(current):
			return current, nil
		}
	}
	key := client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.CredentialsSecretName()}
	return current, secretFailure(key, errUnstable)
}

func (r *Reconciler) applyCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs, current credentials,
) error {
	return r.Database.ApplyCredentials(ctx, string(sandbox.UID), sandboxes.Credentials{
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

// checkOwnKey returns a stalling error if another sandbox has the user's own key. It asks before the key is written to
// the credentials Secret, where it would open the other sandbox.
func (r *Reconciler) checkOwnKey(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs) error {
	if inputs.userAPIKey == "" || inputs.userAPIKey == inputs.rejectedKey || inputs.knows(inputs.userAPIKey) {
		return nil
	}
	err := r.Database.CheckKeyIsFree(ctx, string(sandbox.UID), sha256.Sum256([]byte(inputs.userAPIKey)))
	if errors.Is(err, sandboxes.ErrKeyTaken) {
		return ownKeyTaken(sandbox)
	}
	return reconciler.DatabaseFailure(err)
}

// ownKeyTaken does not name the other sandbox, which may be in another namespace.
func ownKeyTaken(sandbox *v1alpha1.SandboxEnvironment) error {
	return &reconciler.StallingError{
		Reason: v1alpha1.ReasonSecretConflict,
		Message: fmt.Sprintf("Another sandbox has the API key of the Secret %q, which spec.credentials.apiKeySecretRef names: write another "+
			"key to it. Each sandbox has a key of its own.", sandbox.Spec.Credentials.APIKeySecretRef.Name),
		Polled: true,
	}
}

// readUserAPIKey returns the user's own API key; empty without a reference.
func (r *Reconciler) readUserAPIKey(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (string, error) {
	if sandbox.Spec.Credentials == nil || sandbox.Spec.Credentials.APIKeySecretRef == nil {
		return "", nil
	}
	const field = "spec.credentials.apiKeySecretRef"
	ref := *sandbox.Spec.Credentials.APIKeySecretRef
	value, missing, err := r.readSecretValue(ctx, sandbox.Namespace, field, ref)
	if err != nil {
		return "", err
	}
	if missing != "" {
		return "", &reconciler.StallingError{Reason: v1alpha1.ReasonAPIKeySecretNotFound, Message: missing}
	}
	if err := checkOwnAPIKey(value); err != nil {
		return "", &reconciler.StallingError{
			Reason:  v1alpha1.ReasonAPIKeySecretInvalid,
			Message: fmt.Sprintf("%s: the Secret %q holds an invalid value in its key %q: %s", field, ref.Name, ref.Key, err),
		}
	}
	return string(value), nil
}

// readUserSigningSecret returns the user's own signing secret; empty without a reference.
func (r *Reconciler) readUserSigningSecret(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (string, error) {
	if sandbox.Spec.Webhook == nil || sandbox.Spec.Webhook.SigningSecretRef == nil {
		return "", nil
	}
	const field = "spec.webhook.signingSecretRef"
	ref := *sandbox.Spec.Webhook.SigningSecretRef
	value, missing, err := r.readSecretValue(ctx, sandbox.Namespace, field, ref)
	if err != nil {
		return "", err
	}
	if missing != "" {
		return "", &reconciler.StallingError{Reason: v1alpha1.ReasonSigningSecretNotFound, Message: missing}
	}
	if err := checkSigningSecret(value); err != nil {
		return "", &reconciler.StallingError{
			Reason: v1alpha1.ReasonSigningSecretInvalid,
			Message: fmt.Sprintf(
				"%s: the Secret %q holds an invalid value: write %d to %d printable characters to its key %q; the value there %s",
				field, ref.Name, minSigningSecret, maxSigningSecret, ref.Key, err,
			),
		}
	}
	return string(value), nil
}
