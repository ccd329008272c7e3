package ledger_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const stranger = "+250788000999" // whom the sandbox does not know

func (w *fixture) forwards(lease time.Duration) []ledger.Forward {
	w.T.Helper()
	due, err := w.TenantsToForward(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	var grants []queues.SlotGrant
	for _, one := range due {
		grants = append(grants, queues.SlotGrant{DueTenant: one, Slots: 1000})
	}
	leased, _, err := w.LeaseDueForwards(w.T.Context(), grants, lease)
	if err != nil {
		w.T.Fatal(err)
	}
	return leased
}

func (w *fixture) forward() *ledger.Forward {
	w.T.Helper()
	leased := w.forwards(time.Hour)
	if len(leased) != 1 {
		w.T.Fatalf("%d collections are to be forwarded, want 1", len(leased))
	}
	return &leased[0]
}

// settleForward reports whether the outcome was kept.
func (w *fixture) settleForward(f *ledger.Forward, o ledger.OperatorResult) bool {
	w.T.Helper()
	kept, err := w.SettleForward(w.T.Context(), f, o)
	if err != nil {
		w.T.Fatal(err)
	}
	return kept
}

func (w *fixture) deferForward(f *ledger.Forward, d ledger.Deferred) bool {
	w.T.Helper()
	kept, err := w.DeferForward(w.T.Context(), f, d)
	if err != nil {
		w.T.Fatal(err)
	}
	return kept
}

func TestOnlyStrangersAreForwarded(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.Pending("registered", alice)
	w.Create(w.Collection("failed", payments.UnknownMSISDN, stranger))
	w.Create(w.Collection("booked", payments.Success, stranger))
	made := w.Pending("forwarded", stranger)
	if counts := w.Settle(); counts.Claimed != 1 {
		t.Errorf("%d were settled, want the registered one", counts.Claimed)
	}
	f := w.forward()
	if f.Transaction.ID != made.ID || f.Tenant != w.Sandbox.Tenant || f.OrganizationID != w.Sandbox.OrganizationID {
		t.Errorf("got %+v", f)
	}
	if f.Accepted || f.Expired || f.Failures != 0 || f.Age < 0 || f.Age > time.Minute || f.AnswerAfter != time.Second ||
		f.ExpireAfter != time.Hour {
		t.Errorf("got %+v", f)
	}
	w.Conserved()
}

func TestForwardedCollectionIsSettledOnce(t *testing.T) {
	for name, c := range map[string]struct {
		outcome ledger.OperatorResult
		earned  int64
	}{
		"success": {ledger.OperatorResult{Status: payments.Success, NativeID: "N1", NativeRaw: []byte(`{"_simulated":true, "b":1,"a":"\u0000"}`)}, 985},
		"failure": {ledger.OperatorResult{Status: payments.InsufficientFunds}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			made := w.Pending("r1", stranger)
			f := w.forward()
			if !w.settleForward(f, c.outcome) {
				t.Fatal("the outcome was not kept")
			}
			if w.settleForward(f, c.outcome) || w.deferForward(f, ledger.Deferred{}) {
				t.Error("an outcome was kept twice")
			}
			got := w.Get(made.ID)
			if got.Status != c.outcome.Status || got.NativeID != c.outcome.NativeID || string(got.NativeRaw) != string(c.outcome.NativeRaw) ||
				got.CompletedAt == nil {
				t.Errorf("got %+v", got)
			}
			if (got.MerchantBalanceAfter != nil) != (c.earned > 0) || got.SIMBalanceAfter != nil {
				t.Errorf("balances after it: %v, %v", got.MerchantBalanceAfter, got.SIMBalanceAfter)
			}
			if balance := w.Apply().Balances[payments.RWF]; balance != 1000+c.earned {
				t.Errorf("the merchant has %d", balance)
			}
			if event := w.leaseOne(ledgertest.Body()); event.ID != made.ID || event.Transaction.NativeID != c.outcome.NativeID {
				t.Errorf("got %+v", event)
			}
			if left := w.forwards(time.Hour); len(left) != 0 {
				t.Errorf("%d are left to forward", len(left))
			}
			w.Conserved()
		})
	}
}

