package chart

import (
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var converters sync.Map // of a version of a group

// converter knows the schemas of a version of a group, as the API server publishes them.
func converter(t *testing.T, version schema.GroupVersion) managedfields.TypeConverter {
	t.Helper()
	if known, found := converters.Load(version); found {
		return known.(managedfields.TypeConverter)
	}
	server, err := discovery.NewDiscoveryClientForConfig(environment.Config)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // it publishes a CRD's after a while
		document, err := openapi3.NewRoot(server.OpenAPIV3()).GVSpec(version)
		if err == nil {
			known, err := managedfields.NewTypeConverter(document.Components.Schemas, false)
			if err != nil {
				t.Fatal(err)
			}
			converters.Store(version, known)
			return known
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// addedToWholes is what the API server adds to lists and maps that are set as a whole ("atomic"). By the schema alone, an apply takes it away
// again: who predicts the result without asking the server, such as Argo CD, sees a difference that no sync removes. hack/argocd asks Argo
// CD's own differ, in more ways.
func addedToWholes(t *testing.T, k8s client.Client, applied *unstructured.Unstructured) string {
	t.Helper()
	live := applied.DeepCopy()
	if err := k8s.Create(t.Context(), live, client.DryRunAll); err != nil {
		return err.Error()
	}
	applied = applied.DeepCopy()
	for _, object := range []*unstructured.Unstructured{applied, live} { // nobody can change it, and Argo CD completes it itself
		unstructured.RemoveNestedField(object.Object, "spec", "volumeClaimTemplates")
	}
	typed := converter(t, applied.GroupVersionKind().GroupVersion())
	before, err := typed.ObjectToTyped(live)
	if err != nil {
		t.Fatalf("%s: %v", nameOf(applied), err)
	}
	change, err := typed.ObjectToTyped(applied)
	if err != nil {
		t.Fatalf("%s: %v", nameOf(applied), err)
	}
	after, err := before.Merge(change)
	if err != nil {
		t.Fatalf("%s: %v", nameOf(applied), err)
	}
	difference, err := before.Compare(after)
	if err != nil {
		t.Fatalf("%s: %v", nameOf(applied), err)
	}
	if difference.IsSame() {
		return ""
	}
	return difference.String()
}

// Nothing is added to a whole within Cauri's own kinds either, in any of the samples.
func TestNothingIsAddedToSamples(t *testing.T) {
	t.Parallel()
	k8s, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	const namespace = "samples"
	if err := k8s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, pattern := range []string{"config/samples/*.yaml", "config/samples/*/*.yaml", "config/samples/platform/base/*.yaml", "examples/*.yaml"} {
		for _, object := range objectsIn(t, pattern) {
			if object.GroupVersionKind().Group != "cauri.dev" {
				continue
			}
			kinds[object.GetKind()] = true
			object.SetNamespace(namespace)
			if added := addedToWholes(t, k8s, object); added != "" {
				t.Errorf("%s: %s", nameOf(object), added)
			}
		}
	}
	if len(kinds) != 3 {
		t.Errorf("the samples are of the kinds %v", kinds)
	}
}

// A field that the API server completes within a whole is found.
func TestWhatIsAddedToAWholeIsFound(t *testing.T) {
	t.Parallel()
	k8s, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	object := parse(t, `
apiVersion: v1
kind: Pod
metadata: {name: memory, namespace: default}
spec:
  containers:
  - {name: memory, image: memory, env: [{name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory}}}]}
`)[0]
	if addedToWholes(t, k8s, object) == "" {
		t.Error("the missing divisor is not found: this test proves nothing")
	}
}
