package controllers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// These tests ask kstatus, the library by which Flux, Helm 4 and others decide whether a resource is ready.

// kstatusOf is what kstatus says of a resource as it stands in the API server.
func kstatusOf(ctx context.Context, c client.Client, obj client.Object) (status.Status, error) {
	stored := &unstructured.Unstructured{}
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return "", err
	}
	stored.SetGroupVersionKind(gvk)
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), stored); err != nil {
		return "", err
	}
	result, err := status.Compute(stored)
	if err != nil {
		return "", err
	}
	return result.Status, nil
}

func (c *cluster) kstatus(obj client.Object, want status.Status) {
	c.Helper()
	if got, err := kstatusOf(c.Context(), c.Client, obj); err != nil || got != want {
		c.Errorf("kstatus says %s of the %T %s (%v), want %s", got, obj, obj.GetName(), err, want)
	}
}

func (c *cluster) kstatusBecomes(obj client.Object, want status.Status) {
	c.Helper()
	c.until(func(ctx context.Context) string {
		if got, err := kstatusOf(ctx, c.Client, obj); err != nil || got != want {
			return fmt.Sprintf("kstatus says %s of the %T %s (%v), want %s", got, obj, obj.GetName(), err, want)
		}
		return ""
	})
}

func TestKstatus(t *testing.T) {
	c := newCluster(t)
	sandbox := c.newSandbox()
	alice := c.newTestClient("alice", "+250788000001")
	unknown := c.newTestClient("unknown", "+250700000001")
	early := c.newTestClient("early", "+250788000002", func(tc *v1alpha1.TestClient) { tc.Spec.SandboxRef.Name = "later" })
	all := []client.Object{sandbox, alice, unknown, early}
	for _, obj := range all {
		c.create(obj)
		c.kstatus(obj, status.InProgressStatus) // no controller has seen it
	}

	c.start()
	c.sandboxReady(sandbox)
	c.kstatus(sandbox, status.CurrentStatus)
	c.testClientReady(alice)
	c.kstatus(alice, status.CurrentStatus)
	c.testClientConditions(unknown, "Ready False OperatorUnknown", "Stalled True OperatorUnknown")
	c.kstatus(unknown, status.FailedStatus)
	c.testClientConditions(early, "Ready False SandboxNotFound", "Reconciling True Retrying")
	c.kstatus(early, status.InProgressStatus)

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Suspend = true })
	c.kstatusBecomes(sandbox, status.CurrentStatus) // everything in the spec is applied

	c.stop()
	for _, obj := range []client.Object{sandbox, alice} {
		edit(c, obj, changeSpec)
		c.kstatus(obj, status.InProgressStatus) // the status describes the former spec
	}
	c.start(limits(0, 1)) // one TestClient in a sandbox
	c.kstatusBecomes(sandbox, status.CurrentStatus)
	c.kstatusBecomes(alice, status.CurrentStatus)
	bob := c.newTestClient("bob", "+250788000003")
	c.create(bob)
	c.kstatusBecomes(bob, status.FailedStatus)

	c.database.setUnavailable(true)
	edit(c, client.Object(sandbox), changeSpec)
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady True Ready",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.kstatus(sandbox, status.InProgressStatus)
	if err := c.Delete(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	c.kstatus(sandbox, status.TerminatingStatus)
	c.database.setUnavailable(false)
	c.gone(sandbox)
}

// changeSpec changes something in the spec.
func changeSpec(obj client.Object) {
	switch o := obj.(type) {
	case *v1alpha1.SandboxEnvironment:
		o.Spec.LatencyPercent = new(*o.Spec.LatencyPercent + 1)
		o.Spec.Suspend = false
	case *v1alpha1.TestClient:
		o.Spec.Balance++
	}
}

// A resource that was stored before the schema had a default for the status, and that no controller has seen, gets it too.
func TestKstatusOfResourcesOfAnOlderSchema(t *testing.T) {
	c := newCluster(t)
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	crds, err := client.New(c.config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	crd := olderCRD(t)
	if err := crds.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := crds.Delete(context.Background(), crd); err != nil {
			t.Error(err)
		}
	})
	alice := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"sandboxRef": map[string]any{"name": "checkout"}, "msisdn": "+250788000001"},
	}}
	alice.SetAPIVersion(crd.Spec.Group + "/" + crd.Spec.Versions[0].Name)
	alice.SetKind(crd.Spec.Names.Kind)
	alice.SetNamespace(c.namespace)
	alice.SetName("alice")
	c.until(func(ctx context.Context) string {
		if err := c.Create(ctx, alice.DeepCopy()); err != nil { // the kind is not served yet
			return err.Error()
		}
		return ""
	})
	c.kstatus(alice, status.CurrentStatus) // as it was

	before := crd.DeepCopy()
	crd.Spec.Versions[0].Schema = newestCRD(t).Spec.Versions[0].Schema
	if err := crds.Patch(t.Context(), crd, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	c.kstatusBecomes(alice, status.InProgressStatus)
}

// newestCRD is the CRD of TestClients.
func newestCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "config", "crd", "cauri.dev_testclients.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// olderCRD is the CRD of TestClients in a group of its own, without a default for the status.
func olderCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := newestCRD(t)
	crd.Spec.Group = "older.cauri.dev"
	crd.Name = crd.Spec.Names.Plural + "." + crd.Spec.Group
	crd.Spec.Names.ShortNames, crd.Spec.Names.Categories = nil, nil
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	state := schema.Properties["status"]
	if state.Default == nil || !strings.Contains(string(state.Default.Raw), "-1") {
		t.Fatalf("the default of the status is %v", state.Default)
	}
	state.Default = nil
	schema.Properties["status"] = state
	return crd
}
