package localapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/sandboxenvironment"
)

// Options are the settings of an [API].
type Options struct {
	State State // keeps the resources for the next process; nil: they are not kept

	// APIKey is the API key of the only applied sandbox; empty: the controller generates one. It must pass
	// [controllers.CheckAPIKey].
	APIKey string
}

// API is a Kubernetes API in memory. It is safe for concurrent use.
type API struct {
	store  *store
	apiKey string
}

// New returns an API with the resources of options.State. It returns the errors of State, and an error for an invalid
// API key.
func New(ctx context.Context, options Options) (*API, error) {
	if options.State == nil {
		options.State = forgetful{}
	}
	if options.APIKey != "" {
		if err := sandboxenvironment.CheckAPIKey(options.APIKey); err != nil {
			return nil, err
		}
	}
	s, err := newStore(ctx, options.State)
	if err != nil {
		return nil, err
	}
	return &API{store: s, apiKey: options.APIKey}, nil
}

// NewManager returns a manager that uses this API. options come from [controllers.ManagerOptions].
func (a *API) NewManager(options ctrl.Options) (ctrl.Manager, error) {
	options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return a.mapper(), nil }
	return ctrl.NewManager(a.restConfig(), options)
}

func (a *API) restConfig() *rest.Config {
	return &rest.Config{
		Host:          "http://cauri.invalid", // no request leaves the process
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON},
		Transport:     a.store,
		QPS:           -1, // no limit
		UserAgent:     "cauri",
	}
}

// mapper returns the resources of all kinds, without requests to the discovery API.
func (a *API) mapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, k := range a.store.kinds {
		mapper.Add(k.GroupVersionKind, meta.RESTScopeNamespace)
		mapper.Add(k.GroupVersion().WithKind(k.Kind+"List"), meta.RESTScopeNamespace) // the discovery API has lists too
	}
	return mapper
}

// Sandboxes returns all sandboxes with their status, sorted by namespace and name.
func (a *API) Sandboxes() []v1alpha1.SandboxEnvironment {
	return listOf[v1alpha1.SandboxEnvironment](a.store, sandboxKind)
}

// TestClients returns all TestClients with their status, sorted by namespace and name.
func (a *API) TestClients() []v1alpha1.TestClient {
	return listOf[v1alpha1.TestClient](a.store, testClientKind)
}

// Expectations returns all Expectations with their status, sorted by namespace and name.
func (a *API) Expectations() []v1alpha1.Expectation {
	return listOf[v1alpha1.Expectation](a.store, expectationKind)
}

func listOf[T any](s *store, kind string) []T {
	objects := s.all(func(at key) bool { return at.kind.Kind == kind })
	list := make([]T, len(objects))
	for i, obj := range objects {
		// The schema of this type has validated the object, so there is no error.
		_ = fromUnstructured(obj, &list[i])
	}
	return list
}

func fromUnstructured(obj *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into)
}

// all returns the objects for which choose returns true, sorted by namespace and name.
func (s *store) all(choose func(key) bool) []*unstructured.Unstructured {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var found []*unstructured.Unstructured
	for at, obj := range s.objects {
		if choose(at) {
			found = append(found, obj)
		}
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found
}

// Secret returns the data of a Secret; nil if it does not exist. The status of a sandbox names the Secret with its
// credentials. That Secret has the keys "uri", "api-key", "webhook-signing-secret" and "organization-id".
func (a *API) Secret(name types.NamespacedName) map[string]string {
	obj, err := a.store.get(key{a.store.kindNamed(secretKind), name.Namespace, name.Name})
	if err != nil {
		return nil
	}
	var secret corev1.Secret
	if err := fromUnstructured(obj, &secret); err != nil {
		return nil
	}
	content := make(map[string]string, len(secret.Data))
	for name, value := range secret.Data {
		content[name] = string(value)
	}
	return content
}

func (s *store) kindNamed(name string) *kind {
	return s.kinds[slices.IndexFunc(s.kinds, func(k *kind) bool { return k.Kind == name })]
}

// NotReadyError is returned by [API.WaitReady]. It has a reason for each resource that is not ready.
type NotReadyError struct{ Reasons []string }

func (e *NotReadyError) Error() string { return strings.Join(e.Reasons, "\n") }

// NotReconciled is the end of the reason for a resource that was not reconciled since it was applied.
const NotReconciled = " was not reconciled yet"

// WaitReady waits until all sandboxes and TestClients are ready. It returns a [NotReadyError] if a resource cannot
// become ready without a change of its manifest, or if ctx ends.
func (a *API) WaitReady(ctx context.Context) error {
	var stalled, waiting []string
	err := a.store.wait(ctx, func() bool {
		stalled, waiting = a.notReady()
		return len(stalled) > 0 || len(waiting) == 0
	})
	if len(stalled) > 0 {
		return &NotReadyError{stalled}
	}
	if err != nil {
		return &NotReadyError{waiting}
	}
	return nil
}

func (a *API) notReady() (stalled, waiting []string) {
	look := func(kind string, obj metav1.ObjectMeta, observed int64, conditions []metav1.Condition) {
		ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
		name := fmt.Sprintf("%s %s/%s", kind, obj.Namespace, obj.Name)
		switch {
		case observed < obj.Generation || ready == nil:
			waiting = append(waiting, name+NotReconciled)
		case meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionStalled):
			stalled = append(stalled, fmt.Sprintf("%s: %s: %s", name, ready.Reason, ready.Message))
		case ready.Status != metav1.ConditionTrue:
			waiting = append(waiting, fmt.Sprintf("%s: %s: %s", name, ready.Reason, ready.Message))
		}
	}
	for _, s := range a.Sandboxes() {
		look(sandboxKind, s.ObjectMeta, s.Status.ObservedGeneration, s.Status.Conditions)
	}
	for _, t := range a.TestClients() {
		look(testClientKind, t.ObjectMeta, t.Status.ObservedGeneration, t.Status.Conditions)
	}
	return stalled, waiting
}
