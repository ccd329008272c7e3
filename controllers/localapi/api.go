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
	"github.com/cauri-dev/cauri/controllers"
)

// Options are the settings of an [API].
type Options struct {
	State State // of resources between two processes; nil: they end with this one

	// APIKey is the API key of the only sandbox that is applied; empty: the controller makes one. [controllers.CheckAPIKey] says which
	// are valid.
	APIKey string
}

// API is a Kubernetes API in memory. It is safe for concurrent use.
type API struct {
	store  *store
	apiKey string
}

// New returns an API with the resources of the state. It returns the state's errors, and an error for an API key of
// another form.
func New(ctx context.Context, options Options) (*API, error) {
	if options.State == nil {
		options.State = forgetful{}
	}
	if options.APIKey != "" {
		if err := controllers.CheckAPIKey(options.APIKey); err != nil {
			return nil, err
		}
	}
	s, err := newStore(ctx, options.State)
	if err != nil {
		return nil, err
	}
	return &API{store: s, apiKey: options.APIKey}, nil
}

// NewManager returns a manager whose Kubernetes API is this one. The options are those of [controllers.ManagerOptions].
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

// mapper returns the resources of the kinds, in place of a discovery.
func (a *API) mapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, k := range a.store.kinds {
		mapper.Add(k.GroupVersionKind, meta.RESTScopeNamespace)
		mapper.Add(k.GroupVersion().WithKind(k.Kind+"List"), meta.RESTScopeNamespace) // as a discovery does
	}
	return mapper
}

// Sandboxes returns all sandboxes with their status, by namespace and name.
func (a *API) Sandboxes() []v1alpha1.SandboxEnvironment {
	return listOf[v1alpha1.SandboxEnvironment](a.store, sandboxKind)
}

// TestClients returns all TestClients with their status, by namespace and name.
func (a *API) TestClients() []v1alpha1.TestClient {
	return listOf[v1alpha1.TestClient](a.store, testClientKind)
}

func listOf[T any](s *store, kind string) []T {
	objects := s.all(func(at key) bool { return at.kind.Kind == kind })
	list := make([]T, len(objects))
	for i, obj := range objects {
		// It was validated by the schema of this type.
		_ = fromUnstructured(obj, &list[i])
	}
	return list
}

func fromUnstructured(obj *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into)
}

// all returns the chosen objects, by namespace and name.
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

// Secret returns the content of a Secret, by its keys; nil if there is none. The credentials of a sandbox are in the
// Secret that its status names, with the keys "uri", "api-key", "webhook-signing-secret" and "organization-id".
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

// NotReadyError is returned by [API.WaitReady]. It says for each resource what it waits for, or what is wrong with it.
type NotReadyError struct{ Reasons []string }

func (e *NotReadyError) Error() string { return strings.Join(e.Reasons, "\n") }

// NotReconciled is the end of the reason for a resource that no controller has reconciled since it was applied.
const NotReconciled = " was not reconciled yet"

// WaitReady returns when all sandboxes and TestClients are ready. It returns a [NotReadyError] as soon as one of them cannot become ready
// before its manifest is changed, and when ctx ends.
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
