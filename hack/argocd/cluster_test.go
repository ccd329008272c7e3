package argocd

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	_ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil" // whose module has the CRDs
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/gateway-api/pkg/consts" // whose module has the CRDs
)

const root = "../.."

// cluster is an API server with the kinds of others, and Cauri's as the chart has them.
type cluster struct {
	serverSide bool
	config     *rest.Config
	kubectl    *kube.KubectlCmd
	operations kube.ResourceOperations
	dryRuns    diff.ServerSideDryRunner
	parser     *managedfields.GvkParser
}

func newCluster(t *testing.T, serverSide bool) *cluster {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	environment := &envtest.Environment{
		ErrorIfCRDPathMissing: true,
		CRDDirectoryPaths: []string{
			"testdata/cloudnativepg.yaml",
			filepath.Join(moduleOf(t, "sigs.k8s.io/gateway-api"), "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"),
			filepath.Join(moduleOf(t, "github.com/prometheus-operator/prometheus-operator"), "example/prometheus-operator-crd"),
		},
	}
	config, err := environment.Start()
	t.Cleanup(func() { _ = environment.Stop() })
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 1000, 1000
	c := &cluster{serverSide: serverSide, config: config, kubectl: &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}}
	c.operate(t)
	for _, object := range append(namespaces(t), kustomize(t, "config/crd")...) {
		c.sync(t, object)
		c.compare(t, object)
	}
	c.operate(t) // it knows the kinds now
	return c
}

func (c *cluster) operate(t *testing.T) {
	t.Helper()
	var err error
	if _, c.parser, err = c.kubectl.LoadOpenAPISchema(c.config); err != nil {
		t.Fatal(err)
	}
	operations, done, err := c.kubectl.ManageResources(c.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	dryRuns, done, err := c.kubectl.ManageServerSideDiffDryRuns(c.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	c.operations, c.dryRuns = operations, diff.NewK8sServerSideDryRunner(dryRuns)
}

func namespaces(t *testing.T) (all []*unstructured.Unstructured) {
	for _, name := range []string{"cauri-system", "team-a", "team-b"} {
		all = append(all, parse(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}")...)
	}
	return all
}

// everything is what there is to apply, by where it is from: the chart by each file of values, and what kustomize makes.
func everything(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	all := map[string][]*unstructured.Unstructured{}
	for _, pattern := range []string{"test/chart/testdata/values/*.yaml", "charts/cauri/values-ci.yaml", "examples/values/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("there are no files %s (%v)", pattern, err)
		}
		for _, file := range files {
			rendered := run(t, root+"/bin/helm", "template", "cauri", root+"/charts/cauri", "--namespace=cauri-system", "--values="+file)
			all[strings.TrimPrefix(file, root+"/")] = slices.DeleteFunc(parse(t, rendered), func(object *unstructured.Unstructured) bool {
				return object.GetAnnotations()["helm.sh/hook"] == "test" // which Argo CD leaves out
			})
		}
	}
	for _, folder := range []string{
		"config/default", "config/namespaced/example", "config/monitoring", "config/samples", "config/samples/ci", "config/samples/stories", "config/samples/platform/team-shop",
	} {
		all[folder] = kustomize(t, folder)
	}
	for _, policy := range []string{"require-ttl.yaml", "webhook-hosts.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, "config/gitops/policies", policy))
		if err != nil {
			t.Fatal(err)
		}
		all[policy] = parse(t, string(text))
	}
	return all
}

func kustomize(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	objects := parse(t, run(t, filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "kustomize", filepath.Join(root, folder)))
	for _, object := range objects {
		if object.GroupVersionKind().Group == "cauri.dev" && object.GetNamespace() == "" {
			object.SetNamespace("team-a")
		}
	}
	return objects
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", program, args, err)
	}
	return string(out)
}

// moduleOf is the folder of a module that this one requires.
func moduleOf(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSpace(run(t, "go", "list", "-m", "-f={{.Dir}}", path))
}

func parse(t *testing.T, text string) (all []*unstructured.Unstructured) {
	t.Helper()
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if len(object.Object) > 0 {
			all = append(all, object)
		}
	}
}
