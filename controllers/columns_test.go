package controllers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// kubectl runs kubectl as a user does, in the test's namespace.
func (c *cluster) kubectl(args ...string) string {
	c.Helper()
	kubeconfig := filepath.Join(c.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, environment.KubeConfig, 0o600); err != nil {
		c.Fatal(err)
	}
	program := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	command := exec.CommandContext(c.Context(), program, append(args, "--kubeconfig="+kubeconfig, "--namespace="+c.namespace)...)
	command.Env = append(os.Environ(), "HOME="+c.TempDir())
	out, err := command.CombinedOutput()
	if err != nil {
		c.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// differs is what a run of kubectl get shows otherwise than the run before.
var differs = regexp.MustCompile(`(?m)\b[0-9]+s\b|org_[0-9A-Z]+|[-0-9]+T[0-9:]+Z|test-[a-z0-9]+|[ ]+$`)

// columns is the output of kubectl get with two blanks between columns, and with _ for what differs from run to run.
func columns(output string) string {
	output = differs.ReplaceAllStringFunc(output, func(found string) string {
		if strings.TrimSpace(found) == "" {
			return ""
		}
		return "_"
	})
	return regexp.MustCompile(`[ ]{2,}`).ReplaceAllString(output, "  ")
}

// The lines of a description are as full as the terminal allows: those of the Go source are shorter and longer.
func TestExplainFlows(t *testing.T) {
	c := newCluster(t)
	const width = 80
	for _, resource := range []string{"sandboxenvironment", "sandboxenvironment.spec", "sandboxenvironment.status", "testclient.spec"} {
		lines := strings.Split(c.kubectl("explain", resource), "\n")
		for i, line := range lines[1:] {
			indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
			first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			before := lines[i]
			follows := indent != "" && strings.HasPrefix(before, indent) && !strings.HasPrefix(before, indent+" ")
			if room := width - len(before) - 1 - len(first); follows && first != "" && !strings.Contains(before, "\t") && room >= len(indent) {
				t.Errorf("%s breaks the line before %q:\n%s\n%s", resource, first, before, line)
			}
		}
		if resource == "sandboxenvironment.spec" {
			t.Log("\n" + strings.Join(lines[:min(60, len(lines))], "\n"))
		}
	}
}

func TestColumns(t *testing.T) {
	c := newCluster(t)
	plain := c.newSandbox()
	suspended := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Name, s.Spec.Suspend, s.Spec.TTL = "suspended", true, "2h"
		s.Spec.Webhook = &v1alpha1.Webhook{URL: "http://shop/"}
	})
	third := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Name = "third" })
	for _, sandbox := range []*v1alpha1.SandboxEnvironment{plain, suspended, third} {
		c.create(sandbox)
	}
	if got, want := columns(c.kubectl("get", "sbx", "third")), "NAME  READY  STATUS  URL  WEBHOOK  PENDING  AGE\nthird  _\n"; got != want {
		t.Errorf("kubectl shows of a sandbox that no controller has seen:\n%s", cmp.Diff(want, got))
	}

	c.start(limits(2, 0))
	c.sandboxReady(plain)
	c.sandboxConditions(suspended, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady True Ready",
		"Ready True Suspended")
	c.sandboxOverLimit(third)
	for output, want := range map[string]string{
		"": `
NAME  READY  STATUS  URL  WEBHOOK  PENDING  AGE
checkout  True  Ready  http://cauri.example:8080/sandboxes/_/checkout  -  0  _
suspended  True  Suspended  http://cauri.example:8080/sandboxes/_/suspended  Unknown  0  _
third  False  LimitExceeded  http://cauri.example:8080/sandboxes/_/third  -  _
`,
		"wide": `
NAME  READY  STATUS  URL  WEBHOOK  PENDING  AGE  ENVIRONMENTS  CLOCK  ORG  EXPIRES  MESSAGE
checkout  True  Ready  http://cauri.example:8080/sandboxes/_/checkout  -  0  _  1/1  Real  _  ` +
			message(plain.Status.Conditions, "Ready") + `
suspended  True  Suspended  http://cauri.example:8080/sandboxes/_/suspended  Unknown  0  _  1/1  Real  _  _  ` +
			message(suspended.Status.Conditions, "Ready") + `
third  False  LimitExceeded  http://cauri.example:8080/sandboxes/_/third  -  _  ` + message(third.Status.Conditions, "Ready") + `
`,
	} {
		got := c.kubectl("get", "sbx", "--output="+output)
		t.Log("\n" + got)
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), columns(got)); diff != "" {
			t.Error(diff)
		}
	}
}
