package v1alpha1_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/util/compatibility"
	basecompatibility "k8s.io/component-base/compatibility"
	"sigs.k8s.io/yaml"
)

// An API server accepts in a new rule only what the release before it understands, so that it can be rolled back: Kubernetes 1.30, the
// oldest that the chart allows, compiles with the libraries of 1.29.
var oldestCEL = version.MajorMinor(1, 29)

// The API server of Kubernetes 1.30 accepts the CRDs: their whole validation runs here, with the libraries that its rules may use.
func TestOldestKubernetesAcceptsTheCRDs(t *testing.T) {
	compileWith(t, oldestCEL)
	for _, crd := range crds(t) {
		if refused := validation.ValidateCustomResourceDefinition(t.Context(), crd); len(refused) > 0 {
			t.Errorf("%s: %v", crd.Name, refused.ToAggregate())
		}
	}
}

// The check sees a function that Kubernetes 1.30 does not have.
func TestOldestKubernetesRefusesNewerFunctions(t *testing.T) {
	compileWith(t, oldestCEL)
	for rule, unknown := range map[string]string{
		"!format.dns1123Subdomain().validate(self.metadata.name).hasValue()": "undeclared reference to 'format'",
		"isIP(self.metadata.name)":      "undeclared reference to 'isIP'",
		"isSemver(self.metadata.name)":  "undeclared reference to 'isSemver'",
		"size(self.metadata.name) <= 5": "",
	} {
		crd := crds(t)[0]
		crd.Spec.Validation.OpenAPIV3Schema.XValidations = []apiextensions.ValidationRule{{Rule: rule, Message: "refused"}}
		err := validation.ValidateCustomResourceDefinition(t.Context(), crd).ToAggregate()
		if (unknown == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), unknown) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// compileWith compiles the rules of the test with the libraries of a version.
func compileWith(t *testing.T, libraries *version.Version) {
	t.Helper()
	effective, _ := compatibility.DefaultComponentGlobalsRegistry.ComponentGlobalsOrRegister(basecompatibility.DefaultKubeComponent, nil, nil)
	before := effective.MinCompatibilityVersion()
	effective.SetMinCompatibilityVersion(libraries)
	t.Cleanup(func() { effective.SetMinCompatibilityVersion(before) })
	if got := environment.DefaultCompatibilityVersion(); !got.EqualTo(libraries) {
		t.Fatalf("rules are compiled with the libraries of %s", got)
	}
}

// crds are the CRDs as an API server validates them.
func crds(t *testing.T) []*apiextensions.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "crd", "cauri.dev_*.yaml"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files with CRDs (%v)", len(files), err)
	}
	found := make([]*apiextensions.CustomResourceDefinition, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			t.Fatal(err)
		}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(&crd)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
		found[i] = &apiextensions.CustomResourceDefinition{}
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(
			&crd, found[i], nil,
		); err != nil {
			t.Fatal(err)
		}
	}
	return found
}
