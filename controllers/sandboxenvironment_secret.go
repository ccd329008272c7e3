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

// secretType follows the Service Binding specification: the type names the service.
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

// The annotations of the credentials Secret say for which values of the spec its content was created. They are written together
// with the content: the controller can update the database from the Secret alone after a crash. An empty one may be missing.
const (
	keyRotationAnnotation    = "cauri.dev/key-rotation"    // value of spec.keyRotation
	keyReplacesAnnotation    = "cauri.dev/key-replaces"    // SHA-256, in hexadecimal, of the API key before
	secretRotationAnnotation = "cauri.dev/secret-rotation" // value of spec.webhook.secretRotation
)

// fieldOwner is the manager of the fields that the controller applies.
const fieldOwner = client.FieldOwner("cauri-controller")

// ensureSecret makes the credentials Secret correct and returns its credentials. A Secret that is correct in the cache costs no
// request. Any write, of the Secret or of the database, is decided on a read from the API server: the cache may not have a key yet
// that was issued a moment ago.
func (r *sandboxReconciler) ensureSecret(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs,
) (credentials, error) {
	key := client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.CredentialsSecretName()}
	if next, ok, err := r.secretFromCache(ctx, sandbox, key, inputs); ok || err != nil {
		return next, err
	}
	existing, err := r.readOwnSecret(ctx, sandbox, key)
	if err != nil {
		return credentials{}, err
	}
	current, moved, err := r.currentCredentials(ctx, sandbox, existing)
	if err != nil {
		return credentials{}, secretFailure(key, err)
	}
	next, why, err := inputs.choose(current, r.random)
	if err != nil {
		return credentials{}, secretFailure(key, err)
	}
	if existing != nil && r.isCorrect(existing, sandbox, inputs, next) {
		r.checkedVersions.remember(existing)
		return next, nil
	}
	secretRotated := isReplaced(inputs.inDatabase.SigningSecret, current.signingSecret, next.signingSecret)
	if why == issueRotated || secretRotated {
		// An earlier spec would undo a rotation by another controller. The order matters, this check after the read of the Secret:
		// a later rotation changes the Secret, and then the write below fails.
		if err := checkSpecIsCurrent(ctx, r.apiReader, sandbox); err != nil {
			return credentials{}, err
		}
	}
	if err := r.writeSecret(ctx, sandbox, key, existing, inputs, next); err != nil {
		return credentials{}, secretFailure(key, err)
	}
	r.announceKey(sandbox, inputs, why, moved)
	if secretRotated {
		r.announceSigningSecret(sandbox)
	}
	return next, nil
}

// secretFromCache returns the credentials of the Secret in the cache. ok is false if the API server must be asked: the Secret is not
// correct there, or the database does not have its key.
func (r *sandboxReconciler) secretFromCache(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, key client.ObjectKey, inputs credentialInputs,
) (next credentials, ok bool, err error) {
	cached := &corev1.Secret{}
	found := r.Get(ctx, key, cached) == nil
	if !found || !metav1.IsControlledBy(cached, sandbox) || !inputs.knows(string(cached.Data[secretKeyAPIKey])) {
		return credentials{}, false, nil
	}
	next, why, err := inputs.choose(credentialsIn(cached), r.random)
	if err != nil {
		return credentials{}, false, secretFailure(key, err)
	}
	if why != issueNothing || !r.isCorrect(cached, sandbox, inputs, next) {
		return credentials{}, false, nil
	}
	r.checkedVersions.remember(cached)
	return next, true, nil
}

// isReplaced reports whether a new signing secret replaces the one in the database, and the Secret does not have it yet.
func isReplaced(stored, current, next string) bool {
	return stored != "" && next != stored && next != current
}

