package controllers

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// secretType follows the Service Binding specification: a type that names what the Secret connects to.
const secretType corev1.SecretType = "servicebinding.io/cauri"

// The keys of the credentials Secret. The first five are those of the Service Binding specification.
const (
	secretKeyType           = "type"
	secretKeyProvider       = "provider"
	secretKeyURI            = "uri"
	secretKeyHost           = "host"
	secretKeyPort           = "port"
	secretKeyAPIKey         = "api-key"
	secretKeySigningSecret  = "webhook-signing-secret"
	secretKeyOrganizationID = "organization-id"
)

// The labels of the controller's Secrets. The cache holds those with the first one only.
const (
	managedByLabel = "app.kubernetes.io/managed-by"
	managedByCauri = "cauri"
	sandboxLabel   = "cauri.dev/sandbox"
)

// fieldOwner is the manager of the fields that the controller applies.
const fieldOwner = client.FieldOwner("cauri-controller")

// Reasons of the events about credentials.
const (
	eventAPIKeyIssued     = "APIKeyIssued"
	eventAPIKeyTaken      = "APIKeyTaken"
	eventCredentialsMoved = "CredentialsMoved"
)

// wantedSecret is what the content of the credentials Secret depends on, beside what it holds already.
type wantedSecret struct {
	organizationID string
	brought        string // signing secret of the user's, empty for none
	stored         string // signing secret that the database has, empty for none
	taken          string // API key that is another sandbox's, empty for none
}

// ensureSecret makes the credentials Secret what it should be and returns the credentials that it holds. A Secret that is as
// it should be costs no request. Any write is decided on a fresh read, because the cache may not know yet of a key that was
// issued a moment ago.
func (r *sandboxReconciler) ensureSecret(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, w wantedSecret) (credentials, error) {
	key := client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.CredentialsSecretName()}

	cached := &corev1.Secret{}
	if err := r.Get(ctx, key, cached); err == nil && metav1.IsControlledBy(cached, sandbox) {
		chosen, issued, err := chooseCredentials(cached.Data, w.brought, w.stored, w.taken, r.random)
		if err != nil {
			return credentials{}, secretFailure(key, err)
		}
		if !issued && isAsWanted(cached, sandbox, r.secretData(sandbox, w.organizationID, chosen)) {
			return chosen, nil
		}
	}

	present, err := r.readOwnSecret(ctx, sandbox, key)
	if err != nil {
		return credentials{}, err
	}
	held, moved, err := r.heldCredentials(ctx, sandbox, present)
	if err != nil {
		return credentials{}, secretFailure(key, err)
	}
	chosen, issued, err := chooseCredentials(held, w.brought, w.stored, w.taken, r.random)
	if err != nil {
		return credentials{}, secretFailure(key, err)
	}
	if err := r.applySecret(ctx, sandbox, key, present, r.secretData(sandbox, w.organizationID, chosen)); err != nil {
		return credentials{}, secretFailure(key, err)
	}
	switch {
	case issued && w.taken != "":
		r.recorder.Eventf(sandbox, nil, corev1.EventTypeWarning, eventAPIKeyTaken, actionIssueCredentials,
			"The API key in the Secret %s was another sandbox's. A new one stands there now.", key.Name)
	case issued:
		r.recorder.Eventf(sandbox, nil, corev1.EventTypeNormal, eventAPIKeyIssued, actionIssueCredentials,
			"A new API key stands in the Secret %s.", key.Name)
	case moved:
		r.recorder.Eventf(sandbox, nil, corev1.EventTypeNormal, eventCredentialsMoved, actionIssueCredentials,
			"The credentials stand in the Secret %s now.", key.Name)
	}
	return chosen, nil
}

// readOwnSecret reads the credentials Secret from the API server; nil where there is none. It returns a waiting error for a
// Secret that the sandbox does not own.
func (r *sandboxReconciler) readOwnSecret(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, key client.ObjectKey) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.live.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, secretFailure(key, err)
	case !metav1.IsControlledBy(secret, sandbox):
		return nil, &waitingError{
			reason:  v1alpha1.ReasonSecretConflict,
			message: fmt.Sprintf("The Secret %q does not belong to this sandbox and is left alone: delete it, or write another name to spec.credentialsSecretName.", key.Name),
		}
	}
	return secret, nil
}

