// Package argocd compares what was applied with what an API server gives back, by the differ of Argo CD, in a module of its own:
// nothing of it reaches the product.
package argocd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

const manager = "argocd-controller"

// No difference stays after a sync, whichever way Argo CD applies and compares.
func TestNothingStaysOutOfSync(t *testing.T) {
	for way, serverSide := range map[string]bool{"applied by the client": false, "applied by the server": true} {
		t.Run(way, func(t *testing.T) {
			c := newCluster(t, serverSide)
			for name, objects := range everything(t) {
				t.Run(name, func(t *testing.T) {
					for _, object := range objects {
						c.sync(t, object)
					}
					for _, object := range objects {
						c.compare(t, object)
					}
					for _, object := range slices.Backward(objects) {
						c.remove(t, object)
					}
				})
			}
		})
	}
}

// A field that the API server completes within a value that is set as a whole is a difference that stays: the differ finds it.
func TestDifferFindsADifference(t *testing.T) {
	c := newCluster(t, true)
	object := parse(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: memory, namespace: default}
spec:
  selector: {matchLabels: {app: memory}}
  template:
    metadata: {labels: {app: memory}}
    spec:
      containers:
      - {name: memory, image: memory, env: [{name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory}}}]}
`)[0]
	c.sync(t, object)
	if result := c.differs(t, object, c.live(t, object), false); !result.Modified {
		t.Error("the missing divisor is no difference: this test proves nothing")
	}
}

// sync applies an object as Argo CD does, and changes what controllers change.
func (c *cluster) sync(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["argocd.argoproj.io/tracking-id"] = "app:" + object.GetName()
	object.SetAnnotations(annotations)
	apply := func() error {
		_, err := c.operations.ApplyResource(t.Context(), object, cmdutil.DryRunNone, false, true, c.serverSide, manager)
		return err
	}
	if err := apply(); err != nil {
		t.Fatalf("%s: %v", nameOf(object), err)
	}
	replicas, hasReplicas, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	switch {
	case object.GroupVersionKind().Group == "cauri.dev": // the controller
		c.patch(t, object, `{"metadata": {"finalizers": ["cauri.dev/sandbox"]}}`)
		c.patch(t, object, `{"status": {"observedGeneration": 1}}`, "status")
	case object.GetKind() == "Deployment" && !hasReplicas: // the autoscaler
		c.patch(t, object, `{"spec": {"replicas": 7}}`)
	case object.GetKind() == "Deployment" && replicas == 0:
		t.Errorf("%s has no replicas", nameOf(object))
	}
	if err := apply(); err != nil { // as the next sync does
		t.Errorf("%s, again: %v", nameOf(object), err)
	}
}

func (c *cluster) compare(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	for _, byServer := range []bool{false, true} {
		result := c.differs(t, object, c.live(t, object), byServer)
		if !result.Modified {
			continue
		}
		var predicted, live any
		if err := json.Unmarshal(result.PredictedLive, &predicted); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(result.NormalizedLive, &live); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s, compared by the server: %v (-live +predicted)\n%s", nameOf(object), byServer, cmp.Diff(live, predicted))
	}
}

// differs compares by the three-way diff, or the structured merge if the server applied, or a dry run of the server.
func (c *cluster) differs(t *testing.T, object, live *unstructured.Unstructured, byServer bool) *diff.DiffResult {
	t.Helper()
	result, err := diff.Diff(object, live, diff.WithLogr(logr.Discard()), diff.WithManager(manager), diff.WithGVKParser(c.parser),
		diff.WithStructuredMergeDiff(c.serverSide), diff.WithServerSideDiff(byServer), diff.WithServerSideDryRunner(c.dryRuns))
	if err != nil {
		t.Fatalf("%s: %v", nameOf(object), err)
	}
	return result
}

func (c *cluster) live(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live, err := c.kubectl.GetResource(t.Context(), c.config, object.GroupVersionKind(), object.GetName(), object.GetNamespace())
	if err != nil {
		t.Fatalf("%s: %v", nameOf(object), err)
	}
	return live
}

func (c *cluster) patch(t *testing.T, object *unstructured.Unstructured, patch string, subresources ...string) {
	t.Helper()
	_, err := c.kubectl.PatchResource(t.Context(), c.config, object.GroupVersionKind(), object.GetName(), object.GetNamespace(),
		types.MergePatchType, []byte(patch), subresources...)
	if err != nil {
		t.Fatalf("%s: %v", nameOf(object), err)
	}
}

func (c *cluster) remove(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	if slices.Contains([]string{"CustomResourceDefinition", "Namespace"}, object.GetKind()) {
		return
	}
	if object.GroupVersionKind().Group == "cauri.dev" {
		c.patch(t, object, `{"metadata": {"finalizers": null}}`)
	}
	now := metav1.DeletePropagationBackground
	err := c.kubectl.DeleteResource(t.Context(), c.config, object.GroupVersionKind(), object.GetName(), object.GetNamespace(),
		metav1.DeleteOptions{PropagationPolicy: &now})
	if err != nil {
		t.Fatalf("%s: %v", nameOf(object), err)
	}
}

func nameOf(object *unstructured.Unstructured) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName()))
}
