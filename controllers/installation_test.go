package controllers_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

func installation(name string) func(*controllers.Options) {
	return func(o *controllers.Options) { o.Installation = name }
}

// anotherInstallation starts a second controller over the namespace, with a database of its own. It returns that database and what
// ends the first controller.
func (c *cluster) anotherInstallation(name string) (second *faultyDatabase, stopFirst func()) {
	c.Helper()
	stopFirst = c.stop
	first := c.database
	second = newFaultyDatabase(ledgertest.OpenAs(c.T, ledgertest.URL(c.T), ledgertest.Controller))
	c.database = second
	c.start(installation(name))
	c.database = first
	return second, stopFirst
}

// applied returns how often a controller wrote a resource to its database.
func applied(db *faultyDatabase) int { return db.count("ApplySandbox") + db.count("ApplyTestClient") }

// A second installation over one namespace writes a condition that says whose the sandbox is, and nothing else. When the mark is
// gone, it takes the sandbox over.
func TestAnotherInstallationLeavesASandboxAlone(t *testing.T) {
	c := newCluster(t)
	c.start(installation("cauri-system/one"))
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
	secret := c.secret(sandbox.CredentialsSecretName())

	second, stopFirst := c.anotherInstallation("cauri-system/two")
	conflict := func() string {
		c.refresh(sandbox)
		return message(sandbox.Status.Conditions, v1alpha1.ConditionInstallationConflict)
	}
	const want = `The installation "cauri-system/one" serves this sandbox. The installation "cauri-system/two" watches its namespace too, ` +
		`and leaves the sandbox as it is: let only one of them watch the namespace.`
	c.until(func(context.Context) string {
		if said := conflict(); said != want {
			return "the condition says: " + said
		}
		return ""
	})
	for _, obj := range []client.Object{sandbox, alice} {
		edit(c, obj, changeSpec)
	}
	c.becomesReady(sandbox)
	c.testClientReady(alice)
	if said := conflict(); said != want {
		t.Errorf("after a change, which the first installation applied, the condition says: %s", said)
	}
	if n := applied(second); n > 0 || sandbox.Status.Installation != "cauri-system/one" {
		t.Errorf("the second installation wrote %d times to its database, and the sandbox is marked %q", n, sandbox.Status.Installation)
	}
	if now := c.secret(secret.Name); now.ResourceVersion != secret.ResourceVersion {
		t.Error("the Secret was written again")
	}

	stopFirst()
	unmarked := sandbox.DeepCopy()
	unmarked.Status.Installation = ""
	if err := c.Status().Patch(t.Context(), unmarked, client.MergeFrom(sandbox)); err != nil {
		t.Fatal(err)
	}
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		mark, ready := sandbox.Status.Installation, meta.IsStatusConditionTrue(sandbox.Status.Conditions, v1alpha1.ConditionReady)
		if mark != "cauri-system/two" || !ready || applied(second) < 2 || conflict() != "" {
			return fmt.Sprintf("it is marked %q, ready: %v, written %d times, conflict: %q", mark, ready, applied(second), conflict())
		}
		return ""
	})
}

// Of two installations that see a new sandbox at the same time, one serves it.
func TestOneOfTwoInstallationsServesANewSandbox(t *testing.T) {
	c := newCluster(t)
	c.start(installation("one"))
	second, _ := c.anotherInstallation("two")
	for i := range 5 {
		sandbox := c.newSandbox(named(fmt.Sprintf("new-%d", i)))
		c.create(sandbox)
		c.becomesReady(sandbox)
		served := map[string]int{
			"one": c.countIn(c.database, sandbox), "two": c.countIn(second, sandbox),
		}
		if served[sandbox.Status.Installation] != 1 || served["one"]+served["two"] != 1 {
			t.Errorf("%s is marked %q, and is in the databases %v", sandbox.Name, sandbox.Status.Installation, served)
		}
	}
}

// becomesReady waits until the present spec of a sandbox is applied, whatever other conditions say.
func (c *cluster) becomesReady(sandbox *v1alpha1.SandboxEnvironment) {
	c.Helper()
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		ready := meta.FindStatusCondition(sandbox.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Status != "True" || ready.ObservedGeneration != sandbox.Generation {
			return fmt.Sprintf("%s is not ready: %v", sandbox.Name, ready)
		}
		return ""
	})
}

// countIn returns how many sandboxes of a resource are in a database: 0 or 1.
func (c *cluster) countIn(db *faultyDatabase, sandbox *v1alpha1.SandboxEnvironment) int {
	c.Helper()
	inventory, err := db.Inventory(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	if inventory.HoldsSandbox(string(sandbox.UID)) {
		return 1
	}
	return 0
}