func TestLeaseOfAForward(t *testing.T) {
	w := newFixture(t)
	w.Pending("r1", stranger)
	first := w.forward()
	if again := w.forwards(time.Hour); len(again) != 0 {
		t.Fatal("two have the lease")
	}
	w.Exec("update transactions set due_at = now()") // the lease ends
	second := w.forward()
	if second.Fence <= first.Fence {
		t.Errorf("fences %d, %d", first.Fence, second.Fence)
	}
	if w.settleForward(first, ledger.OperatorResult{Status: payments.Success}) || w.deferForward(first, ledger.Deferred{}) {
		t.Error("a lost lease was good for something")
	}
	if !w.deferForward(second, ledger.Deferred{Accepted: true, NativeID: "N1", Failures: 2, After: 0}) {
		t.Error("the lease was lost")
	}
	third := w.forward()
	if !third.Accepted || third.Failures != 2 || third.Transaction.NativeID != "N1" || third.Expired {
		t.Errorf("got %+v", third)
	}
	w.deferForward(third, ledger.Deferred{NativeID: "N2", After: 0}) // an acceptance and the first id stay
	fourth := w.forward()
	if !fourth.Accepted || fourth.Failures != 0 || fourth.Transaction.NativeID != "N1" {
		t.Errorf("got %+v", fourth)
	}
	w.deferForward(fourth, ledger.Deferred{After: time.Minute})
	if early := w.forwards(time.Hour); len(early) != 0 {
		t.Error("it is due before its time")
	}
	w.Conserved()
}

func TestForwardIsDueWhenItExpires(t *testing.T) {
	w := newFixture(t)
	w.Pending("r1", stranger)
	w.deferForward(w.forward(), ledger.Deferred{Accepted: true, After: 24 * time.Hour})
	if !read[bool](w, "select due_at = expires_at from transactions") {
		t.Error("it is due after it expired")
	}
	w.Exec("update transactions set due_at = now() - interval '1 hour', expires_at = now() - interval '1 hour'")
	if f := w.forward(); !f.Expired {
		t.Error("its time did not run out")
	}
}

// An attempt is known to whoever takes the collection next, and is begun by nobody who has lost the lease.
func TestForwardAttemptIsWrittenDownBeforeItIsMade(t *testing.T) {
	w := newFixture(t)
	w.Pending("r1", stranger)
	begin := func(f *ledger.Forward) bool {
		t.Helper()
		begun, err := w.BeginForwardAttempt(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		return begun
	}
	first := w.forward()
	if first.Attempts != 0 || !begin(first) {
		t.Errorf("%d attempts before the first", first.Attempts)
	}
	w.Exec("update transactions set due_at = now()") // the lease ends, as it does when its worker dies
	second := w.forward()
	if second.Attempts != 1 || second.Failures != 0 || begin(first) || !begin(second) {
		t.Errorf("got %+v", second)
	}
	w.deferForward(second, ledger.Deferred{Failures: 1})
	if begin(second) {
		t.Error("an attempt was begun without a lease")
	}
	third := w.forward()
	if third.Attempts != 2 {
		t.Errorf("got %+v", third)
	}
	w.settleForward(third, ledger.OperatorResult{Status: payments.Success})
	if begin(third) {
		t.Error("an attempt was begun after the end")
	}
}

// A worker that comes late forwards what was due in time.
func TestLateWorkerForwards(t *testing.T) {
	w := newFixture(t)
	w.Pending("r1", stranger)
	w.Exec(
		"update transactions set due_at = now() - interval '2 hours', expires_at = now() - interval '1 hour', created_at = now() - interval '2 hours'",
	)
	if f := w.forward(); f.Expired || f.Age < 2*time.Hour {
		t.Errorf("got %+v", f)
	}
}

func TestConcurrentForwardsAreDisjoint(t *testing.T) {
	w := newFixture(t)
	const total = 200
	w.Multiply(w.Pending("r", stranger), total-1)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[payments.ID]int{}
	for range 6 {
		wg.Go(func() {
			for {
				leased, _, err := w.LeaseDueForwards(context.Background(), w.grant(7), time.Hour)
				if err != nil {
					t.Error(err)
				}
				if len(leased) == 0 {
					return
				}
				for i := range leased {
					mu.Lock()
					seen[leased[i].Transaction.ID]++
					mu.Unlock()
					kept, err := w.SettleForward(context.Background(), &leased[i], ledger.OperatorResult{Status: payments.Success})
					if !kept || err != nil {
						t.Errorf("kept %t, %v", kept, err)
					}
				}
			}
		})
	}
	wg.Wait()
	left := w.Count("select count(*) from transactions where due_at <= now()")
	if len(seen)+left != total || w.Apply().Balances[payments.RWF] != 1000+985*int64(len(seen)) {
		t.Errorf("%d were settled, %d left", len(seen), left)
	}
	w.Conserved()
}

func TestForwardCarriesTheStoresCredentials(t *testing.T) {
	credentials := sandboxes.OperatorCredentials{ClientID: "id", ClientSecret: "hush", SubscriptionKey: "key"}
	access := sandboxes.OperatorAccess{
		Store:       "shop",
		Operator:    payments.MTN,
		Country:     payments.Rwanda,
		BaseURL:     "https://mtn.example",
		Credentials: &credentials,
	}
	for name, c := range map[string]struct {
		access sandboxes.OperatorAccess
		spoil  string
		want   *sandboxes.OperatorCredentials
		url    string
		reason error
	}{
		"its own":             {access: access, want: &credentials, url: "https://mtn.example"},
		"none":                {access: sandboxes.OperatorAccess{Store: "kiosk", Operator: payments.MTN, Country: payments.Rwanda}},
		"of another operator": {access: sandboxes.OperatorAccess{Store: "shop", Operator: payments.Moov, Country: payments.Rwanda, Credentials: &credentials}},
		"in another country":  {access: sandboxes.OperatorAccess{Store: "shop", Operator: payments.MTN, Country: payments.Benin, Credentials: &credentials}},
		"missing": {
			access: sandboxes.OperatorAccess{Store: "shop", Operator: payments.MTN, Country: payments.Rwanda},
			reason: ledger.ErrCredentialsMissing,
		},
		"of another sandbox": {access: access, spoil: "update operator_credentials set sealed = decode(repeat('ab', 60), 'hex')", url: "https://mtn.example", reason: ledger.ErrCredentialsUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, func(config *sandboxes.Config) {
				config.Stores = []string{"shop", "kiosk"}
				config.Operators = []sandboxes.OperatorAccess{c.access}
			})
			w.Pending("r1", stranger)
			if c.spoil != "" {
				w.Exec(c.spoil)
			}
			f := w.forward()
			if diff := cmp.Diff(c.want, f.Credentials); diff != "" || f.BaseURL != c.url || !errors.Is(f.CredentialsReason, c.reason) {
				t.Errorf("got %v at %q, %v", f.Credentials, f.BaseURL, f.CredentialsReason)
			}
		})
	}
}

