package sandboxenvironment

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Reasons of the events about credentials.
const (
	eventAPIKeyIssued         = "APIKeyIssued"
	eventAPIKeyRotated        = "APIKeyRotated"
	eventAPIKeyTaken          = "APIKeyTaken"
	eventCredentialsMoved     = "CredentialsMoved"
	eventSigningSecretRotated = "SigningSecretRotated"
)

// announceKey creates an event for a change of the API key.
func (r *Reconciler) announceKey(sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs, issue keyIssue, moved bool) {
	kind, reason, message := corev1.EventTypeNormal, "", ""
	switch {
	case issue == issueFirst && inputs.rejectedKey != "":
		kind, reason = corev1.EventTypeWarning, eventAPIKeyTaken
		message = "The API key in the Secret %s belonged to another sandbox. Cauri replaced it with a new one."
	case issue == issueFirst:
		reason, message = eventAPIKeyIssued, "The Secret %s has a new API key."
	case issue == issueRotated && inputs.grace == 0:
		reason, message = eventAPIKeyRotated, "The Secret %s has a new API key. No previous key works any more."
	case issue == issueRotated:
		reason, message = eventAPIKeyRotated, fmt.Sprintf(
			"The Secret %%s has a new API key. The previous key works for another %s.", graceText(sandbox),
		)
	case moved:
		reason, message = eventCredentialsMoved, "The credentials are now in the Secret %s."
	default:
		return
	}
	r.Recorder.Eventf(sandbox, nil, kind, reason, reconciler.ActionIssueCredentials, message, sandbox.CredentialsSecretName())
}

// announceSigningSecret creates an event for a replaced signing secret.
func (r *Reconciler) announceSigningSecret(sandbox *v1alpha1.SandboxEnvironment) {
	r.Recorder.Eventf(sandbox, nil, corev1.EventTypeNormal, eventSigningSecretRotated, reconciler.ActionIssueCredentials,
		"The Secret %s has a new signing secret. The previous one also signs for %.0f hours.",
		sandbox.CredentialsSecretName(), sandboxes.SecretOverlap.Hours())
}
