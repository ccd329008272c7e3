package chart

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// objectsIn are the objects of the files of a pattern.
func objectsIn(t *testing.T, pattern string) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no %s: %v", pattern, err)
	}
	var found []*unstructured.Unstructured
	for _, file := range files {
		found = append(found, parse(t, read(t, file))...)
	}
	return found
}

func crds(t *testing.T, args ...string) []*unstructured.Unstructured {
	t.Helper()
	return slices.DeleteFunc(
		objects(t, append([]string{"--set=crds.enabled=true"}, args...)...),
		func(object *unstructured.Unstructured) bool {
			return object.GetKind() != "CustomResourceDefinition"
		},
	)
}

// What outlives its release says so to Helm and to Argo CD.
const keep, keepArgo = "helm.sh/resource-policy", "argocd.argoproj.io/sync-options"

// The CRDs are those of config/crd, with the chart's labels, and stay when the release goes.
func TestCRDs(t *testing.T) {
	t.Parallel()
	want := objectsIn(t, "config/crd/cauri.dev_*.yaml")
	got := crds(t)
	for _, crd := range got {
		annotations := crd.GetAnnotations()
		if annotations[keep] != "keep" || annotations[keepArgo] != "Prune=false,Delete=false" ||
			crd.GetLabels()["app.kubernetes.io/name"] != "cauri" {
			t.Errorf("%s: annotations %v, labels %v", crd.GetName(), annotations, crd.GetLabels())
		}
		delete(annotations, keep)
		delete(annotations, keepArgo)
		crd.SetAnnotations(annotations)
		crd.SetLabels(nil)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-config/crd +chart):\n%s", diff)
	}
	for _, crd := range crds(t, "--set=crds.keep=false") {
		if annotations := crd.GetAnnotations(); annotations[keep]+annotations[keepArgo] != "" {
			t.Errorf("%s is kept against the wish", crd.GetName())
		}
	}
	if left := crds(t, "--set=crds.enabled=false"); len(left) > 0 {
		t.Errorf("%d CRDs are rendered against the wish", len(left))
	}
}

// rulesOf are the rules of a role in a list of objects.
func rulesOf(t *testing.T, objects []*unstructured.Unstructured, kind, namespace, name string) []rbacv1.PolicyRule {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetNamespace() == namespace && object.GetName() == name {
			return as[rbacv1.ClusterRole](t, object).Rules
		}
	}
	t.Fatalf("there is no %s %s/%s", kind, namespace, name)
	return nil
}

func TestRightsAreThoseOfConfigRBAC(t *testing.T) {
	t.Parallel()
	want, got := objectsIn(t, "config/rbac/*role.yaml"), objects(t)
	for _, role := range []struct{ kind, namespace, name string }{
		{"ClusterRole", "", "cauri-controller"}, {"Role", namespace, "cauri-controller"}, {"ClusterRole", "", "cauri-view"}, {"ClusterRole", "", "cauri-edit"},
	} {
		if diff := cmp.Diff(
			rulesOf(t, want, role.kind, role.namespace, role.name),
			rulesOf(t, got, role.kind, role.namespace, role.name),
		); diff != "" {
			t.Errorf("%s %s (-config/rbac +chart):\n%s", role.kind, role.name, diff)
		}
	}
	for _, name := range []string{"cauri-view", "cauri-edit"} {
		labels := func(objects []*unstructured.Unstructured) map[string]string {
			found := map[string]string{}
			for _, object := range objects {
				for label, value := range object.GetLabels() {
					if object.GetName() == name && strings.HasPrefix(label, "rbac.") {
						found[label] = value
					}
				}
			}
			return found
		}
		if diff := cmp.Diff(labels(want), labels(got)); diff != "" {
			t.Errorf("%s is added to other roles:\n%s", name, diff)
		}
	}
}

// With watchNamespaces the controller has rights in these, and in the whole cluster only those of config/namespaced/component.
func TestClusterRightsWithWatchedNamespaces(t *testing.T) {
	t.Parallel()
	got := objects(t, "--set=watchNamespaces={team-a,team-b}", "--set=rbac.aggregate=false")
	byResource := cmpopts.SortSlices(func(a, b rbacv1.PolicyRule) bool { return a.Resources[0] < b.Resources[0] })
	if diff := cmp.Diff(
		rulesOf(t, objectsIn(t, "config/namespaced/component/cluster_role.yaml"), "ClusterRole", "", "cauri-controller"),
		rulesOf(t, got, "ClusterRole", "", "cauri-controller"), byResource,
	); diff != "" {
		t.Errorf("the ClusterRole (-config/namespaced +chart):\n%s", diff)
	}
	for _, binding := range all[rbacv1.ClusterRoleBinding](t, got, "ClusterRoleBinding") {
		if binding.RoleRef.Name != "cauri-controller" || binding.Subjects[0].Namespace != namespace {
			t.Errorf("%s binds %v to %v", binding.Name, binding.RoleRef, binding.Subjects)
		}
	}
}