// heldCredentials is the content of the credentials Secret or, where there is none, of the one that it was before the spec
// gave it another name.
func (r *sandboxReconciler) heldCredentials(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, present *corev1.Secret) (held map[string][]byte, moved bool, err error) {
	if present != nil {
		return present.Data, false, nil
	}
	if sandbox.Status.Binding == nil || sandbox.Status.Binding.Name == sandbox.CredentialsSecretName() {
		return nil, false, nil
	}
	former := &corev1.Secret{}
	err = r.live.Get(ctx, client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.Status.Binding.Name}, former)
	if err != nil || !metav1.IsControlledBy(former, sandbox) {
		return nil, false, client.IgnoreNotFound(err)
	}
	return former.Data, true, nil
}

// applySecret writes the Secret. It holds for the version that was read only. A Secret that somebody makes in the instant
// between has another type, which nobody can change, or another owner, so that the API server refuses to merge the two.
func (r *sandboxReconciler) applySecret(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, key client.ObjectKey, present *corev1.Secret, data map[string][]byte) error {
	secret := corev1ac.Secret(key.Name, key.Namespace).
		WithType(secretType).
		WithLabels(secretLabels(sandbox)).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(v1alpha1.GroupVersion.String()).
			WithKind("SandboxEnvironment").
			WithName(sandbox.Name).
			WithUID(sandbox.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithData(data)
	if present != nil {
		secret.WithUID(present.UID).WithResourceVersion(present.ResourceVersion)
	}
	return r.Apply(ctx, secret, fieldOwner, client.ForceOwnership)
}

// deleteSecrets deletes the Secrets that the sandbox owns, except the one to keep.
func (r *sandboxReconciler) deleteSecrets(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, keep string) error {
	owned := &corev1.SecretList{}
	if err := r.List(ctx, owned, client.InNamespace(sandbox.Namespace), client.MatchingLabels(secretLabels(sandbox))); err != nil {
		return &failedError{reason: v1alpha1.ReasonCredentialsError, cause: fmt.Errorf("listing the sandbox's Secrets: %w", err)}
	}
	for i := range owned.Items {
		secret := &owned.Items[i]
		if secret.Name == keep || !metav1.IsControlledBy(secret, sandbox) {
			continue
		}
		err := r.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})
		if client.IgnoreNotFound(err) != nil {
			return secretFailure(client.ObjectKeyFromObject(secret), err)
		}
	}
	return nil
}

// secretData is the content of the credentials Secret.
func (r *sandboxReconciler) secretData(sandbox *v1alpha1.SandboxEnvironment, organizationID string, c credentials) map[string][]byte {
	return map[string][]byte{
		secretKeyType:           []byte("cauri"),
		secretKeyProvider:       []byte("cauri"),
		secretKeyURI:            []byte(r.sandboxURL(sandbox)),
		secretKeyHost:           []byte(r.baseURL.Hostname()),
		secretKeyPort:           []byte(portOf(r.baseURL)),
		secretKeyAPIKey:         []byte(c.apiKey),
		secretKeySigningSecret:  []byte(c.signingSecret),
		secretKeyOrganizationID: []byte(organizationID),
	}
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

func secretLabels(sandbox *v1alpha1.SandboxEnvironment) map[string]string {
	return map[string]string{managedByLabel: managedByCauri, sandboxLabel: sandbox.Name}
}

// isAsWanted reports whether an own Secret has the labels and the content that it should have. What others added to it is
// theirs.
func isAsWanted(secret *corev1.Secret, sandbox *v1alpha1.SandboxEnvironment, data map[string][]byte) bool {
	for label, value := range secretLabels(sandbox) {
		if secret.Labels[label] != value {
			return false
		}
	}
	return maps.EqualFunc(data, only(secret.Data, data), slices.Equal)
}

// only is the part of m that has the keys of wanted.
func only(m, wanted map[string][]byte) map[string][]byte {
	part := make(map[string][]byte, len(wanted))
	for key := range wanted {
		if value, ok := m[key]; ok {
			part[key] = value
		}
	}
	return part
}

func secretFailure(key client.ObjectKey, err error) error {
	return &failedError{reason: v1alpha1.ReasonCredentialsError, cause: fmt.Errorf("the credentials Secret %q: %w", key.Name, err)}
}
