package sandboxes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// number makes a TestClient of its own UID that wants a number.
func number(uid byte, msisdn string) sandboxes.TestClientConfig {
	return sandboxes.TestClientConfig{
		UID: fmt.Sprintf("33333333-3333-3333-3333-3333333333%02x", uid), Name: fmt.Sprint("client-", uid), MSISDN: msisdn,
		Operator: payments.MTN, Country: payments.Rwanda, Behavior: payments.Approve, Balance: 100,
	}
}

func TestNumberBelongsToOneTestClient(t *testing.T) {
	w := newFixture(t)
	holder, other := number(1, alice), number(2, alice)
	apply := func(c sandboxes.TestClientConfig) error {
		_, err := w.ApplyTestClient(t.Context(), w.Config.UID, c)
		return err
	}
	if err := apply(holder); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var duplicate sandboxes.ErrDuplicateMSISDN
		if err := apply(
			other,
		); !errors.As(err, &duplicate) ||
			duplicate != (sandboxes.ErrDuplicateMSISDN{MSISDN: alice, Holder: "client-1", HolderUID: holder.UID}) {
			t.Errorf("got %v", err)
		}
	}
	if err := apply(holder); err != nil {
		t.Errorf("the holder lost its number: %v", err)
	}
	if err := w.DeleteTestClient(t.Context(), holder.UID); err != nil {
		t.Fatal(err)
	}
	if err := apply(other); err != nil {
		t.Errorf("the number is free: %v", err)
	}
	w.Conserved()
}

// byAPI is a SIM that is to be made through the API.
func byAPI(msisdn string, balance int64) ledger.TestClient {
	return ledger.TestClient{Source: sandboxes.SourceAPI, SIM: payments.SIM{
		ID: uuid.New(), MSISDN: msisdn, Operator: payments.MTN, Country: payments.Rwanda, Behavior: payments.Manual, Balance: balance,
	}}
}

func TestTestClientTakesOverTheNumberOfTheAPI(t *testing.T) {
	w := newFixture(t)
	if err := w.AddTestClient(t.Context(), w.Sandbox, byAPI(alice, 70_000)); err != nil {
		t.Fatal(err)
	}
	waiting := w.Pending("r1", alice)
	c := w.Client("alice", alice, 5000)
	if w.Balance(alice) != 5000 || w.Apply().TestClients != 1 {
		t.Errorf("the SIM has %d", w.Balance(alice))
	}
	w.Settle()
	if got := w.Get(waiting.ID).Status; got != payments.UnknownMSISDN {
		t.Errorf("what waited for the API's SIM ended %s", got)
	}
	w.Conserved()
	if err := w.DeleteTestClient(t.Context(), c.UID); err != nil {
		t.Fatal(err)
	}
	if err := w.AddTestClient(t.Context(), w.Sandbox, byAPI(alice, 1)); err != nil {
		t.Errorf("the number is free again: %v", err)
	}
	w.Conserved()
}

// The resource has the number in the end, whoever comes first and whatever the API does with it meanwhile.
func TestTestClientAndAPIRacingForANumber(t *testing.T) {
	w := newFixture(t)
	var racers sync.WaitGroup
	for range 3 {
		racers.Go(func() {
			for range 20 {
				var exists *ledger.ErrTestClientExists
				var managed ledger.ErrManagedByResource
				if err := w.AddTestClient(context.Background(), w.Sandbox, byAPI(alice, 5)); err != nil && !errors.As(err, &exists) {
					t.Error(err)
				}
				err := w.RemoveTestClient(context.Background(), w.Sandbox, alice)
				if err != nil && !errors.As(err, &managed) && !errors.Is(err, ledger.ErrNotFound) {
					t.Error(err)
				}
			}
		})
	}
	c := number(1, alice)
	c.Limit = 5
	ledgertest.Eventually(t, func() bool { // as the controller, which tries again
		_, err := w.ApplyTestClient(context.Background(), w.Config.UID, c)
		return err == nil
	})
	racers.Wait()
	if w.Balance(alice) != 100 || w.Count("select count(*) from sims") != 1 {
		t.Errorf("the SIM has %d", w.Balance(alice))
	}
	w.Conserved()
}

// Test clients that were made through the API leave no room for a new resource, and one that is there stays.
func TestRegistryThatTheAPIHasFilled(t *testing.T) {
	w := newFixture(t)
	apply := func(c sandboxes.TestClientConfig) error {
		c.Limit = 2
		_, err := w.ApplyTestClient(t.Context(), w.Config.UID, c)
		return err
	}
	first, second := number(1, alice), number(2, "+250788000002")
	if err := apply(first); err != nil {
		t.Fatal(err)
	}
	if err := w.AddTestClient(t.Context(), w.Sandbox, byAPI("+250788000003", 1)); err != nil {
		t.Fatal(err)
	}
	var full sandboxes.ErrRegistryFull
	if err := apply(second); !errors.As(err, &full) || full.ByAPI != 1 {
		t.Errorf("a second one: %v", err)
	}
	first.Balance = 7
	if err := apply(first); err != nil {
		t.Errorf("the first one again: %v", err)
	}
	second.MSISDN = "+250788000003"
	if err := apply(second); err != nil {
		t.Errorf("one in the place of the API's: %v", err)
	}
	w.Conserved()
}

