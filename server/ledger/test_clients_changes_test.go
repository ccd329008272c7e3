package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// byAPI is a SIM that is to be made through the API.
func byAPI(msisdn string, balance int64) ledger.TestClient {
	return ledger.TestClient{Source: sandboxes.SourceAPI, SIM: payments.SIM{
		ID: uuid.New(), MSISDN: msisdn, Operator: payments.MTN, Country: payments.Rwanda, Behavior: payments.Approve, Balance: balance,
	}}
}

// add registers a SIM through the API.
func (w *fixture) add(msisdn string, balance int64) {
	w.T.Helper()
	if err := w.AddTestClient(w.T.Context(), w.Sandbox, byAPI(msisdn, balance)); err != nil {
		w.T.Fatal(err)
	}
}

func balanceOf(to int64) func(*ledger.TestClient) error {
	return func(c *ledger.TestClient) error { c.Balance = to; return nil }
}

func TestTestClientIsMadeChangedAndDeleted(t *testing.T) {
	w := newFixture(t)
	w.add(alice, 5000)
	w.Create(w.Collection("r1", payments.Success, alice))
	w.Conserved()
	changed, err := w.ChangeTestClient(t.Context(), w.Sandbox, alice, func(c *ledger.TestClient) error {
		if c.Balance != 4000 {
			t.Errorf("it has %d", c.Balance)
		}
		c.Name, c.Balance, c.Blocked, c.Behavior = "alice", 70, true, payments.Manual
		return nil
	})
	if err != nil || changed.Balance != 70 || !changed.Blocked || changed.Behavior != payments.Manual || changed.Name != "alice" {
		t.Fatalf("changed to %+v, %v", changed, err)
	}
	deltas := read[[]int64](w, "select array_agg(delta order by created_at) from adjustments where sim_id is not null")
	if diff := cmp.Diff([]int64{5000, -3930}, deltas); diff != "" {
		t.Errorf("adjustments (-want +got):\n%s", diff)
	}
	w.Conserved()
	if err := w.RemoveTestClient(t.Context(), w.Sandbox, alice); err != nil {
		t.Fatal(err)
	}
	for call, err := range map[string]error{
		"change": second(w.ChangeTestClient(t.Context(), w.Sandbox, alice, balanceOf(1))),
		"delete": w.RemoveTestClient(t.Context(), w.Sandbox, alice),
	} {
		if !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s of one that is gone: %v", call, err)
		}
	}
}

func second[A any](_ A, err error) error { return err }

func TestTestClientOfAResourceIsLeftAlone(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	before := w.Written()
	var exists *ledger.ErrTestClientExists
	if err := w.AddTestClient(t.Context(), w.Sandbox, byAPI(alice, 1)); !errors.As(err, &exists) ||
		exists.TestClient.Name != "alice" || exists.TestClient.Source != sandboxes.SourceResource {
		t.Errorf("make: %v", err)
	}
	for call, err := range map[string]error{
		"change": second(w.ChangeTestClient(t.Context(), w.Sandbox, alice, balanceOf(1))),
		"delete": w.RemoveTestClient(t.Context(), w.Sandbox, alice),
	} {
		if managed := (ledger.ErrManagedByResource{}); !errors.As(err, &managed) || managed.Name != "alice" {
			t.Errorf("%s: %v", call, err)
		}
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

// A configuration that is not the present one changes nothing: the present one may not allow it any more.
func TestTestClientsAreChangedByThePresentConfiguration(t *testing.T) {
	w := newFixture(t)
	w.add(alice, 5000)
	known := *w.Sandbox
	w.Config.LatencyPercent++
	w.Apply()
	before := w.Written()
	for call, err := range map[string]error{
		"make":   w.AddTestClient(t.Context(), &known, byAPI("+250788000002", 1)),
		"change": second(w.ChangeTestClient(t.Context(), &known, alice, balanceOf(1))),
		"delete": w.RemoveTestClient(t.Context(), &known, alice),
	} {
		if !errors.Is(err, postgres.ErrConfigChanged) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

func TestOneOfManyGetsANumber(t *testing.T) {
	w := newFixture(t)
	const racers = 8
	results := make(chan error, racers+1)
	for i := range racers {
		go func() { results <- w.AddTestClient(context.Background(), w.Sandbox, byAPI(alice, int64(i+1))) }()
	}
	won := 0
	for range racers {
		var exists *ledger.ErrTestClientExists
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.As(err, &exists) || exists.TestClient.Balance == 0:
			t.Errorf("who lost is told %v", err)
		}
	}
	if n := w.Count("select count(*) from sims"); won != 1 || n != 1 {
		t.Errorf("%d have made it, and there are %d", won, n)
	}
	w.Conserved()
}

// The limit holds for those who race for the last places, and counts the SIMs of resources.
func TestTestClientsUpToTheLimit(t *testing.T) {
	limit := int64(4)
	w := newFixture(t, func(c *sandboxes.Config) { c.API = sandboxes.APIAccess{TestClients: true, MaxTestClients: &limit} })
	w.Client("alice", alice, 5000)
	const racers = 8
	results := make(chan error, racers)
	for i := range racers {
		go func() {
			results <- w.AddTestClient(context.Background(), w.Sandbox, byAPI(fmt.Sprintf("+25078800010%d", i), 1))
		}()
	}
	made := 0
	for range racers {
		var tooMany ledger.ErrTooManyTestClients
		switch err := <-results; {
		case err == nil:
			made++
		case !errors.As(err, &tooMany) || tooMany.Limit != limit:
			t.Error(err)
		}
	}
	if made != 3 || w.Count("select count(*) from sims") != 4 {
		t.Errorf("%d were made beside the one of a resource", made)
	}
}

// A balance that is set while payments move it: whatever the order, everything adds up.
func TestBalanceIsSetWhilePaymentsMoveIt(t *testing.T) {
	w := newFixture(t)
	w.add(alice, 1_000_000)
	var payers sync.WaitGroup
	for c := range 3 {
		template := w.Collection("", payments.Success, alice)
		payers.Go(func() {
			for i := range 30 {
				n := *template
				n.Transaction.ID[15], n.Transaction.ID[14] = byte(c), byte(i)
				n.Transaction.Reference = fmt.Sprint(c, "-", i)
				if err := w.CreateCollection(context.Background(), w.Sandbox.Tenant, &n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 20 {
		if _, err := w.ChangeTestClient(t.Context(), w.Sandbox, alice, balanceOf(int64(1_000_000+i))); err != nil {
			t.Error(err)
		}
	}
	payers.Wait()
	w.Conserved()
	if n := w.Count("select count(*) from transactions where status = 'SUCCESS'"); n != 90 {
		t.Errorf("%d payments succeeded", n)
	}
}

// What waits for a SIM that was deleted ends as if its TestClient had been deleted.
func TestPaymentsOfADeletedTestClient(t *testing.T) {
	w := newFixture(t)
	w.add(alice, 5000)
	waiting := w.Pending("r1", alice)
	if err := w.RemoveTestClient(t.Context(), w.Sandbox, alice); err != nil {
		t.Fatal(err)
	}
	w.Settle()
	if got := w.Get(waiting.ID).Status; got != payments.UnknownMSISDN {
		t.Errorf("it ended %s", got)
	}
	w.Conserved()
}
