package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// served is the cluster's one sandbox as the api knows it, with the store that the api has.
func (c *cluster) served() (*ledgertest.Store, *sandboxes.Sandbox) {
	c.Helper()
	store := ledgertest.OpenAs(c.T, c.databaseURL, ledgertest.API)
	directory := sandboxes.NewDirectory(store.DB)
	if err := directory.Refresh(c.Context()); err != nil {
		c.Fatal(err)
	}
	var hash []byte
	c.row("select hash from api_keys", nil, &hash)
	sandbox, found := directory.ByKey(sandboxes.KeyHash(hash))
	if !found {
		c.Fatal("the api does not know the sandbox's key")
	}
	return store, sandbox
}

// TestAPIAccess has the switches and the limit where the api reads them, and leaves alone what the API made.
func TestAPIAccess(t *testing.T) {
	c := newCluster(t)
	c.start(limits(0, 2))
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	if _, got := c.served(); got.API != (sandboxes.APIAccess{}) {
		t.Errorf("by default the API may %+v", got.API)
	}
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.API, s.Spec.Reset = &v1alpha1.APIAccess{TestClients: true, Reset: true}, "made with"
	})
	c.sandboxReady(sandbox)
	store, served := c.served()
	if diff := cmp.Diff(sandboxes.APIAccess{TestClients: true, Reset: true, MaxTestClients: new(int64(2))}, served.API); diff != "" {
		t.Fatalf("the API may (-want +got):\n%s", diff)
	}

	for i := range 2 {
		sim := payments.SIM{
			ID: uuid.New(), MSISDN: fmt.Sprintf("+25078800000%d", i), Operator: payments.MTN, Country: payments.Rwanda,
			Behavior: payments.Approve, Balance: 7,
		}
		if err := store.AddTestClient(t.Context(), served, ledger.TestClient{SIM: sim}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.FlushActivity(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(new(int64(2)), sandbox.Status.TestClients)
	})

	heir, bob := c.newTestClient("heir", "+250788000001"), c.newTestClient("bob", "+250788000009")
	c.create(heir)
	c.testClientReady(heir)
	c.create(bob)
	c.testClientConditions(bob, overLimit...)
	if said := message(bob.Status.Conditions, v1alpha1.ConditionReady); !strings.Contains(said, "1 of them made through the API") {
		t.Errorf("the message says %q", said)
	}
	if got := c.count("select balance from sims where msisdn = '+250788000001' and source = 'resource'"); got != 500 {
		t.Errorf("the SIM of the TestClient has %d", got)
	}

	if err := store.ResetByAPI(t.Context(), served.Tenant); err != nil {
		t.Fatal(err)
	}
	c.testClientReady(bob) // the reset made room
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(new(int64(2)), sandbox.Status.TestClients)
	})
	if sandbox.Status.ObservedReset != "made with" || c.count("select count(*) from retired_tenants") != 2 {
		t.Errorf("the resource's reset is %q", sandbox.Status.ObservedReset)
	}
	if got := c.count("select count(*) from sims s join organizations using (tenant) where s.source = 'api'"); got != 0 {
		t.Errorf("%d SIMs of the API are left", got)
	}
}
