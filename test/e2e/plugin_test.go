package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// plugin makes the program a plugin of kubectl, as krew does, and returns how to run it.
func plugin(t *testing.T, s *system) func(code int, args ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"kubectl-cauri", "kubectl_complete-cauri"} {
		if err := os.Symlink(s.root+"/bin/cauri", filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return func(code int, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), s.kubectl, args...)
		command.Env = append(outsideless(), "KUBECONFIG="+s.dir+"/kubeconfig", "PATH="+folder+":"+os.Getenv("PATH"))
		out, err := command.CombinedOutput()
		if got := command.ProcessState.ExitCode(); got != code {
			t.Fatalf("kubectl %s: exit code %d, want %d: %v\n%s", strings.Join(args, " "), got, code, err, out)
		}
		return string(out)
	}
}

const pluginNamespace = "team-plugin"

const pluginSandbox = `
apiVersion: cauri.dev/v1alpha1
kind: SandboxEnvironment
metadata: {name: till, namespace: ` + pluginNamespace + `}
spec:
  environments: [{operator: mtn, country: RW}]
  openingFloat: [{currency: RWF, amount: 10000}]
  webhook: {url: "http://127.0.0.1:9/hooks"}
  testNumbers: Standard
`

// pluginOfKubectl uses a sandbox by `kubectl cauri` alone.
func pluginOfKubectl(t *testing.T, s *system) {
	s.kube("create", "namespace", pluginNamespace)
	s.kubeWith(pluginSandbox, "apply", "-f", "-")
	s.kube("wait", "-n", pluginNamespace, "--for=condition=Ready", kubectlTimeout, "sbx/till")
	run := plugin(t, s)
	cauri := func(code int, args ...string) string {
		t.Helper()
		return run(code, append([]string{"cauri"}, args...)...)
	}
	has := func(text string, wanted ...string) {
		t.Helper()
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %q in\n%s", want, text)
			}
		}
	}
	at := []string{"-n", pluginNamespace}
	in := func(args ...string) []string { return append(args, at...) }

	has(cauri(0, in("status", "till")...), pluginNamespace+"/till", "CredentialsReady", "RWF")
	has(cauri(0, in("status")...), pluginNamespace+"/till", "CredentialsReady")
	has(cauri(0, in("list")...), "till", "Ready", pluginNamespace+"/till")
	has(cauri(3, in("status", "tell")...), `no sandbox "tell"; it has till`)
	var paid struct{ ID, Status string }
	if err := json.Unmarshal([]byte(cauri(0, in("pay", "till", "--scenario=success", "-o", "json")...)), &paid); err != nil {
		t.Fatal(err)
	}
	has(cauri(0, in("refund", "till", paid.ID, "--amount=10")...), "refund", "SUCCESS")
	has(cauri(5, in("pay", "till", "--scenario=blocked")...), "ended ACCOUNT_BLOCKED")
	has(cauri(0, in("events", "till")...), "payment.refunded")
	has(cauri(0, in("check", "till")...), "right to patch sandboxenvironments", "is SUCCESS")
	has(cauri(0, in("suspend", "till")...), "is suspended")
	has(cauri(0, in("status", "till")...), "the sandbox is suspended")
	has(cauri(0, in("resume", "till")...), "is resumed")
	has(cauri(0, in("rotate", "till", "secret")...), "has a new signing secret")
	has(cauri(0, in("reset", "till")...), "is empty")
	has(cauri(0, in("status", "till")...), "There are no transactions yet")
	eventually(t, func() string { // a completion is empty rather than late
		if names := run(0, "__complete", "cauri", "status", "-n", pluginNamespace, "ti"); !strings.Contains(names, "till") {
			return "the sandbox is not completed: " + names
		}
		return ""
	})
	for _, secret := range []string{"api-key", "webhook-signing-secret"} {
		if strings.Contains(cauri(0, in("status", "till", "-o", "yaml")...), s.secret(pluginNamespace, "till-credentials", secret)) {
			t.Errorf("the status prints the %s", secret)
		}
	}
}