// Two releases have nothing by the same name: neither of two names in one namespace, nor of one name in two namespaces.
func TestTwoReleasesShareNothing(t *testing.T) {
	t.Parallel()
	names := func(release, in string) map[string]bool {
		rendered, err := helm(t, "template", release, chart, "--namespace="+in, "--set=crds.enabled=false", "--set=watchNamespaces={team-a}")
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		for _, object := range parse(t, rendered) {
			if object.GetAnnotations()["helm.sh/hook"] == "test" {
				continue // in a watched namespace, which two installations do not share
			}
			all[nameOf(object)] = true
			if object.GetKind() != "Role" {
				continue
			}
			for _, rule := range as[rbacv1.Role](t, object).Rules {
				for _, name := range rule.ResourceNames {
					all[object.GetNamespace()+"'s "+rule.Resources[0]+" "+name] = true
				}
			}
		}
		return all
	}
	first := names("cauri", namespace)
	for _, other := range [][2]string{{"second", namespace}, {"cauri", "other"}} {
		for name := range names(other[0], other[1]) {
			if first[name] {
				t.Errorf("the release %v has %s too", other, name)
			}
		}
	}
}

// With rbac.namespacedOnly the controller has rights in the watched namespaces, and none in the whole cluster.
func TestRightsInNamespacesOnly(t *testing.T) {
	t.Parallel()
	want := rulesOf(t, objectsIn(t, "config/rbac/role.yaml"), "ClusterRole", "", "cauri-controller")
	got := objects(t, "--set=watchNamespaces={team-a,team-b}", "--set=rbac.namespacedOnly=true", "--set=rbac.aggregate=false")
	for _, team := range []string{"team-a", "team-b"} {
		if diff := cmp.Diff(want, rulesOf(t, got, "Role", team, "cauri-controller-sandboxes")); diff != "" {
			t.Errorf("%s (-config/rbac +chart):\n%s", team, diff)
		}
	}
	for _, object := range got {
		if strings.HasPrefix(object.GetKind(), "ClusterRole") {
			t.Errorf("%s is rendered", nameOf(object))
		}
	}
	bound := map[string]bool{}
	for _, binding := range all[rbacv1.RoleBinding](t, got, "RoleBinding") {
		if binding.Subjects[0].Name == "cauri-controller" && binding.Subjects[0].Namespace == namespace {
			bound[binding.Namespace+"/"+binding.RoleRef.Name] = true
		}
	}
	for _, role := range []string{"team-a/cauri-controller-sandboxes", "team-b/cauri-controller-sandboxes", namespace + "/cauri-controller"} {
		if !bound[role] {
			t.Errorf("the controller does not have the role %s", role)
		}
	}
}

// Whoever makes the Secrets may read those, and no other.
func TestBootstrapReadsItsOwnSecretsOnly(t *testing.T) {
	t.Parallel()
	for scenario, want := range map[string][]string{
		"defaults":      {"cauri-database", "cauri-encryption", "cauri-pin-key", "cauri-credential-key"},
		"cloudnativepg": {"cauri-database", "cauri-encryption", "cauri-pin-key", "cauri-credential-key"},
	} {
		var read []string
		for _, rule := range rulesOf(t, objects(t, scenarios(t)[scenario]), "Role", namespace, "cauri-bootstrap") {
			if !slices.Equal(rule.Resources, []string{"secrets"}) || len(rule.Verbs) != 1 {
				t.Errorf("%s: %v", scenario, rule)
			}
			switch rule.Verbs[0] {
			case "get":
				read = append(read, rule.ResourceNames...)
			case "create":
			default:
				t.Errorf("%s: %v", scenario, rule)
			}
		}
		if diff := cmp.Diff(want, read); diff != "" {
			t.Errorf("%s:\n%s", scenario, diff)
		}
	}
	for _, object := range objects(t, scenarios(t)["platform"]) {
		if object.GetLabels()["app.kubernetes.io/component"] == "bootstrap" {
			t.Errorf("%s is rendered, although all Secrets are there", nameOf(object))
		}
	}
}

