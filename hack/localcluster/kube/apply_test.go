package kube

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestReadObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a-sandbox.yaml":        "apiVersion: cauri.dev/v1alpha1\nkind: SandboxEnvironment\nmetadata: {name: checkout}\n---\n# nothing\n---\n",
		"b/client.json":         `{"apiVersion": "cauri.dev/v1alpha1", "kind": "TestClient", "metadata": {"name": "alice"}}`,
		"c-secret.yml":          "apiVersion: v1\nkind: Secret\nmetadata: {name: operator}\n",
		"d-namespace.yaml":      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n",
		"kustomization.yaml":    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
		"README.md":             "# not an object\n",
		"ci/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [run.yaml]\n",
		"ci/run.yaml":           "apiVersion: cauri.dev/v1alpha1\nkind: SandboxEnvironment\nmetadata: {name: run}\n",
		"ci/names.yaml":         "nameReference: []\n",
		"b/definition.yaml":     "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: testclients.cauri.dev}\n",
		"b/second-client.yaml":  "apiVersion: cauri.dev/v1alpha1\nkind: TestClient\nmetadata: {name: bob}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := ReadObjects(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range objects {
		names = append(names, Describe(object))
	}
	want := []string{
		"Namespace team", "CustomResourceDefinition testclients.cauri.dev", "Secret operator",
		"SandboxEnvironment checkout", "TestClient alice", "TestClient bob",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestReadObjectsNamesTheFileThatIsWrong(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(file, []byte("kind: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ReadObjects(file)
	testkit.WantAdvice(t, err, file)
}
