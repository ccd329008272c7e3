package localapi

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
)

// failing is a state that can fail.
type failing struct {
	forgetful
	fails atomic.Bool
}

func (s *failing) Save(context.Context, string, []byte) error {
	if s.fails.Load() {
		return errors.New("the database is unavailable")
	}
	return nil
}

// newClient is a client as the controllers have it, without the cache.
func newClient(t *testing.T, state State) client.Client {
	t.Helper()
	api, err := New(t.Context(), Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	options := controllers.ManagerOptions()
	options.Client, options.Metrics = client.Options{}, metricsserver.Options{BindAddress: "0"}
	mgr, err := api.NewManager(options)
	if err != nil {
		t.Fatal(err)
	}
	return mgr.GetClient()
}

func newSandbox() *v1alpha1.SandboxEnvironment {
	return &v1alpha1.SandboxEnvironment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "checkout", Finalizers: []string{v1alpha1.SandboxFinalizer}},
		Spec:       v1alpha1.SandboxEnvironmentSpec{Environments: []v1alpha1.Environment{{Operator: "mtn", Country: "RW"}}},
	}
}

// While the state cannot be written, nothing changes that the next process must know. The status does: it says what is wrong.
func TestStateThatFails(t *testing.T) {
	t.Parallel()
	state := &failing{}
	c := newClient(t, state)
	sandbox := newSandbox()
	if err := c.Create(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	state.fails.Store(true)
	changed := sandbox.DeepCopy()
	changed.Spec.Suspend = true
	if err := c.Patch(t.Context(), changed, client.MergeFrom(sandbox)); !apierrors.IsInternalError(err) {
		t.Errorf("the change: %v", err)
	}
	seen := sandbox.DeepCopy()
	seen.Status.ObservedGeneration = 1
	if err := c.Status().Patch(t.Context(), seen, client.MergeFrom(sandbox)); err != nil {
		t.Errorf("the status: %v", err)
	}
	if seen.Spec.Suspend || seen.Generation != 1 {
		t.Errorf("it is %+v", seen)
	}
}

// What controllers rely on, beside what the tests of the package show: versions and UIDs that are checked, and one object a name.
func TestConflicts(t *testing.T) {
	t.Parallel()
	c := newClient(t, nil)
	sandbox := newSandbox()
	if err := c.Create(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), newSandbox()); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second one: %v", err)
	}
	suspended := sandbox.DeepCopy()
	suspended.Spec.Suspend = true
	if err := c.Patch(t.Context(), suspended, client.MergeFrom(sandbox)); err != nil {
		t.Fatal(err)
	}
	if suspended.Generation != 2 || suspended.ResourceVersion == sandbox.ResourceVersion {
		t.Errorf("the change has generation %d, version %s", suspended.Generation, suspended.ResourceVersion)
	}
	late := sandbox.DeepCopy()
	late.Finalizers = nil
	lock := client.MergeFromWithOptions(sandbox, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(t.Context(), late, lock); !apierrors.IsConflict(err) {
		t.Errorf("a change of the former version: %v", err)
	}
	if err := c.Delete(t.Context(), sandbox, client.Preconditions{ResourceVersion: &sandbox.ResourceVersion}); !apierrors.IsConflict(err) {
		t.Errorf("a deletion of the former version: %v", err)
	}
	if err := c.Delete(t.Context(), sandbox, client.Preconditions{UID: &suspended.UID}); err != nil {
		t.Errorf("a deletion: %v", err)
	}
	gone := suspended.DeepCopy()
	if err := c.Patch(t.Context(), gone, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Errorf("the last finalizer: %v", err)
	}
	if err := c.Patch(t.Context(), gone, client.RawPatch("application/merge-patch+json", []byte(`{}`))); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
}

// A watcher that does not read is dropped instead of filling the memory: its client lists again.
func TestSlowWatcher(t *testing.T) {
	t.Parallel()
	s, err := newStore(t.Context(), forgetful{})
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{kind: s.kindNamed(secretKind), selector: labels.Everything()}
	s.list(w, true)
	for n := range maxBehind + 1 {
		secret := &unstructured.Unstructured{Object: map[string]any{}}
		secret.SetGroupVersionKind(w.kind.GroupVersionKind)
		secret.SetNamespace("default")
		secret.SetName(fmt.Sprintf("s-%d", n))
		if _, err := s.create(t.Context(), w.kind, secret); err != nil {
			t.Fatal(err)
		}
	}
	events := 0
	for range w.events {
		events++
	}
	if events != maxBehind || len(s.watchers) != 0 {
		t.Errorf("%d events before the end, and %d watchers are left", events, len(s.watchers))
	}
}
