package sandboxenvironment

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/payments"
)

// secretType has the format of the Service Binding specification.
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

// The labels of the controller's Secrets. The cache has only Secrets with the first label.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by"
	ManagedByCauri = "cauri"
	sandboxLabel   = "cauri.dev/sandbox"
)

// The annotations of the credentials Secret have the values of the spec for which its content was created. One request
// writes annotations and content, so that after a crash the Secret is enough to update the database. An empty
// annotation may be missing.
const (
	keyRotationAnnotation         = "cauri.dev/key-rotation"         // value of spec.keyRotation
	keyReplacesAnnotation         = "cauri.dev/key-replaces"         // SHA-256, in hexadecimal, of the replaced API key
	secretRotationAnnotation      = "cauri.dev/secret-rotation"      // value of spec.webhook.secretRotation
	templateLabelsAnnotation      = "cauri.dev/template-labels"      // names of the labels of the template, with commas
	templateAnnotationsAnnotation = "cauri.dev/template-annotations" // names of the annotations of the template
)

// fieldOwner is the field manager of the controller for server-side apply.
const fieldOwner = client.FieldOwner("cauri-controller")

// ensureSecret creates or updates the credentials Secret and returns its credentials. If the cached Secret is correct,
// it sends no request. Otherwise it reads the Secret from the API server before it decides what to write, because a
// cached Secret may lack a new key. It does not read the Secret of a new sandbox: if there is one, the creation fails.
func (r *Reconciler) ensureSecret(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs,
) (credentials, error) {
	key := client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.CredentialsSecretName()}
	if next, ok, err := r.secretFromCache(ctx, sandbox, key, inputs); ok || err != nil {
		return next, err
	}
	var existing *corev1.Secret
	if !inputs.unwritten || r.Get(ctx, key, &corev1.Secret{}) == nil {
		var err error
		if existing, err = r.readOwnSecret(ctx, sandbox, key); err != nil {
			return credentials{}, err
		}
	}
	current, moved, err := r.currentCredentials(ctx, sandbox, existing)
	if err != nil {
		return credentials{}, secretFailure(key, err)
	}
	next, issue, err := inputs.nextCredentials(current, r.Random)
	if err != nil {
		return credentials{}, secretFailure(key, err)
	}
	if existing != nil && r.isCorrect(existing, sandbox, inputs, next) {
		r.checkedVersions.remember(existing)
		return next, nil
	}
	secretRotated := isReplaced(inputs.inDatabase.SigningSecret, current.signingSecret, next.signingSecret)
	if issue == issueRotated || secretRotated {
		// A stale spec would undo a rotation by another controller. The check must follow the read of the Secret: a
		// rotation after the check changes the Secret, so that the write below fails with a conflict.
		if err := reconciler.CheckSpecIsCurrent(ctx, r.APIReader, sandbox); err != nil {
			return credentials{}, err
		}
	}
	if err := r.writeSecret(ctx, sandbox, key, existing, inputs, next); err != nil {
		return credentials{}, secretFailure(key, err)
	}
	r.announceKey(sandbox, inputs, issue, moved)
	if secretRotated {
		r.announceSigningSecret(sandbox)
	}
	return next, nil
}

// secretFromCache returns the credentials of the cached Secret. ok is false if the cached Secret is missing or not
// correct, or if the database does not have its key.
func (r *Reconciler) secretFromCache(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, key client.ObjectKey, inputs credentialInputs,
) (next credentials, ok bool, err error) {
	cached := &corev1.Secret{}
	found := r.Get(ctx, key, cached) == nil
	if !found || !metav1.IsControlledBy(cached, sandbox) || !inputs.knows(string(cached.Data[secretKeyAPIKey])) {
		return credentials{}, false, nil
	}
	next, issue, err := inputs.nextCredentials(credentialsIn(cached), r.Random)
	if err != nil {
		return credentials{}, false, secretFailure(key, err)
	}
	if issue != issueNothing || !r.isCorrect(cached, sandbox, inputs, next) {
		return credentials{}, false, nil
	}
	r.checkedVersions.remember(cached)
	return next, true, nil
}

// isReplaced reports whether the signing secret next is new for both the database (stored) and the Secret (current),
// and replaces a stored one.
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

// readOwnSecret reads the credentials Secret from the API server. It returns nil if the Secret does not exist, and a
// stalling error if the sandbox does not own it.
func (r *Reconciler) readOwnSecret(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, key client.ObjectKey,
) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.APIReader.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, secretFailure(key, err)
	case !metav1.IsControlledBy(secret, sandbox):
		return nil, &reconciler.StallingError{Reason: v1alpha1.ReasonSecretConflict, Message: secretOfAnother(secret, sandbox)}
	}
	return secret, nil
}