// A SIM that was made through the API is nobody's drift, and no resource's change.
func TestTestClientOfTheAPIHasNoResource(t *testing.T) {
	w := newFixture(t)
	since := read[time.Time](w, "select clock_timestamp()")
	if err := w.AddTestClient(t.Context(), w.Sandbox, byAPI(alice, 5000)); err != nil {
		t.Fatal(err)
	}
	inventory, err := w.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, orphans := inventory.Orphans(map[string]bool{w.Config.UID: true}); len(orphans) != 0 || !inventory.HoldsSandbox(w.Config.UID) {
		t.Errorf("%d SIMs have no resource", len(orphans))
	}
	if err := w.FlushActivity(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes, _, err := w.ChangedAccounts(t.Context(), since)
	if err != nil || len(changes) != 1 || changes[0].TestClient != "" {
		t.Errorf("the changes are %v, %v, want the sandbox's", changes, err)
	}
}

func TestNumberMayBeUsedInEverySandbox(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	w.Client("alice", alice, 100)
	other.Client("alice", alice, 200)
	if w.Balance(alice) != 100 || other.Balance(alice) != 200 {
		t.Errorf("the SIMs have %d and %d", w.Balance(alice), other.Balance(alice))
	}
	if got := []int{w.Apply().TestClients, other.Apply().TestClients}; !cmp.Equal(got, []int{1, 1}) {
		t.Errorf("the sandboxes have %v test clients", got)
	}
}

func TestTestClientsRacingForANumber(t *testing.T) {
	w := newFixture(t)
	results := make(chan error)
	const racers = 12
	for i := range racers {
		go func() {
			_, err := w.ApplyTestClient(context.Background(), w.Config.UID, number(byte(i), alice))
			results <- err
		}()
	}
	won := 0
	for range racers {
		var duplicate sandboxes.ErrDuplicateMSISDN
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.As(err, &duplicate):
			t.Error(err)
		case duplicate.HolderUID == "":
			t.Error("who lost does not learn who won")
		}
	}
	if won != 1 || w.Apply().TestClients != 1 {
		t.Errorf("%d have the number", won)
	}
	w.Conserved()
}

func TestEditedBalanceIsAnAdjustment(t *testing.T) {
	w := newFixture(t)
	c := w.Client("alice", alice, 5000)
	w.Create(w.Collection("r1", payments.Success, alice))
	steps := []struct {
		what   string
		edit   func()
		live   int64
		deltas []int64
	}{
		{"nothing", func() {}, 4000, []int64{5000}},
		{"another thing", func() { c.Name, c.Behavior = "other", payments.Manual }, 4000, []int64{5000}},
		{"balance", func() { c.Balance = 6000 }, 6000, []int64{5000, 2000}},
		{"balance and state", func() { c.Balance, c.Blocked = 0, true }, 0, []int64{5000, 2000, -6000}},
		{"back", func() { c.Balance, c.Blocked = 5000, false }, 5000, []int64{5000, 2000, -6000, 5000}},
	}
	for _, step := range steps {
		step.edit()
		state, err := w.ApplyTestClient(t.Context(), w.Config.UID, c)
		if err != nil {
			t.Fatal(err)
		}
		if state.Balance != step.live || w.Balance(alice) != step.live {
			t.Errorf("%s: the SIM has %d, told %d, want %d", step.what, w.Balance(alice), state.Balance, step.live)
		}
		if got := read[[]int64](
			w,
			"select array_agg(delta order by created_at) from adjustments where sim_id is not null",
		); !cmp.Equal(
			got,
			step.deltas,
		) {
			t.Errorf("%s: adjustments %v, want %v", step.what, got, step.deltas)
		}
		w.Conserved()
	}
	sim, err := w.FindSIM(t.Context(), w.Sandbox.Tenant, alice)
	if err != nil || sim.Behavior != payments.Manual || sim.Blocked {
		t.Errorf("got %+v, %v", sim, err)
	}
}

func TestTestClientOfNoSandbox(t *testing.T) {
	w := newFixture(t)
	if _, err := w.ApplyTestClient(t.Context(), nobody, number(1, alice)); !errors.Is(err, sandboxes.ErrNoOrganization) {
		t.Errorf("got %v, want ErrNoOrganization", err)
	}
	if _, err := w.ApplyTestClient(t.Context(), "checkout", number(1, alice)); err == nil {
		t.Error("a UID that is no UUID was taken")
	}
	c := number(1, alice)
	c.UID = "alice"
	if _, err := w.ApplyTestClient(t.Context(), w.Config.UID, c); err == nil {
		t.Error("a UID that is no UUID was taken")
	}
	if err := w.DeleteTestClient(t.Context(), "alice"); err == nil {
		t.Error("a UID that is no UUID was taken")
	}
}

