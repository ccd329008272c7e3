package controllers_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/controllers/localapi"
)

// inMemory is the API of `cauri dev`, without controllers. It must accept what the API server accepts, and refuse the rest with the
// same messages.
var inMemory = sync.OnceValues(func() (*localapi.API, error) { return localapi.New(context.Background(), localapi.Options{}) })

// sameInMemory compares what the two say of a manifest.
func sameInMemory(t *testing.T, obj *unstructured.Unstructured, answer error) {
	t.Helper()
	api, err := inMemory()
	if err != nil {
		t.Fatal(err)
	}
	text, err := obj.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "object.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	manifests, err := localapi.Read(file)
	if err == nil {
		err = api.Check(manifests)
	}
	sameAnswer(t, answer, err)
}

// sameChangeInMemory compares what the two say of a change of a TestClient.
func sameChangeInMemory(t *testing.T, former, changed *v1alpha1.TestClient, answer error) {
	t.Helper()
	api, err := inMemory()
	if err != nil {
		t.Fatal(err)
	}
	options := controllers.ManagerOptions()
	options.Client = client.Options{} // it does not wait for the cache, which is not filled
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	mgr, err := api.NewManager(options)
	if err != nil {
		t.Fatal(err)
	}
	created := former.DeepCopy()
	created.ResourceVersion, created.UID = "", ""
	withStatus := created.DeepCopy()
	if err := mgr.GetClient().Create(t.Context(), created); err != nil {
		t.Fatal(err)
	}
	withStatus.Status = former.Status
	if err := mgr.GetClient().Status().Patch(t.Context(), withStatus, client.MergeFrom(created)); err != nil {
		t.Fatal(err)
	}
	err = mgr.GetClient().Patch(t.Context(), changed.DeepCopy(), client.MergeFrom(former))
	sameAnswer(t, answer, err)
}

func sameAnswer(t *testing.T, server, memory error) {
	t.Helper()
	if diff := cmp.Diff(said(t, server), said(t, memory)); diff != "" {
		t.Errorf("the API server (-) and the API in memory (+): %s", diff)
	}
}

// said is the message of an API.
func said(t *testing.T, err error) string {
	t.Helper()
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return "accepted"
	case !errors.As(err, &status):
		t.Fatal(err)
	}
	return status.Status().Message
}

// What the schema does not say: fields that do not exist, the metadata, and Secrets, which have no schema.
func TestSameAnswersInMemory(t *testing.T) {
	c := newCluster(t)
	strict := client.WithFieldValidation(c.Client, metav1.FieldValidationStrict)
	const sandbox = "apiVersion: cauri.dev/v1alpha1\nkind: SandboxEnvironment\n"
	const secret = "apiVersion: v1\nkind: Secret\n"
	for name, manifest := range map[string]string{
		"unknown fields": sandbox + `
metadata: {name: checkout, label: {a: b}}
spce: {}
spec: {enviroments: [], environments: [{operator: mtn, country: RW, commision: 1}]}`,
		"a wrong type in the metadata":     sandbox + "metadata: {name: checkout, labels: {a: 1}}\nspec: {environments: [{operator: mtn, country: RW}]}",
		"a name with capitals":             sandbox + "metadata: {name: Checkout}\nspec: {environments: [{operator: mtn, country: RW}]}",
		"no name":                          sandbox + "metadata: {}\nspec: {environments: [{operator: mtn, country: RW}]}",
		"no spec":                          sandbox + "metadata: {name: checkout}",
		"null":                             sandbox + "metadata: {name: checkout}\nspec: {environments: null}",
		"a label that is none":             sandbox + "metadata: {name: checkout, labels: {a: b c}}\nspec: {environments: [{operator: mtn, country: RW}]}",
		"a Secret":                         secret + "metadata: {name: s}\nstringData: {client_id: me}\ndata: {client_secret: c2VjcmV0}",
		"a Secret with an unknown field":   secret + "metadata: {name: s}\nstringdata: {client_id: me}",
		"a Secret that is not in base64":   secret + "metadata: {name: s}\ndata: {client_id: me!}",
		"a Secret with a key that is none": secret + "metadata: {name: s}\nstringData: {client id: me}",
		"a Secret with a number":           secret + "metadata: {name: s}\nstringData: {client_id: 1}",
	} {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(manifest), &obj.Object); err != nil {
				t.Fatal(err)
			}
			obj.SetNamespace(c.namespace)
			sameInMemory(t, obj, strict.Create(t.Context(), obj.DeepCopy(), client.DryRunAll))
		})
	}
}
