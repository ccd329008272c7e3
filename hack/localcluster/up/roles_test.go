package up

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

func TestArgumentsOfTheRoles(t *testing.T) {
	t.Parallel()
	state := process.StateDir{Path: "/s"}
	r := roles{
		state: state, program: "/bin/cauri", databaseURL: "postgres://cauri:secret@127.0.0.1:1/cauri", apiPort: 8080,
		ports: process.Ports{controllerHealthPort: 1001, controllerMetricsPort: 1002, workerHealthPort: 1003, apiHealthPort: 1004},
	}
	want := map[string][]string{
		process.ControllerName: {
			"serve", "controller", "--kubeconfig=/s/kubeconfig", "--base-url=http://127.0.0.1:8080", "--encryption-key-file=/s/encryption.key",
			"--health-address=127.0.0.1:1001", "--metrics-address=127.0.0.1:1002", "--allow-loopback-webhooks",
		},
		process.APIName: {
			"serve", "api", "--listen-address=127.0.0.1:8080", "--health-address=127.0.0.1:1004", "--pin-key-file=/s/pin.pem",
			"--credential-key-file=/s/credential.pem",
		},
		process.WorkerName: {"serve", "worker", "--encryption-key-file=/s/encryption.key", "--health-address=127.0.0.1:1003", "--allow-loopback-webhooks"},
	}
	got := map[string][]string{}
	for _, c := range r.components() {
		got[c.Name] = c.Args
		if !slices.Contains(c.Env, "DATABASE_URL="+r.url(c.Name)) {
			t.Errorf("%s is not told its database", c.Name)
		}
		if strings.Contains(strings.Join(c.Args, " "), "secret") {
			t.Errorf("the password is among the arguments of %s, which everyone may read", c.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironmentOfTheRoles(t *testing.T) {
	t.Setenv("CAURI_LOG_LEVEL", "debug")
	for _, name := range notForRoles {
		t.Setenv(name, "elsewhere")
	}
	environment := roles{databaseURL: "here"}.environment("here")
	if !slices.Contains(environment, "CAURI_LOG_LEVEL=debug") || !slices.Contains(environment, "DATABASE_URL=here") {
		t.Errorf("incomplete: %q", environment)
	}
	if strings.Contains(strings.Join(environment, " "), "elsewhere") {
		t.Errorf("settings of other programs reach the roles: %q", environment)
	}
}

func TestEachProcessHasItsOwnDatabaseURL(t *testing.T) {
	t.Parallel()
	r := roles{databaseURL: "postgres://owner", databaseURLs: map[string]string{process.APIName: "postgres://api", process.WorkerName: ""}}
	want := map[string]string{
		process.ControllerName: "postgres://owner",
		process.APIName:        "postgres://api",
		process.WorkerName:     "postgres://owner",
	}
	for _, c := range r.components() {
		if !slices.Contains(c.Env, "DATABASE_URL="+want[c.Name]) {
			t.Errorf("%s is told another database than %s: %q", c.Name, want[c.Name], c.Env)
		}
	}
}
