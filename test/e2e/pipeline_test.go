package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/test/runner"
)

// pipelineOfTheDocuments runs the steps of docs/ci/shared-cluster.yaml, as GitHub does: each in a shell of its own, with the
// variables that steps before it have left.
func pipelineOfTheDocuments(t *testing.T, s *system) {
	text, err := os.ReadFile(filepath.Join(s.root, "docs/ci/shared-cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var pipeline struct {
		Jobs map[string]struct {
			Steps []struct{ Name, If, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &pipeline); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := os.ReadFile(s.dir + "/kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder+"/sandbox", os.DirFS(filepath.Join(s.root, "config/samples/ci"))); err != nil {
		t.Fatal(err)
	}
	const namespace = "payments-42-1"
	left := folder + "/left"
	env := []string{
		"PATH=" + filepath.Dir(s.kubectl) + ":" + os.Getenv("PATH"), "HOME=" + folder, "RUNNER_TEMP=" + folder, "GITHUB_ENV=" + left,
		"KUBECONFIG_TEXT=" + string(kubeconfig), "NAMESPACE=" + namespace,
	}
	ran := 0
	for _, step := range pipeline.Jobs["payments"].Steps {
		if step.Run == "" || step.If == "failure()" {
			continue
		}
		command := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", step.Run)
		command.Dir, command.Env = folder, env
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step.Name, err, out)
		}
		ran++
		if added, err := os.ReadFile(left); err == nil {
			env = append(env, strings.Split(strings.TrimSpace(string(added)), "\n")...)
		}
	}
	if ran < 5 {
		t.Fatalf("only %d steps were run", ran)
	}
	eventually(t, func() string {
		if out, err := s.try("", "get", "namespace", namespace); err == nil || !strings.Contains(out, "NotFound") {
			return fmt.Sprintf("the namespace is still there: %s", out)
		}
		return ""
	})
	if n := s.count("select count(*) from organizations where namespace = $1", namespace); n != 0 {
		t.Errorf("%d sandboxes of the run are left in the database", n)
	}
}

// actionsInACluster has the repository's actions make a sandbox and remove it again, as a job of GitHub does.
func actionsInACluster(t *testing.T, s *system) {
	runner.NeedJQ(t)
	kubeconfig, err := os.ReadFile(s.dir + "/kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	job, err := runner.New(folder, "PATH="+filepath.Dir(s.kubectl)+":"+os.Getenv("PATH"), "HOME="+folder)
	if err != nil {
		t.Fatal(err)
	}
	use := func(action string, inputs map[string]string) map[string]string {
		outputs, printed, err := job.Use(t.Context(), filepath.Join(s.root, ".github/actions", action), inputs)
		if err != nil || strings.Contains(printed, "::warning") {
			t.Fatalf("%s: %v\n%s", action, err, printed)
		}
		return outputs
	}
	outputs := use("setup-cauri", map[string]string{
		"mode": "cluster", "kubeconfig": string(kubeconfig), "file": filepath.Join(s.root, "config/samples/ci"), "ttl": "25m", "program": "/bin/true",
	})
	namespace := s.kube("get", "sandboxenvironments", "--all-namespaces", "-o", `jsonpath={.items[?(@.spec.ttl=="25m")].metadata.namespace}`)
	if !strings.HasPrefix(namespace, "cauri-42-1-") {
		t.Fatalf("the sandbox is in the namespace %q", namespace)
	}
	m := merchant{t: t, baseURL: outputs["uri"], key: outputs["api-key"]}
	p := m.pay("run-1", "+250788000001", object{"scenario": "success"})
	if p["status"] != "SUCCESS" {
		t.Errorf("the payment is %v", p)
	}
	s.kubeWith(`{apiVersion: cauri.dev/v1alpha1, kind: Expectation, metadata: {name: paid-once}, spec: {sandboxRef: {name: run},
		expect: [{transactions: {where: {reference: run-1}, count: 1}}]}}`, "apply", "--namespace", namespace, "--filename", "-")
	s.kube("wait", "--namespace", namespace, "--for=condition=Met", kubectlTimeout, "expectation/paid-once")
	use("finish-cauri", nil)
	for _, want := range []string{
		"| met | `paid-once` | `transactions where reference=run-1: 1` | `1 transaction` |\n",
		"| `payment.completed` | SUCCESS | recorded | 1 |\n", "testclient",
	} {
		if !strings.Contains(job.Summary(), want) {
			t.Errorf("the summary has no %s\n%s", want, job.Summary())
		}
	}
	eventually(t, func() string {
		if out, err := s.try("", "get", "namespace", namespace); err == nil || !strings.Contains(out, "NotFound") {
			return fmt.Sprintf("the namespace is still there: %s", out)
		}
		return ""
	})
}
