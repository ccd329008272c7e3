package controllers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// TestDrift changes rows behind the controller's back. They are put back without the resources being looked at one by one.
func TestDrift(t *testing.T) {
	for name, test := range map[string]struct {
		slip   string
		undone string // counts something that is 1 while all is as it should be
	}{
		"a setting": {
			"update organizations set latency_percent = 3",
			"select count(*) from organizations where latency_percent = 100",
		},
		"a webhook": {
			"update organizations set webhook_url = 'http://elsewhere'",
			"select count(*) from organizations where webhook_url like 'http://shop%'",
		},
		"events left out": {
			"update organizations set webhook_types = '{}'",
			"select count(*) from organizations where webhook_types <> '{}'",
		},
		"test numbers": {"update organizations set test_numbers = 'Standard'", "select count(*) from organizations where test_numbers = 'None'"},
		"suspended":    {"update organizations set suspended = true", "select count(*) from organizations where not suspended"},
		"an environment": {
			"update environments set commission_bps = 9",
			"select count(*) from environments where commission_bps <> 9",
		},
		"an environment removed": {"update environments set removed = true", "select count(*) from environments where not removed"},
		"a store":                {"delete from stores", "select count(*) from stores"},
		"an opening float":       {"update floats set opening = 5", "select count(*) from floats where opening <> 5"},
		"a key":                  {"delete from api_keys", "select count(*) from api_keys"},
		"another key": {
			"insert into api_keys (tenant, hash) select tenant, sha256('mine') from organizations",
			"select count(*) from api_keys",
		},
		"a signing secret": {
			"update organizations set signing_secret = null",
			"select count(*) from organizations where signing_secret is not null",
		},
		"the sandbox":        {"delete from organizations", "select count(*) from organizations"},
		"a SIM":              {"update sims set blocked = true", "select count(*) from sims where not blocked"},
		"an opening balance": {"update sims set opening = 5", "select count(*) from sims where opening = 500 and balance = 500"},
		"a SIM deleted":      {"delete from sims", "select count(*) from sims"},
		"a SIM in nobody's sandbox": {
			"update sims set tenant = -(select count(*) from sims) where tenant > 0",
			"select count(*) from sims join organizations using (tenant)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start(func(o *controllers.Options) { o.Drift = 50 * time.Millisecond })
			sandbox, alice := c.newSandbox(withWebhook), c.newTestClient("alice", "+250788000001")
			c.create(sandbox)
			c.create(alice)
			c.sandboxReady(sandbox)
			c.testClientReady(alice)
			conn := ledgertest.Connect(c, c.databaseURL)
			for round := range 2 { // the same slip again is found again
				if _, err := conn.Exec(t.Context(), test.slip); err != nil {
					t.Fatal(err)
				}
				c.until(func(ctx context.Context) string {
					n := 0
					if err := conn.QueryRow(ctx, test.undone).Scan(&n); err != nil || n != 1 {
						return fmt.Sprintf("round %d: %s: %d, %v", round, test.undone, n, err)
					}
					return ""
				})
			}
			c.sandboxReady(sandbox)
			c.testClientReady(alice)
		})
	}
}

// TestLooksForDriftCostTwoStatements: while nothing has drifted, no resource is looked at.
func TestLooksForDriftCostTwoStatements(t *testing.T) {
	c := newCluster(t)
	c.start(func(o *controllers.Options) { o.Drift, o.Poll = 20*time.Millisecond, time.Hour })
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	for n := range 10 {
		client := c.newTestClient(fmt.Sprintf("client-%d", n), fmt.Sprintf("+25078800000%d", n))
		c.create(client)
		c.testClientReady(client)
	}
	c.looks(3) // the last reconciliations are over
	applied := c.applied()
	c.looks(10)
	if now := c.applied(); now != applied {
		t.Errorf("%d resources were looked at though nothing had drifted", now-applied)
	}
}

func withWebhook(s *v1alpha1.SandboxEnvironment) {
	s.Spec.Webhook = &v1alpha1.Webhook{URL: "http://shop.team.svc/webhooks"}
}

// looks waits for so many looks for drift.
func (c *cluster) looks(n int) {
	c.Helper()
	before := c.database.count("Inventory")
	c.until(func(context.Context) string {
		if got := c.database.count("Inventory") - before; got < n {
			return fmt.Sprintf("there were %d looks for drift", got)
		}
		return ""
	})
}

// applied is how often the rows of single resources were asked for.
func (c *cluster) applied() int {
	return c.database.count("ApplySandbox") + c.database.count("StoredCredentials") + c.database.count("ApplyCredentials") +
		c.database.count("ApplyTestClient")
}
