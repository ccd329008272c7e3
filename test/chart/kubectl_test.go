package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// kubectl apply of unchanged samples says of a SandboxEnvironment "configured", as docs/gitops.md has it, and changes nothing. `kubectl
// diff` says so.
func TestKubectlAppliesAgainWithoutAChange(t *testing.T) {
	t.Parallel()
	if _, err := cluster(); err != nil {
		t.Fatal(err)
	}
	user, err := environment.ControlPlane.AddUser(envtest.User{Name: "kubectl", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), kubectl(t), append([]string{"--kubeconfig=" + file}, args...)...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	const samples = root + "/config/samples/platform/team-shop"
	generations := func() string {
		return run("get", "sandboxenvironments,testclients", "--namespace=team-shop", "-o=jsonpath={range .items[*]}{.metadata.name} {.metadata.generation}\n{end}")
	}
	run("apply", "-k", samples)
	before := generations()
	said := run("apply", "-k", samples)
	if after := generations(); after != before || before == "" {
		t.Errorf("the generations were\n%sand are\n%s", before, after)
	}
	for pattern, why := range map[string]string{
		`sandboxenvironment\S+ configured`: "docs/gitops.md explains a word that kubectl does not say",
		`testclient\S+ unchanged`:          "the same is said of a TestClient, which docs/gitops.md does not explain",
	} {
		if !regexp.MustCompile(pattern).MatchString(said) {
			t.Errorf("%s:\n%s", why, said)
		}
	}
	run("diff", "-k", samples) // ends with 0
}
