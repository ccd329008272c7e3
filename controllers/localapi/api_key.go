package localapi

import (
	"context"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/sandboxenvironment"
)

// giveKey writes the API key of the options to the credentials Secret of a sandbox, before the sandbox is created. The
// controller keeps a key that is already in the Secret.
func (a *API) giveKey(ctx context.Context, w wantedObject) error {
	if a.apiKey == "" || w.at.kind.Kind != sandboxKind {
		return nil
	}
	var sandbox v1alpha1.SandboxEnvironment
	if err := fromUnstructured(w.object, &sandbox); err != nil {
		return err
	}
	if old, err := a.store.get(w.at); err == nil {
		sandbox.UID = old.GetUID()
	} else {
		sandbox.UID = types.UID(uuid.NewString())
		w.object.SetUID(sandbox.UID)
	}
	secret := sandboxenvironment.NewCredentialsSecret(&sandbox, a.apiKey)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
	if err != nil {
		return err
	}
	obj := &unstructured.Unstructured{Object: content}
	at := keyOf(a.store.kindNamed(secretKind), obj)
	old, err := a.store.get(at)
	if err != nil {
		_, err = a.store.create(ctx, at.kind, obj)
		return err
	}
	if !metav1.IsControlledBy(old, &sandbox) {
		return nil // the user's own Secret; the controller reports the conflict in the status
	}
	_, err = a.store.update(ctx, at, false, func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		data, _, _ := unstructured.NestedStringMap(content, "data")
		for name, value := range data {
			if err := unstructured.SetNestedField(obj.Object, value, "data", name); err != nil {
				return nil, err
			}
		}
		return obj, nil
	})
	return err
}
