package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// narrowed: an upgrade gives the controller two namespaces only, with the right to Secrets there only. One of them is deleted, with its
// sandboxes and the controller's Role in it. A rollback gives it all again.
func narrowed(t *testing.T, c *cluster) {
	const leaving = "leaving"
	c.kubectl(t, "create", "namespace", leaving)
	c.helm(t, "upgrade", release, "charts/cauri", "--reuse-values", "--set", "watchNamespaces={"+team+","+leaving+"}", "--wait", "--timeout", "4m")
	var several strings.Builder
	for i := range 10 {
		several.WriteString(sandboxYAML(leaving, fmt.Sprintf("leaving-%d", i), 0))
	}
	c.apply(t, several.String())
	c.kubectl(t, "wait", "--namespace", leaving, "--for=condition=Ready", "--timeout=60s", "--all", "sandboxenvironments")
	c.kubectl(t, "delete", "namespace", leaving, "--timeout=30s")
	c.apply(t, sandboxYAML(team, "within", 0)+sandboxYAML(other, "without", 0))
	c.kubectl(t, "wait", "--namespace", team, "--for=condition=Ready", "--timeout=30s", "sandboxenvironment/within")
	if conditions := c.sandbox(t, other, "without").Status.Conditions; len(conditions) > 0 {
		t.Errorf("the sandbox in a namespace that is not watched has conditions: %v", conditions)
	}
	account := "--as=system:serviceaccount:" + system + ":cauri-controller"
	for namespace, want := range map[string]string{team: "yes", other: "no"} {
		if can, _ := c.try(t.Context(), "", "kubectl", "auth", "can-i", "list", "secrets", "--namespace", namespace, account); can != want {
			t.Errorf("may the controller list the Secrets of %s? %s", namespace, can)
		}
	}
	c.helm(t, "rollback", release, "--wait", "--timeout", "4m")
	eventually(t, time.Minute, func() error {
		if sandbox := c.sandbox(t, other, "without"); !meta.IsStatusConditionTrue(sandbox.Status.Conditions, v1alpha1.ConditionReady) {
			return fmt.Errorf("after the rollback the sandbox's conditions are %v", sandbox.Status.Conditions)
		}
		return nil
	})
	c.versioned(t, c.merchant(team), next)
	c.kubectl(t, "delete", "sandboxenvironment", "--namespace", team, "within", "--timeout=30s")
	c.kubectl(t, "delete", "sandboxenvironment", "--namespace", other, "without", "--timeout=30s")
}