func TestMonitoringIsThatOfConfigMonitoring(t *testing.T) {
	t.Parallel()
	got := objects(t, "--set=metrics.prometheusRule.enabled=true,metrics.dashboard.enabled=true,metrics.serviceMonitor.enabled=true")
	var rules map[string]any
	if err := yaml.Unmarshal([]byte(read(t, root+"/config/monitoring/rules.yaml")), &rules); err != nil {
		t.Fatal(err)
	}
	var found int
	for _, object := range got {
		switch object.GetKind() {
		case "PrometheusRule":
			found++
			own := fmt.Sprintf(`namespace=%q,pod=~"cauri-(api|worker|controller)-.*"`, namespace) // of this release alone
			spec, err := json.Marshal(object.Object["spec"])
			if err != nil {
				t.Fatal(err)
			}
			quoted := strings.ReplaceAll(own, `"`, `\"`)
			all := strings.NewReplacer("{"+quoted+"}", "", quoted+",", "").Replace(string(spec))
			var got map[string]any
			if err := json.Unmarshal([]byte(all), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rules, got); diff != "" {
				t.Errorf("(-config/monitoring +chart):\n%s", diff)
			}
		case "ConfigMap":
			found++
			dashboard := as[corev1.ConfigMap](t, object).Data["cauri.json"]
			if diff := cmp.Diff(strings.TrimSpace(read(t, root+"/config/monitoring/dashboard.json")), dashboard); diff != "" {
				t.Errorf("(-config/monitoring +chart):\n%s", diff)
			}
		case "ServiceMonitor":
			found++
		}
	}
	if found != 3 {
		t.Errorf("%d of three objects are rendered", found)
	}
}

// What scrapes the pods, by the chart or by config/monitoring, finds all three processes by a port of theirs.
func TestMetricsOfAllProcessesAreScraped(t *testing.T) {
	t.Parallel()
	var monitor struct {
		Spec struct {
			Selector            struct{ MatchLabels map[string]string }
			PodMetricsEndpoints []struct{ Port string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, root+"/config/monitoring/podmonitor.yaml")), &monitor); err != nil {
		t.Fatal(err)
	}
	rendered := objects(t, "--set=metrics.serviceMonitor.enabled=true")
	var service *corev1.Service
	for _, s := range all[corev1.Service](t, rendered, "Service") {
		if s.Name == "cauri-metrics" {
			service = s
		}
	}
	if service == nil {
		t.Fatal("there is no Service for the ServiceMonitor")
	}
	within := func(wanted map[string]string, pod podTemplate) bool {
		for label, value := range wanted {
			if pod.Labels[label] != value {
				return false
			}
		}
		return true
	}
	scraped := map[string]int{}
	for _, pod := range pods(t, rendered) {
		if within(monitor.Spec.Selector.MatchLabels, pod) && pod.ports()[monitor.Spec.PodMetricsEndpoints[0].Port] != 0 {
			scraped[pod.component()]++
		}
		if within(service.Spec.Selector, pod) && pod.ports()[service.Spec.Ports[0].TargetPort.StrVal] != 0 {
			scraped[pod.component()]++
		}
	}
	if diff := cmp.Diff(map[string]int{"api": 2, "worker": 2, "controller": 2}, scraped); diff != "" {
		t.Error(diff)
	}
}

// kubectl is the one beside the API server of the tests, or that of the machine.
func kubectl(t *testing.T) string {
	t.Helper()
	if beside := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"); os.Getenv("KUBEBUILDER_ASSETS") != "" {
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Fatal("there is no kubectl: run make test")
	}
	return path
}

// config/default is the same without Helm: object for object, but for what says that Helm manages it.
func TestKustomizeGivesTheSame(t *testing.T) {
	t.Parallel()
	built, err := exec.CommandContext(t.Context(), kubectl(t), "kustomize", root+"/config/default").Output()
	if err != nil {
		t.Fatal(err)
	}
	byName := func(objects []*unstructured.Unstructured) map[string]any {
		named := map[string]any{}
		for _, object := range objects {
			if object.GetAnnotations()["helm.sh/hook"] == "test" {
				continue
			}
			object.SetLabels(nil) // of the objects themselves
			annotations := object.GetAnnotations()
			delete(annotations, keep)
			delete(annotations, keepArgo)
			object.SetAnnotations(annotations)
			named[nameOf(object)] = object.Object
		}
		return named
	}
	want := byName(objects(t, "--set=crds.enabled=true"))
	got := byName(parse(t, string(built)))
	const system = "Namespace /" + namespace // which Helm makes by a flag
	if got[system] == nil {
		t.Errorf("%s is missing", system)
	}
	delete(got, system)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run `make generate` (-chart +config/default):\n%s", diff)
	}
}