// credentialsIn returns the credentials in a Secret.
func credentialsIn(secret *corev1.Secret) credentials {
	current := credentials{
		apiKey:         string(secret.Data[secretKeyAPIKey]),
		keyRotation:    secret.Annotations[keyRotationAnnotation],
		keyReplaces:    secret.Annotations[keyReplacesAnnotation],
		signingSecret:  string(secret.Data[secretKeySigningSecret]),
		secretRotation: secret.Annotations[secretRotationAnnotation],
	}
	if parseHash(current.keyReplaces) == nil {
		current.keyReplaces = ""
	}
	return current
}

// readOwnSecret reads the credentials Secret from the API server; nil if it does not exist. It returns a waiting error for a Secret
// that the sandbox does not own.
func (r *sandboxReconciler) readOwnSecret(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, key client.ObjectKey,
) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.apiReader.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, secretFailure(key, err)
	case !metav1.IsControlledBy(secret, sandbox):
		return nil, &waitingError{reason: v1alpha1.ReasonSecretConflict, message: secretOfAnother(secret)}
	}
	return secret, nil
}

// secretOfAnother returns a message that says to whom a Secret belongs, and what to do.
func secretOfAnother(secret *corev1.Secret) string {
	if owner := metav1.GetControllerOf(secret); owner != nil {
		return fmt.Sprintf("The Secret %q belongs to the %s %q. Cauri does not change it: write another name to spec.credentialsSecretName.",
			secret.Name, owner.Kind, owner.Name)
	}
	return fmt.Sprintf("The Secret %q already exists and does not belong to this sandbox. Cauri does not change it: delete it, or write another "+
		"name to spec.credentialsSecretName.", secret.Name)
}

// currentCredentials returns the credentials in the credentials Secret. If it does not exist, they come from the Secret
// with the previous name.
func (r *sandboxReconciler) currentCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, existing *corev1.Secret,
) (current credentials, moved bool, err error) {
	if existing != nil {
		return credentialsIn(existing), false, nil
	}
	if sandbox.Status.Binding == nil || sandbox.Status.Binding.Name == sandbox.CredentialsSecretName() {
		return credentials{}, false, nil
	}
	previous := &corev1.Secret{}
	err = r.apiReader.Get(ctx, client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.Status.Binding.Name}, previous)
	if err != nil || !metav1.IsControlledBy(previous, sandbox) {
		return credentials{}, false, client.IgnoreNotFound(err)
	}
	return credentialsIn(previous), true, nil
}

// writeSecret writes the Secret if it still has the version that was read, or still does not exist: if two controllers run, only one
// issues a key. It creates a new Secret with create, because apply would merge with the Secret of the other controller.
func (r *sandboxReconciler) writeSecret(
	ctx context.Context,
	sandbox *v1alpha1.SandboxEnvironment,
	key client.ObjectKey,
	existing *corev1.Secret,
	inputs credentialInputs,
	next credentials,
) error {
	data := r.secretData(sandbox, inputs.organizationID, next)
	if isFixed(existing) {
		err := r.Delete(ctx, existing, client.Preconditions{UID: &existing.UID, ResourceVersion: &existing.ResourceVersion})
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	if existing == nil || isFixed(existing) {
		secret := newSecret(sandbox, key, data, next)
		if isFixed(existing) { // keeps additions by others
			secret.Labels, secret.Annotations = with(existing.Labels, secret.Labels), with(existing.Annotations, secretAnnotations(next))
			secret.Data = with(existing.Data, data)
		}
		if err := r.Create(ctx, secret, fieldOwner); err != nil {
			return err
		}
		r.checkedVersions.remember(secret)
		return nil
	}
	secret := corev1ac.Secret(key.Name, key.Namespace).
		WithUID(existing.UID).
		WithResourceVersion(existing.ResourceVersion).
		WithType(secretType).
		WithLabels(secretLabels(sandbox)).
		WithAnnotations(toWrite(existing.Annotations, secretAnnotations(next))).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(v1alpha1.GroupVersion.String()).
			WithKind("SandboxEnvironment").
			WithName(sandbox.Name).
			WithUID(sandbox.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithData(data)
	return r.Apply(ctx, secret, fieldOwner, client.ForceOwnership)
}

// newSecret returns the credentials Secret for its creation.
func newSecret(sandbox *v1alpha1.SandboxEnvironment, key client.ObjectKey, data map[string][]byte, next credentials) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name, Labels: secretLabels(sandbox), Annotations: toWrite(nil, secretAnnotations(next)),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sandbox, v1alpha1.GroupVersion.WithKind("SandboxEnvironment"))},
		},
		Type: secretType,
		Data: data,
	}
}

