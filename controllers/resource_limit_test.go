package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
)

var overLimit = []string{"Ready False LimitExceeded", "Stalled True LimitExceeded"}

func limits(sandboxes, testClients int) func(*controllers.Options) {
	return func(o *controllers.Options) { o.MaxSandboxes, o.MaxTestClients = sandboxes, testClients }
}

// sandboxes makes sandboxes of these names before the controller starts, so that it sees them all at once.
func (c *cluster) sandboxes(names ...string) map[string]*v1alpha1.SandboxEnvironment {
	c.Helper()
	all := map[string]*v1alpha1.SandboxEnvironment{}
	for _, name := range names {
		all[name] = c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Name = name })
		c.create(all[name])
	}
	return all
}

// sandboxOverLimit waits until a sandbox is stalled for want of room.
func (c *cluster) sandboxOverLimit(sandbox *v1alpha1.SandboxEnvironment) {
	c.Helper()
	c.sandboxConditions(sandbox, "SpecAccepted False LimitExceeded", "DatabaseReady Unknown Pending", "CredentialsReady Unknown Pending",
		"Ready False LimitExceeded", "Stalled True LimitExceeded")
}

func TestSandboxesBeyondTheLimitWaitForRoom(t *testing.T) {
	c := newCluster(t)
	all := c.sandboxes("a", "b", "c", "d") // within a second or two: where the times are equal, the names decide
	c.start(limits(2, 0))
	c.sandboxReady(all["a"])
	c.sandboxReady(all["b"])
	c.sandboxOverLimit(all["c"])
	c.sandboxOverLimit(all["d"])
	said := message(all["c"].Status.Conditions, v1alpha1.ConditionStalled)
	for _, want := range []string{"at most 2", "delete", "--max-sandboxes-per-namespace"} {
		if !strings.Contains(said, want) {
			t.Errorf("the message says %q, want %q in it", said, want)
		}
	}
	if n := c.count("select count(*) from organizations"); n != 2 {
		t.Errorf("%d organizations, want 2", n)
	}

	c.delete(all["a"])
	c.sandboxReady(all["c"])
	c.sandboxOverLimit(all["d"])
	c.delete(all["d"]) // one that has no place frees none
	c.sandboxReady(all["b"])
}

// A limit is not a guillotine: what was ready stays so, also through an edit and a restart of the controller.
func TestALoweredLimitTakesNoPlaceAway(t *testing.T) {
	c := newCluster(t)
	all := c.sandboxes("a", "b", "c")
	c.start()
	for _, sandbox := range all {
		c.sandboxReady(sandbox)
	}
	c.stop()
	c.start(limits(1, 0))
	edit(c, all["c"], func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(int32(7)) })
	c.sandboxReady(all["c"])
	late := c.sandboxes("late")["late"]
	c.sandboxOverLimit(late)
	c.delete(all["a"]) // two are left, and one is allowed
	c.delete(all["b"])
	c.sandboxOverLimit(late)
	c.delete(all["c"])
	c.sandboxReady(late)
}

func TestTestClientsBeyondTheLimitWaitForRoom(t *testing.T) {
	c := newCluster(t)
	c.create(c.newSandbox())
	other := c.sandboxes("other")["other"]
	var all []*v1alpha1.TestClient
	for i := range 3 {
		all = append(all, c.newTestClient(fmt.Sprintf("sim-%d", i), fmt.Sprintf("+25078800001%d", i)))
		c.create(all[i])
	}
	elsewhere := c.newTestClient("elsewhere", "+250788000010", func(tc *v1alpha1.TestClient) { tc.Spec.SandboxRef.Name = other.Name })
	c.create(elsewhere)
	c.start(limits(0, 2))
	c.testClientReady(all[0])
	c.testClientReady(all[1])
	c.testClientConditions(all[2], overLimit...)
	c.testClientReady(elsewhere) // each sandbox has a count of its own
	if said := message(all[2].Status.Conditions, v1alpha1.ConditionReady); !strings.Contains(said, "at most 2 TestClients in a sandbox") {
		t.Errorf("the message says %q", said)
	}
	c.delete(all[0])
	c.testClientReady(all[2])
}

// Many that come at once, and are carried out at the same time, get no more places than there are.
func TestPlacesAreNotGivenTwice(t *testing.T) {
	c := newCluster(t)
	c.start(limits(3, 0))
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("s%02d", 11-i)) // the later ones come first by their names
	}
	all := c.sandboxes(names...)
	ready := 0
	c.until(func(ctx context.Context) string {
		ready = 0
		for _, sandbox := range all {
			if err := c.Get(ctx, client.ObjectKeyFromObject(sandbox), sandbox); err != nil {
				return err.Error()
			}
			switch short := strings.Join(inShort(sandbox.Status.Conditions), ", "); {
			case strings.Contains(short, "Ready True Ready") && !strings.Contains(short, "False"):
				ready++
			case !strings.Contains(short, "Stalled True LimitExceeded"):
				return sandbox.Name + " is neither ready nor stalled: " + short
			}
		}
		return ""
	})
	if organizations := c.count("select count(*) from organizations"); ready != 3 || organizations != 3 {
		t.Errorf("%d sandboxes are ready and %d in the database, want 3", ready, organizations)
	}
}