// secretOfAnother returns the message for a Secret that the sandbox does not own. It names the owner and tells the user
// what to do.
func secretOfAnother(secret *corev1.Secret, sandbox *v1alpha1.SandboxEnvironment) string {
	owner := metav1.GetControllerOf(secret)
	switch {
	case owner != nil && owner.Kind == "SandboxEnvironment" && owner.Name == sandbox.Name:
		return fmt.Sprintf("The Secret %q belongs to an earlier sandbox of this name. If that is gone, Kubernetes deletes the Secret soon, "+
			"and this sandbox gets a new key: to keep the key of the Secret, write this sandbox's uid into its owner reference.", secret.Name)
	case owner != nil:
		return fmt.Sprintf("The Secret %q belongs to the %s %q. Cauri does not change it: write another name to spec.credentialsSecretName.",
			secret.Name, owner.Kind, owner.Name)
	case secret.Labels[ManagedByLabel] == ManagedByCauri:
		return fmt.Sprintf("The Secret %q was left by an earlier sandbox, which was deleted with --cascade=orphan or restored without "+
			"its owner. Cauri does not change it: delete it, or write another name to spec.credentialsSecretName.", secret.Name)
	}
	return fmt.Sprintf("The Secret %q already exists and does not belong to this sandbox. Cauri does not change it: delete it, or write another "+
		"name to spec.credentialsSecretName.", secret.Name)
}

// currentCredentials returns the credentials in the credentials Secret. If the Secret does not exist, it returns those
// in the Secret with the previous name, and moved=true.
func (r *Reconciler) currentCredentials(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, existing *corev1.Secret,
) (current credentials, moved bool, err error) {
	if existing != nil {
		return credentialsIn(existing), false, nil
	}
	if sandbox.Status.Binding == nil || sandbox.Status.Binding.Name == sandbox.CredentialsSecretName() {
		return credentials{}, false, nil
	}
	previous := &corev1.Secret{}
	err = r.APIReader.Get(ctx, client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.Status.Binding.Name}, previous)
	if err != nil || !metav1.IsControlledBy(previous, sandbox) {
		return credentials{}, false, client.IgnoreNotFound(err)
	}
	return credentialsIn(previous), true, nil
}

// writeSecret writes the Secret. It fails with a conflict if the Secret has changed since it was read, so that of two
// running controllers only one issues a key. It writes a new Secret with create, because apply would merge with a
// Secret of the other controller.
func (r *Reconciler) writeSecret(
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
		if isFixed(existing) { // the new Secret keeps the labels, annotations and data that others added
			kept, _ := withoutLeftovers(existing, sandbox, data)
			secret.Labels, secret.Annotations = with(kept.Labels, secret.Labels), with(kept.Annotations, secretAnnotations(sandbox, next))
			secret.Data = with(kept.Data, data)
		}
		return r.checkedVersions.create(secret, func() error { return r.Create(ctx, secret, fieldOwner) })
	}
	if kept, fewer := withoutLeftovers(existing, sandbox, data); fewer {
		// The apply request below does not remove what the request that created the Secret wrote.
		if err := r.Patch(ctx, kept, client.MergeFromWithOptions(existing, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
			return err
		}
		existing = kept
	}
	secret := corev1ac.Secret(key.Name, key.Namespace).
		WithUID(existing.UID).
		WithResourceVersion(existing.ResourceVersion).
		WithType(secretType).
		WithLabels(with(templateLabels(sandbox), secretLabels(sandbox))).
		WithAnnotations(toWrite(existing.Annotations, secretAnnotations(sandbox, next))).
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

// newSecret returns a new credentials Secret.
func newSecret(sandbox *v1alpha1.SandboxEnvironment, key client.ObjectKey, data map[string][]byte, next credentials) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			Labels: with(templateLabels(sandbox), secretLabels(sandbox)), Annotations: toWrite(nil, secretAnnotations(sandbox, next)),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sandbox, v1alpha1.GroupVersion.WithKind("SandboxEnvironment"))},
		},
		Type: secretType,
		Data: data,
	}
}

// NewCredentialsSecret returns a credentials Secret with an API key. If a user creates it before the sandbox, the
// controller keeps the key and adds the other fields.
func NewCredentialsSecret(sandbox *v1alpha1.SandboxEnvironment, apiKey string) *corev1.Secret {
	key := client.ObjectKey{Namespace: sandbox.Namespace, Name: sandbox.CredentialsSecretName()}
	return newSecret(sandbox, key, map[string][]byte{secretKeyAPIKey: []byte(apiKey)}, credentials{keyRotation: sandbox.Spec.KeyRotation})
}

