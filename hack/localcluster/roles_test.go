package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsOfTheRoles(t *testing.T) {
	t.Parallel()
	state := stateDir{path: "/s"}
	r := roles{
		state: state, program: "/bin/cauri", databaseURL: "postgres://cauri:secret@127.0.0.1:1/cauri", apiPort: 8080,
		ports: ports{controllerHealthPort: 1001, controllerMetricsPort: 1002, workerHealthPort: 1003, apiHealthPort: 1004},
	}
	want := map[string][]string{
		controllerName: {
			"controller", "--kubeconfig=/s/kubeconfig", "--base-url=http://127.0.0.1:8080", "--encryption-key-file=/s/encryption.key",
			"--health-address=127.0.0.1:1001", "--metrics-address=127.0.0.1:1002",
		},
		apiName:    {"api", "--listen-address=127.0.0.1:8080", "--health-address=127.0.0.1:1004"},
		workerName: {"worker", "--encryption-key-file=/s/encryption.key", "--health-address=127.0.0.1:1003", "--allow-loopback-webhooks"},
	}
	got := map[string][]string{}
	for _, c := range r.components() {
		got[c.name] = c.args
		if !slices.Contains(c.env, "DATABASE_URL="+r.url(c.name)) {
			t.Errorf("%s is not told its database", c.name)
		}
		if strings.Contains(strings.Join(c.args, " "), "secret") {
			t.Errorf("the password is among the arguments of %s, which everyone may read", c.name)
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
	r := roles{databaseURL: "postgres://owner", databaseURLs: map[string]string{apiName: "postgres://api", workerName: ""}}
	want := map[string]string{controllerName: "postgres://owner", apiName: "postgres://api", workerName: "postgres://owner"}
	for _, c := range r.components() {
		if !slices.Contains(c.env, "DATABASE_URL="+want[c.name]) {
			t.Errorf("%s is told another database than %s: %q", c.name, want[c.name], c.env)
		}
	}
}