func TestDeletedTestClient(t *testing.T) {
	w := newFixture(t)
	c := w.Client("alice", alice, 5000)
	made := w.Create(w.Collection("r1", payments.Success, alice))
	for range 2 { // the second finds nothing to do
		if err := w.DeleteTestClient(t.Context(), c.UID); err != nil {
			t.Fatal(err)
		}
	}
	if sim, err := w.FindSIM(t.Context(), w.Sandbox.Tenant, alice); sim != nil || err != nil {
		t.Errorf("got %+v, %v", sim, err)
	}
	if got := w.Get(made.ID); got.SIMBalanceAfter == nil || *got.SIMBalanceAfter != 4000 {
		t.Errorf("its history has changed: %+v", got)
	}
	if err := w.DeleteTestClient(t.Context(), nobody); err != nil {
		t.Errorf("one that never was: %v", err)
	}
}

func TestChangedAccounts(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	w.Client("alice", alice, 5000)
	bob := w.Client("bob", "+250788000002", 5000)
	other.Client("carol", alice, 5000)
	sandbox, carols := sandboxes.AccountChange{
		Namespace: "team",
		Sandbox:   "checkout",
	}, sandboxes.AccountChange{
		Namespace:  "team",
		Sandbox:    "other",
		TestClient: "carol",
	}
	alices, bobs := sandbox, sandbox
	alices.TestClient, bobs.TestClient = "alice", "bob"
	cases := []struct {
		what string
		do   func()
		want []sandboxes.AccountChange
	}{
		{"nothing", func() {}, nil},
		{"a payment", func() { w.Create(w.Collection("booked", payments.Success, alice)) }, []sandboxes.AccountChange{sandbox, alices}},
		{"a payment that fails", func() { w.Create(w.Collection("failed", payments.PINInvalid, alice)) }, nil},
		{"a payment that waits", func() { w.Pending("waits", "+250788000002") }, nil},
		{"its settlement", func() { w.Settle() }, []sandboxes.AccountChange{sandbox, bobs}},
		{"an unknown payer", func() { w.Create(w.Collection("unknown", payments.Success, "+250788000009")) }, []sandboxes.AccountChange{sandbox}},
		{"an edited balance", func() { other.Client("carol", alice, 1) }, []sandboxes.AccountChange{carols}},
		{"an edited float", func() {
			w.Config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 2}
			w.Apply()
		}, []sandboxes.AccountChange{sandbox}},
		{"the same again", func() { w.Apply() }, nil},
		{"a test client that goes", func() {
			if err := w.DeleteTestClient(t.Context(), bob.UID); err != nil {
				t.Fatal(err)
			}
		}, nil},
	}
	for _, c := range cases {
		since := read[time.Time](w, "select clock_timestamp()")
		c.do()
		got, next, err := w.ChangedAccounts(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !got[i].ChangedAt.After(since) {
				t.Errorf("%s: changed at %s, before %s", c.what, got[i].ChangedAt, since)
			}
			got[i].ChangedAt = time.Time{}
		}
		slices.SortFunc(got, func(a, b sandboxes.AccountChange) int { return strings.Compare(a.TestClient, b.TestClient) })
		if len(got) == 0 {
			got = nil
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
		if now := read[time.Time](w, "select clock_timestamp()"); next.After(now) || next.Before(since.Add(-time.Minute)) {
			t.Errorf("%s: to be asked from %s, it is %s", c.what, next, now)
		}
	}
}

func TestChangedAccountsLeaveNothingOut(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	_, next, err := w.ChangedAccounts(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	// A change that had begun before, and was committed only after it was asked.
	w.Exec("update sims set changed_at = now() - interval '2 seconds'")
	got, _, err := w.ChangedAccounts(t.Context(), next)
	if err != nil || !slices.ContainsFunc(got, func(c sandboxes.AccountChange) bool { return c.TestClient == "alice" }) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestTestClientsOfANewSandbox are registered together with it, and not again.
func TestTestClientsOfANewSandbox(t *testing.T) {
	w := newFixture(t)
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	first, second := number(1, alice), number(2, "+250788000002")
	w.Config.TestClients = []sandboxes.TestClientConfig{first, second}
	for range 2 {
		if state, err := w.ApplySandbox(t.Context(), w.Config); err != nil || state.TestClients != 2 {
			t.Errorf("the sandbox has %d test clients, %v, want 2", state.TestClients, err)
		}
	}
	state, err := w.ApplyTestClient(t.Context(), w.Config.UID, first)
	if want := (sandboxes.TestClientState{Balance: 100}); err != nil || state != want {
		t.Errorf("the first one is %+v, %v, want %+v", state, err, want)
	}
	third := number(3, "+250788000003")
	state, err = w.ApplyTestClient(t.Context(), w.Config.UID, third)
	if want := (sandboxes.TestClientState{Balance: 100, New: true}); err != nil || state != want {
		t.Errorf("a third one is %+v, %v, want %+v", state, err, want)
	}
	w.Conserved()
}
