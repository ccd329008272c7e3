package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const flux = "config/gitops/flux/"

// The chart accepts the values of the example for Flux, and its release comes from where the docs install the chart from.
func TestFluxInstallsTheChart(t *testing.T) {
	t.Parallel()
	var release *unstructured.Unstructured
	for _, object := range objectsIn(t, flux+"release.yaml") {
		if object.GetKind() == "HelmRelease" {
			release = object
		}
	}
	if len(objects(t, "--values="+valuesOf(t, release, "spec", "values"))) == 0 {
		t.Error("nothing is installed")
	}
}

// valuesOf writes the values of the chart within an object into a file.
func valuesOf(t *testing.T, object *unstructured.Unstructured, fields ...string) (file string) {
	t.Helper()
	values, found, err := unstructured.NestedMap(object.Object, fields...)
	if !found || err != nil {
		t.Fatalf("%s has no values (%v)", nameOf(object), err)
	}
	text, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// What Flux waits for is in the folder that it applies.
func TestFluxWaitsForWhatItApplies(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), kubectl(t), "kustomize", "../../config/samples/platform/team-shop").Output()
	if err != nil {
		t.Fatal(err)
	}
	var applied, waited []string
	for _, object := range parse(t, string(out)) {
		if object.GetKind() != "Namespace" {
			applied = append(applied, object.GetAPIVersion()+" "+object.GetKind()+" "+object.GetNamespace()+" "+object.GetName())
		}
	}
	for _, kustomization := range objectsIn(t, flux+"kustomizations.yaml") {
		checks, _, err := unstructured.NestedSlice(kustomization.Object, "spec", "healthChecks")
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range checks {
			var one struct{ APIVersion, Kind, Namespace, Name string }
			text, err := yaml.Marshal(check)
			if err == nil {
				err = yaml.UnmarshalStrict(text, &one)
			}
			if err != nil {
				t.Fatal(err)
			}
			waited = append(waited, one.APIVersion+" "+one.Kind+" "+one.Namespace+" "+one.Name)
		}
	}
	slices.Sort(applied)
	slices.Sort(waited)
	if diff := cmp.Diff(applied, waited); diff != "" {
		t.Errorf("applied and waited for: %s", diff)
	}
}
