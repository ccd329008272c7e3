package controllers_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// TestResourcesSayThatTheDatabaseHangs: a database that swallows what is sent to it, and refuses nothing, is unavailable too, and the
// resources name the cause, also those that nobody changes.
func TestResourcesSayThatTheDatabaseHangs(t *testing.T) {
	c := newCluster(t)
	proxy, through := ledgertest.NewProxy(t, ledgertest.URLAs(t, c.databaseURL, ledgertest.Controller))
	c.start(func(o *controllers.Options) { o.Database = ledgertest.Open(t, through) })
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.sandboxReady(sandbox)
	c.testClientReady(alice)

	proxy.Swallow()
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady True Ready",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.testClientConditions(alice, "Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		c.refresh(alice)
		for _, got := range []string{message(sandbox.Status.Conditions, "DatabaseReady"), message(alice.Status.Conditions, "Ready")} {
			if !strings.Contains(got, "does not answer in time") {
				return "the condition says: " + got
			}
		}
		return ""
	})

	proxy.Pass()
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
}