// NewCredentialsSecret returns the credentials Secret that a user creates to choose a sandbox's API key. The controller
// keeps the key, and adds the rest.
func NewCredentialsSecret(sandbox *v1alpha1.SandboxEnvironment, apiKey string) *corev1.Secret {
	key := client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.CredentialsSecretName()}
	return newSecret(sandbox, key, map[string][]byte{secretKeyAPIKey: []byte(apiKey)}, credentials{keyRotation: sandbox.Spec.KeyRotation})
}

// isFixed reports whether Kubernetes does not allow to change a Secret as needed, because of its type or because it is immutable. It
// must be deleted and created again with its credentials. If the process dies between the two, a new API key is issued.
func isFixed(secret *corev1.Secret) bool {
	return secret != nil && (secret.Type != secretType || valueOr(secret.Immutable, false))
}

// with returns m with the entries of changes.
func with[V any](m, changes map[string]V) map[string]V {
	changed := maps.Clone(m)
	if changed == nil {
		return changes
	}
	maps.Copy(changed, changes)
	return changed
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

// secretData returns the content of the credentials Secret.
func (r *sandboxReconciler) secretData(sandbox *v1alpha1.SandboxEnvironment, organizationID string, c credentials) map[string][]byte {
	data := map[string][]byte{
		secretKeyType:           []byte("cauri"),
		secretKeyProvider:       []byte("cauri"),
		secretKeyURI:            []byte(r.sandboxURL(sandbox)),
		secretKeyHost:           []byte(r.baseURL.Hostname()),
		secretKeyPort:           []byte(portOf(r.baseURL)),
		secretKeyAPIKey:         []byte(c.apiKey),
		secretKeySigningSecret:  []byte(c.signingSecret),
		secretKeyOrganizationID: []byte(organizationID),
	}
	for _, operator := range nativeCredentials(sandbox.Spec, c.apiKey) {
		for key, value := range operator.Secret {
			data[key] = []byte(value)
		}
	}
	return data
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

// secretAnnotations returns the values of the spec that the credentials were created for.
func secretAnnotations(c credentials) map[string]string {
	return map[string]string{
		keyRotationAnnotation: c.keyRotation, keyReplacesAnnotation: c.keyReplaces, secretRotationAnnotation: c.secretRotation,
	}
}

// toWrite leaves out empty annotations that the Secret does not have. An annotation to remove is written empty, because apply does
// not remove what somebody else has written.
func toWrite(existing, wanted map[string]string) map[string]string {
	maps.DeleteFunc(wanted, func(name, value string) bool {
		_, there := existing[name]
		return value == "" && !there
	})
	return wanted
}

// isCorrect reports whether an own Secret has the right type, labels, annotations and content. It ignores additions by others.
func (r *sandboxReconciler) isCorrect(
	secret *corev1.Secret, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs, next credentials,
) bool {
	if secret.Type != secretType {
		return false
	}
	for label, value := range secretLabels(sandbox) {
		if secret.Labels[label] != value {
			return false
		}
	}
	for annotation, value := range secretAnnotations(next) {
		if secret.Annotations[annotation] != value {
			return false
		}
	}
	data := r.secretData(sandbox, inputs.organizationID, next)
	return maps.EqualFunc(data, only(secret.Data, data), slices.Equal)
}

// only returns the entries of m whose keys wanted has.
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
