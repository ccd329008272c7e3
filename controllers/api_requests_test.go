package controllers_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/cauri-dev/cauri/controllers"
)

// TestRequestsForASandbox has every request to the API server that a sandbox with two test clients costs, until all are
// ready and reconciled again: none but these writes, and the lists and watches of the caches.
func TestRequestsForASandbox(t *testing.T) {
	c := newCluster(t)
	sandbox := c.newSandbox(withWebhook)
	alice, bob := c.newTestClient("alice", "+250788000001"), c.newTestClient("bob", "+250788000002")
	c.create(sandbox)
	c.create(alice)
	c.create(bob)
	var seen requests
	config := rest.CopyConfig(c.config)
	seen.into(config)
	c.config = config
	c.start(installation("one"), func(o *controllers.Options) { o.Resync = 20 * time.Millisecond })
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
	c.testClientReady(bob)
	if diff := cmp.Diff(new(int64(2)), sandbox.Status.TestClients); diff != "" {
		t.Error(diff)
	}
	sandboxes, testClients := c.database.count("ApplySandbox"), c.database.count("ApplyTestClient")
	want := map[string]int{
		"patch cauri.dev/sandboxenvironments":        1, // the finalizer
		"create /secrets":                            1,
		"create events.k8s.io/events":                1, // the key was issued
		"patch cauri.dev/sandboxenvironments/status": 2, // the mark of the installation is the first
		"patch cauri.dev/testclients/status":         2,
	}
	c.until(func(context.Context) string {
		if c.database.count("ApplySandbox") < sandboxes+5 || c.database.count("ApplyTestClient") < testClients+10 {
			return "the resources were not reconciled often enough"
		}
		return cmp.Diff(want, seen.ofResources())
	})
}

// ofResources counts the requests without lists and watches.
func (r *requests) ofResources() map[string]int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	asked := maps.Clone(r.asked)
	maps.DeleteFunc(asked, func(what string, _ int) bool {
		return strings.HasPrefix(what, "list ") || strings.HasPrefix(what, "watch ")
	})
	return asked
}
