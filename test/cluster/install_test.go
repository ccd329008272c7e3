package cluster

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// values are what the tests' images need to be told of. All else is the chart's default.
//
//go:embed testdata/values.yaml
var values string

const (
	team   = "team-payments" // of the merchant
	shared = "checkout"      // its sandbox, which answers at once
	slow   = "held"          // another one, whose answers are held
)

// installed goes the way of a platform team and of the first team that it serves, and measures how long it takes to the first
// payment.
func installed(t *testing.T, c *cluster) {
	if out := c.kubectl(t, "get", "namespaces", "--no-headers", "-o", "name"); contains(out, "namespace/"+system) {
		t.Fatalf("the cluster has a namespace %s already: the story begins in an empty one", system)
	}
	c.apply(t, namespaceYAML(system)+namespaceYAML(team))
	begun := time.Now()
	c.install(t)
	c.measured("helm install --wait", "%.1f s", time.Since(begun).Seconds())
	c.apply(t, sandboxYAML(team, shared, 0)+sandboxYAML(team, slow, 40)+testClientYAML(team, shared, "alice", alice, 50000)+
		testClientYAML(team, shared, "bob", bob, 0)+testClientYAML(team, shared, "carol", carol, 1_000_000_000)+merchantYAML(team, shared, slow))
	c.ready(t, team)
	m := c.merchant(team)
	if p := m.pay(t, shared, "first", unregistered, "success"); p["status"] != "SUCCESS" {
		t.Fatalf("the first payment is %v", p)
	}
	c.measured("helm install to the first payment SUCCESS", "%.1f s", time.Since(begun).Seconds())
	status, health := m.get(t, shared, "/health")
	if status != 200 || health["version"] == "" {
		t.Errorf("/v1/health answers %d %v", status, health)
	}
	c.before.version = fmt.Sprint(health["version"])
}

// install installs the chart as it stands in the checkout, as docs/install.md has it.
func (c *cluster) install(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	c.follow(t, installation, "helm install cauri", published, "charts/cauri --values "+file)
}

// ready waits until a team's sandboxes, test clients and merchant are.
func (c *cluster) ready(t *testing.T, namespace string) {
	t.Helper()
	c.kubectl(t, "wait", "--namespace", namespace, "--for=condition=Ready", "--timeout=60s", "sandboxenvironments,testclients", "--all")
	c.kubectl(t, "rollout", "status", "--namespace", namespace, "--timeout=60s", "deployment/merchant")
}

func chartTested(t *testing.T, c *cluster) {
	c.follow(t, installation, "helm test")
}

// secret reads a key of a Secret.
func (c *cluster) secret(t *testing.T, namespace, name, key string) string {
	t.Helper()
	var secret struct{ Data map[string]string }
	c.resource(t, "/api/v1/namespaces/"+namespace+"/secrets/"+name, &secret)
	text, err := base64.StdEncoding.DecodeString(secret.Data[key])
	if err != nil || len(text) == 0 {
		t.Fatalf("the Secret %s/%s has no key %s", namespace, name, key)
	}
	return string(text)
}

// resource reads a resource, or a list of them, of a path.
func (c *cluster) resource(t *testing.T, path string, into any) {
	t.Helper()
	text, err := c.ask(t.Context(), "GET", path, nil)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