// isFixed reports whether Kubernetes refuses changes of a Secret, because of its type or because it is immutable. Such
// a Secret is deleted and created again with its credentials. If the process dies between the two requests, a new API
// key is issued.
func isFixed(secret *corev1.Secret) bool {
	return secret != nil && (secret.Type != secretType || valueOr(secret.Immutable, false))
}

// with returns the entries of m and of changes. For a key of both maps, it returns the value of changes.
func with[V any](m, changes map[string]V) map[string]V {
	changed := maps.Clone(m)
	if changed == nil {
		return changes
	}
	maps.Copy(changed, changes)
	return changed
}

// deleteSecrets deletes the Secrets that the sandbox owns, except the Secret with the name keep.
func (r *Reconciler) deleteSecrets(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, keep string) error {
	owned := &corev1.SecretList{}
	if err := r.List(ctx, owned, client.InNamespace(sandbox.Namespace), client.MatchingLabels(secretLabels(sandbox))); err != nil {
		return &reconciler.FailedError{Reason: v1alpha1.ReasonCredentialsError, Cause: fmt.Errorf("listing the sandbox's Secrets: %w", err)}
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
func (r *Reconciler) secretData(sandbox *v1alpha1.SandboxEnvironment, organizationID string, c credentials) map[string][]byte {
	data := map[string][]byte{
		secretKeyType:           []byte("cauri"),
		secretKeyProvider:       []byte("cauri"),
		secretKeyURI:            []byte(r.sandboxURL(sandbox)),
		secretKeyHost:           []byte(r.BaseURL.Hostname()),
		secretKeyPort:           []byte(portOf(r.BaseURL)),
		secretKeyAPIKey:         []byte(c.apiKey),
		secretKeySigningSecret:  []byte(c.signingSecret),
		secretKeyOrganizationID: []byte(organizationID),
	}
	apis := nativeAPIs(sandbox.Spec)
	for _, at := range r.operatorAPIs(sandbox, organizationID) {
		api := apis[payments.Operator(at.Operator)]
		entries := api.SecretEntries(c.apiKey, c.signingSecret)
		maps.Copy(entries, api.AddressEntries(at.URL, at.RootURL))
		for key, value := range entries {
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
	return map[string]string{ManagedByLabel: ManagedByCauri, sandboxLabel: sandbox.Name}
}

// secretAnnotations returns the annotations of a Secret with these credentials.
func secretAnnotations(sandbox *v1alpha1.SandboxEnvironment, c credentials) map[string]string {
	template := templateAnnotations(sandbox)
	return with(template, map[string]string{
		keyRotationAnnotation: c.keyRotation, keyReplacesAnnotation: c.keyReplaces, secretRotationAnnotation: c.secretRotation,
		templateLabelsAnnotation: namesOf(templateLabels(sandbox)), templateAnnotationsAnnotation: namesOf(template),
	})
}

// toWrite removes the controller's empty annotations that the Secret does not have. An annotation of the Secret is cleared with an
// empty value, because server-side apply cannot remove an annotation of another field manager.
func toWrite(existing, wanted map[string]string) map[string]string {
	maps.DeleteFunc(wanted, func(name, value string) bool {
		_, there := existing[name]
		return value == "" && !there && strings.HasPrefix(name, v1alpha1.GroupVersion.Group+"/")
	})
	return wanted
}

// isCorrect reports whether a Secret has the right type, labels, annotations and content. It ignores additional
// entries.
func (r *Reconciler) isCorrect(
	secret *corev1.Secret, sandbox *v1alpha1.SandboxEnvironment, inputs credentialInputs, next credentials,
) bool {
	if secret.Type != secretType {
		return false
	}
	if !contains(secret.Labels, with(templateLabels(sandbox), secretLabels(sandbox))) ||
		!contains(secret.Annotations, secretAnnotations(sandbox, next)) {
		return false
	}
	data := r.secretData(sandbox, inputs.organizationID, next)
	ofCauri := maps.Clone(secret.Data)
	maps.DeleteFunc(ofCauri, func(name string, _ []byte) bool {
		_, wanted := data[name]
		return !wanted && !nativeEntries()[name]
	})
	return maps.EqualFunc(data, ofCauri, slices.Equal)
}

func secretFailure(key client.ObjectKey, err error) error {
	return &reconciler.FailedError{Reason: v1alpha1.ReasonCredentialsError, Cause: fmt.Errorf("the credentials Secret %q: %w", key.Name, err)}
}
