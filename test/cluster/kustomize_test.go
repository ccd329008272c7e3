package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const plain = "team-plain" // the team that an installation without helm serves

// kustomized takes everything away, as docs/uninstall.md has it, and installs again without helm.
func kustomized(t *testing.T, c *cluster) {
	c.follow(t, removal, "finalizers") // nothing is stuck; it needs the CRDs, which the last snippet removes
	c.follow(t, removal, "")
	c.kubectl(t, "delete", "namespace", team, other, "--timeout=90s")

	begun := time.Now()
	c.kubectl(t, "apply", "-k", c.kustomization(t))
	c.rolledOut(t)
	c.apply(
		t,
		namespaceYAML(plain)+sandboxYAML(plain, shared, 0)+testClientYAML(plain, shared, "alice", alice, 50000)+merchantYAML(plain, shared),
	)
	c.ready(t, plain)
	m := c.merchant(plain)
	paid := m.pay(t, shared, "first", alice, "")["id"].(string)
	if settled := m.settled(t, shared, paid); settled["status"] != "SUCCESS" {
		t.Fatalf("the payment ended %v", settled)
	}
	c.measured("kubectl apply -k to the first payment SUCCESS", "%.1f s", time.Since(begun).Seconds())
	m.told(t, shared, paid, "payment.completed", "SUCCESS")
	d := c.database(t)
	d.drained(t, plain)
	d.conserved(t)
}

// kustomization is a folder with one that names the tests' images, as a platform team names its own.
func (c *cluster) kustomization(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	base, err := filepath.Rel(folder, filepath.Join(c.root, "config", "default"))
	if err != nil {
		t.Fatal(err)
	}
	yaml := fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [%s]
images:
- {name: ghcr.io/cauri-dev/cauri, newName: cauri.local/cauri, newTag: %s}
- {name: postgres, newName: cauri.local/postgres, newTag: "15"}
`, base, image)
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