func TestOperatorCredentialsFollowTheResource(t *testing.T) {
	credentials := func(secret string) *sandboxes.OperatorCredentials {
		return &sandboxes.OperatorCredentials{ClientID: "id", ClientSecret: secret}
	}
	at := func(slug string, c *sandboxes.OperatorCredentials) sandboxes.OperatorAccess {
		return sandboxes.OperatorAccess{Store: slug, Operator: payments.Airtel, Country: payments.Rwanda, Credentials: c}
	}
	w := newFixture(t, func(c *sandboxes.Config) { c.Stores = []string{"shop", "kiosk"} })
	rows := func() []string {
		return read[[]string](
			w,
			"select coalesce(array_agg(store || ' ' || (sealed is not null) || ' ' || base_url order by store), '{}') from operator_credentials",
		)
	}
	elsewhere := at("shop", credentials("a"))
	elsewhere.BaseURL = "https://airtel.example"
	for _, step := range []struct {
		want []sandboxes.OperatorAccess
		rows []string
	}{
		{[]sandboxes.OperatorAccess{at("shop", credentials("a")), at("kiosk", nil)}, []string{"kiosk false ", "shop true "}},
		{[]sandboxes.OperatorAccess{at("shop", credentials("b")), at("kiosk", credentials("b"))}, []string{"kiosk true ", "shop true "}},
		{[]sandboxes.OperatorAccess{elsewhere}, []string{"shop true https://airtel.example"}},
		{[]sandboxes.OperatorAccess{at("shop", nil)}, []string{"shop false "}},
		{nil, []string{}},
	} {
		before := rows()
		w.Config.Operators = step.want
		w.Apply()
		if diff := cmp.Diff(step.rows, rows()); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", before, diff)
		}
		unchanged := w.Written()
		w.Apply()
		if diff := cmp.Diff(unchanged, w.Written()); diff != "" {
			t.Errorf("the same again wrote (-before +after):\n%s", diff)
		}
	}
}

func TestOperatorCredentialsStaySecret(t *testing.T) {
	c := sandboxes.OperatorCredentials{ClientID: "the-id", ClientSecret: "the-secret"}
	w := newFixture(t, func(config *sandboxes.Config) {
		config.Operators = []sandboxes.OperatorAccess{{Store: "shop", Operator: payments.Airtel, Country: payments.Rwanda, Credentials: &c}}
	})
	printed := []string{
		c.String(),
		c.GoString(),
		read[string](w, "select string_agg(encode(sealed, 'escape') || o::text, '') from operator_credentials o"),
	}
	if slices.ContainsFunc(printed, func(s string) bool { return strings.Contains(s, "the-") }) {
		t.Errorf("printed: %v", printed)
	}
}

func TestForwardingWithoutADatabase(t *testing.T) {
	s, err := ledgertest.OpenWith("postgres://127.0.0.1:1/nothing", ledgertest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := &ledger.Forward{Transaction: &payments.Transaction{}}
	_, _, leasing := s.LeaseDueForwards(t.Context(), make([]queues.SlotGrant, 1), time.Minute)
	_, settling := s.SettleForward(t.Context(), f, ledger.OperatorResult{Status: payments.Success})
	_, deferring := s.DeferForward(t.Context(), f, ledger.Deferred{})
	_, beginning := s.BeginForwardAttempt(t.Context(), f)
	for _, err := range []error{leasing, settling, deferring, beginning} {
		if !errors.Is(err, postgres.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
	}
}
