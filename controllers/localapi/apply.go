package localapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/sandboxenvironment"
)

// Change is the action of [API.Apply] on a resource.
type Change struct {
	Action string // created, configured, unchanged or deleted
	Kind   string
	types.NamespacedName
}

// String returns the change in the format of kubectl: "testclient.cauri.dev/alice created".
func (c Change) String() string {
	name := strings.ToLower(c.Kind)
	if c.Kind != secretKind {
		name += "." + v1alpha1.GroupVersion.Group
	}
	return fmt.Sprintf("%s/%s %s", name, c.Name, c.Action)
}

func changed(action string, at key) Change {
	return Change{action, at.kind.Kind, types.NamespacedName{Namespace: at.namespace, Name: at.name}}
}

// Apply makes the resources equal to the manifests: it creates, changes and deletes. If a manifest is invalid, it
// changes nothing and returns all errors, each with its file and document. It waits until deleted resources are gone,
// so the controllers must run.
func (a *API) Apply(ctx context.Context, manifests Manifests) ([]Change, error) {
	wanted, err := a.check(manifests)
	if err != nil {
		return nil, err
	}
	changes, err := a.deleteOthers(ctx, wanted)
	if err != nil {
		return changes, err
	}
	for _, w := range wanted {
		if err := a.giveKey(ctx, w); err != nil {
			return changes, fmt.Errorf("writing the API key of %s: %w", w.at, err)
		}
		action, err := a.store.apply(ctx, w)
		if err != nil {
			return changes, fmt.Errorf("applying %s: %w", w.at, err)
		}
		changes = append(changes, changed(action, w.at))
	}
	return changes, nil
}

// Check returns the errors that [API.Apply] would return for the manifests. It changes nothing.
func (a *API) Check(manifests Manifests) error {
	_, err := a.check(manifests)
	return err
}

// check returns the objects of the manifests, and all errors joined.
func (a *API) check(manifests Manifests) ([]wantedObject, error) {
	var wanted []wantedObject
	var problems []error
	sandboxes := 0
	for _, m := range manifests.resources {
		w, err := a.store.want(m.object)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", m.source, err))
		}
		if w.at.kind.Kind == sandboxKind {
			sandboxes++
		}
		wanted = append(wanted, w)
	}
	if a.apiKey != "" && sandboxes != 1 {
		problems = append(problems, fmt.Errorf("a chosen API key is for one sandbox, and there are %d: leave the key out", sandboxes))
	}
	return wanted, errors.Join(problems...)
}

// want validates a manifest as if it were applied now, and returns its object.
func (s *store) want(manifest *unstructured.Unstructured) (wantedObject, error) {
	obj := manifest.DeepCopy()
	k := s.kindOf(obj)
	w := wantedObject{keyOf(k, obj), obj}
	if err := k.strict(obj); err != nil {
		return w, err
	}
	delete(obj.Object, "status")
	obj.SetUID("") // the fields that the API server or the controllers set
	obj.SetResourceVersion("")
	obj.SetOwnerReferences(nil)
	obj.SetFinalizers(nil)
	tried := obj.DeepCopy()
	old, err := s.get(w.at)
	if err != nil || old.GetDeletionTimestamp() != nil {
		prepareForCreate(k, tried)
		return w, k.validate(tried, nil)
	}
	tried = replacing(tried, old)
	prepareForUpdate(k, tried, old, false)
	return w, k.validate(tried, old)
}

// replacing copies the controllers' metadata from the object old to obj, and returns obj.
func replacing(obj, old *unstructured.Unstructured) *unstructured.Unstructured {
	obj.SetFinalizers(old.GetFinalizers())
	obj.SetOwnerReferences(old.GetOwnerReferences())
	return obj
}

// apply creates or replaces an object, and returns the action of the [Change].
func (s *store) apply(ctx context.Context, w wantedObject) (action string, err error) {
	old, err := s.get(w.at)
	if err == nil {
		obj, err := s.update(ctx, w.at, false, func(old *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return replacing(w.object.DeepCopy(), old), nil
		})
		switch {
		case err == nil && obj.GetResourceVersion() == old.GetResourceVersion():
			return "unchanged", nil
		case !apierrors.IsNotFound(err):
			return "configured", err
		}
	}
	_, err = s.create(ctx, w.at.kind, w.object)
	return "created", err
}

// deleteOthers deletes the objects that are in no manifest, and waits until they are gone, because they may hold a name
// or a number. It also deletes a sandbox whose ttl ended while no process ran. Apply then creates this sandbox again.
func (a *API) deleteOthers(ctx context.Context, wanted []wantedObject) (changes []Change, err error) {
	isWanted := make(map[key]bool, len(wanted))
	for _, w := range wanted {
		isWanted[w.at] = true
	}
	leaving := func() (keys []key) {
		for _, obj := range a.store.all(func(key) bool { return true }) {
			at := keyOf(a.store.kindOf(obj), obj)
			if metav1.GetControllerOf(obj) == nil && (!isWanted[at] || obj.GetDeletionTimestamp() != nil || isExpired(obj)) {
				keys = append(keys, at)
			}
		}
		return keys
	}
	for _, at := range leaving() {
		if _, err := a.store.remove(ctx, at, nil); err != nil && !apierrors.IsNotFound(err) {
			return changes, fmt.Errorf("deleting %s: %w", at, err)
		}
		changes = append(changes, changed("deleted", at))
	}
	var left []key
	if err := a.store.wait(ctx, func() bool { left = leaving(); return len(left) == 0 }); err != nil {
		return changes, fmt.Errorf("waiting until the controller has deleted %s: %w", left, err)
	}
	return changes, nil
}

func isExpired(obj *unstructured.Unstructured) bool {
	var sandbox v1alpha1.SandboxEnvironment
	return obj.GetKind() == sandboxKind && fromUnstructured(obj, &sandbox) == nil && sandboxenvironment.Expired(&sandbox, time.Now())
}
