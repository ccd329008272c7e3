package ledger_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// order opens an order, and returns it if it was opened.
func (w *fixture) order(id string, token byte) *nativestore.Checkout {
	w.T.Helper()
	o := &nativestore.Checkout{
		Operator: payments.Orange, Reference: id, Token: sandboxes.KeyHash{31: token}, MadeWith: w.Key, Amount: 5, Sent: []byte(`{"a":1}`),
		Lifetime: 10 * time.Minute,
	}
	opened, err := w.OpenCheckout(w.T.Context(), w.Sandbox.Tenant, o)
	if err != nil {
		w.T.Fatal(err)
	}
	if !opened {
		return nil
	}
	return o
}

func (w *fixture) foundOrder(o *nativestore.Checkout) *nativestore.Checkout {
	w.T.Helper()
	found, err := w.FindCheckout(w.T.Context(), w.Sandbox.Tenant, o.Operator, o.Token)
	if err != nil {
		w.T.Fatal(err)
	}
	return found
}

func TestAnOrderIsOpenUntilItEnds(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	first := w.order("o-1", 1)
	got := w.foundOrder(first)
	if got.Reference != "o-1" || got.Amount != 5 || got.MadeWith != w.Key || string(got.Sent) != `{"a":1}` || got.Expired || got.Ended {
		t.Errorf("it is kept as %+v", got)
	}
	if w.order("o-1", 2) != nil {
		t.Error("an order with the id of an open one was opened")
	}
	if other.order("o-1", 2) == nil {
		t.Error("another sandbox cannot use the id")
	}
	if _, err := other.FindCheckout(t.Context(), other.Sandbox.Tenant, payments.Orange, first.Token); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("another sandbox finds it: %v", err)
	}
	if _, err := w.FindCheckout(t.Context(), w.Sandbox.Tenant, payments.MTN, first.Token); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("another operator finds it: %v", err)
	}
	first.Canceled = true
	err := w.EndCheckout(t.Context(), w.Sandbox.Tenant, first)
	if canceled := w.foundOrder(first); err != nil || !canceled.Ended || !canceled.Canceled {
		t.Errorf("it is not canceled: %v", err)
	}
	first.Canceled = false
	if err := w.EndCheckout(t.Context(), w.Sandbox.Tenant, first); err != nil || !w.foundOrder(first).Canceled {
		t.Errorf("a canceled order has ended otherwise: %v", err)
	}
	if _, err := w.TryCheckoutCode(t.Context(), w.Sandbox.Tenant, first); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a code was tried for an order that has ended: %v", err)
	}
	second := w.order("o-1", 3)
	if second == nil || w.foundOrder(second).Ended || w.foundOrder(second).Canceled {
		t.Fatal("the id of an order that has ended is not free")
	}
	if _, err := w.FindCheckout(t.Context(), w.Sandbox.Tenant, payments.Orange, first.Token); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("the former order is still there: %v", err)
	}
	w.Exec("update native_orders set expires_at = now() where tenant = $1", w.Sandbox.Tenant)
	if !w.foundOrder(second).Expired {
		t.Error("it has not expired")
	}
	if _, err := w.TryCheckoutCode(t.Context(), w.Sandbox.Tenant, second); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a code was tried for an order that has expired: %v", err)
	}
	if w.order("o-1", 4) == nil {
		t.Error("the id of an order that has expired is not free")
	}
}

// confirmed records the collection of an order, which its payer confirms.
func (w *fixture) confirmed(o *nativestore.Checkout, reference string) (payments.ID, error) {
	n := w.Collection(reference, payments.Pending, alice)
	n.RequestHash = ledger.NativeHash("webpayment")
	n.Optional.Native = &ledger.NativeRequest{Operation: "webpayment", Sent: o.Sent, Checkout: o}
	return n.Transaction.ID, w.CreateCollection(w.T.Context(), w.Sandbox.Tenant, n)
}

// An order is confirmed and its collection recorded, or neither: nothing can happen in between.
func TestAnOrderIsConfirmedWithItsCollection(t *testing.T) {
	w := newFixture(t)
	try := func(o *nativestore.Checkout) {
		t.Helper()
		if left, err := w.TryCheckoutCode(t.Context(), w.Sandbox.Tenant, o); err != nil || left != nativestore.MaxCheckoutCodes-1 {
			t.Errorf("%d codes are left of %+v, %v", left, o, err)
		}
	}
	o := w.order("o-1", 1)
	for range 2 { // a code that is given back is there again
		try(o)
		if err := w.GiveBackCheckoutCode(t.Context(), w.Sandbox.Tenant, o); err != nil {
			t.Fatal(err)
		}
	}
	try(o)
	if _, err := w.confirmed(o, "o-1"); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(w.GiveBackCheckoutCode(t.Context(), w.Sandbox.Tenant, o), w.EndCheckout(t.Context(), w.Sandbox.Tenant, o))
	if found := w.foundOrder(o); err != nil || found.Ended || found.Tried != 1 {
		t.Errorf("a confirmed order has changed: %+v, %v", found, err)
	}
	if _, err := w.TryCheckoutCode(t.Context(), w.Sandbox.Tenant, o); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a code was tried for a confirmed order: %v", err)
	}

	// Its collection is not recorded.
	o = w.order("o-2", 2)
	if _, err := w.confirmed(o, "o-1"); !errors.As(err, new(*ledger.ErrReferenceTaken)) {
		t.Errorf("a reference that is taken: %v", err)
	}
	try(o)
	if err := w.EndCheckout(t.Context(), w.Sandbox.Tenant, o); err != nil || !w.foundOrder(o).Ended {
		t.Errorf("it has not ended: %v", err)
	}

	// It has ended.
	id, err := w.confirmed(o, "o-2")
	if !errors.Is(err, ledger.ErrOrderEnded) {
		t.Errorf("an order that has ended: %v", err)
	}
	if _, err := w.GetTransaction(t.Context(), w.Sandbox.Tenant, id); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("its collection was recorded: %v", err)
	}
}

// An order that is confirmed and canceled at one time has a collection, or has ended.
func TestAnOrderHasOneEnd(t *testing.T) {
	w := newFixture(t)
	for i := range byte(20) {
		o := w.order(string('a'+rune(i)), i)
		var ending sync.WaitGroup
		ending.Go(func() {
			if err := w.EndCheckout(t.Context(), w.Sandbox.Tenant, o); err != nil {
				t.Error(err)
			}
		})
		_, err := w.confirmed(o, o.Reference)
		ending.Wait()
		if ended := errors.Is(err, ledger.ErrOrderEnded); w.foundOrder(o).Ended != ended || !ended && err != nil {
			t.Errorf("the order is %+v, and its collection %v", w.foundOrder(o), err)
		}
	}
}

// The list has the orders that wait for their payers, of those that were opened last.
func TestOpenOrdersAreListed(t *testing.T) {
	w := newFixture(t)
	w.beside("other").order("o-0", 0)
	orders := map[string]*nativestore.Checkout{}
	for i, id := range []string{"oldest", "open", "ended", "confirmed", "failed", "expired", "newest"} {
		orders[id] = w.order(id, byte(i))
		w.Exec("update native_orders set created_at = now() + $2 * interval '1 s' where tenant = $1 and order_id = $3", w.Sandbox.Tenant, i, id)
	}
	_, err := w.confirmed(orders["confirmed"], "confirmed")
	if err := errors.Join(err, w.EndCheckout(t.Context(), w.Sandbox.Tenant, orders["ended"])); err != nil {
		t.Fatal(err)
	}
	w.Exec("update native_orders set codes = $2 where tenant = $1 and order_id = 'failed'", w.Sandbox.Tenant, nativestore.MaxCheckoutCodes)
	w.Exec("update native_orders set expires_at = now() where tenant = $1 and order_id = 'expired'", w.Sandbox.Tenant)
	listed := func(newest int) string {
		t.Helper()
		open, err := w.ListOpenCheckouts(t.Context(), w.Sandbox.Tenant, payments.Orange, newest)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, o := range open {
			ids = append(ids, o.Reference)
			if o.Amount != 5 || string(o.Sent) != `{"a":1}` || o.ExpiresAt.IsZero() {
				t.Errorf("%s is listed as %+v", o.Reference, o)
			}
		}
		return strings.Join(ids, " ")
	}
	if all, newest := listed(10), listed(6); all != "newest open oldest" || newest != "newest open" {
		t.Errorf("the open orders are %q, and %q of the newest six", all, newest)
	}
	w.Exec("update native_orders set made_with = 'gone' where tenant = $1", w.Sandbox.Tenant)
	if got := listed(10); got != "" {
		t.Errorf("orders of a key that has ended wait: %q", got)
	}
}

// Callers at one time try five codes together, and none beyond.
func TestAnOrderHasFiveCodes(t *testing.T) {
	w := newFixture(t)
	o := w.order("o-1", 1)
	var callers sync.WaitGroup
	var tried atomic.Int64
	for range 20 {
		callers.Go(func() {
			left, err := w.TryCheckoutCode(t.Context(), w.Sandbox.Tenant, o)
			switch {
			case err == nil && left >= 0:
				tried.Add(1)
			case !errors.Is(err, ledger.ErrNotFound):
				t.Errorf("%d codes are left, %v", left, err)
			}
		})
	}
	callers.Wait()
	if tried.Load() != nativestore.MaxCheckoutCodes || !w.foundOrder(o).Ended {
		t.Errorf("%d codes were tried, and the order is %+v", tried.Load(), w.foundOrder(o))
	}
}

func TestASandboxKeepsItsNewestOrders(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	for tenant, n := range map[int64]int{w.Sandbox.Tenant: nativestore.MaxCheckouts + 150, other.Sandbox.Tenant: 3} {
		w.Exec(`insert into native_orders (tenant, operator, order_id, token_hash, made_with, amount, sent, expires_at, created_at)
			select $1, 'orange', i::text, sha256(i::text::bytea), '', 1, '{}', now(), now() - interval '1 hour' - ($2 - i) * interval '1 ms'
			from generate_series(1, $2::integer) i`, tenant, n)
	}
	for i := range byte(3) {
		if w.order("new-"+string('a'+rune(i)), i) == nil {
			t.Fatal("it was not opened")
		}
	}
	count := func(f *fixture, and string) int {
		return w.Count("select count(*) from native_orders where tenant = $1"+and, f.Sandbox.Tenant)
	}
	if all, oldest, others := count(w, ""), count(w, " and order_id = '1'"), count(other, ""); all != nativestore.MaxCheckouts || oldest != 0 || others != 3 {
		t.Errorf("it has %d orders, %d of the oldest, and the other sandbox has %d", all, oldest, others)
	}
	w.Exec("update native_orders set created_at = now() - interval '31 days' where order_id ~ '^[0-9]+$'")
	if err := w.RemoveOldUsage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := w.Count("select count(*) from native_orders"); left != 3 {
		t.Errorf("after 30 days %d orders are left, want the 3 new ones", left)
	}
}

// A code is six digits, differs between phones, and changes with each movement of the balance.
func TestACodePaysOnce(t *testing.T) {
	w := newFixture(t)
	const number = "+250788000001"
	w.Client("alice", number, 5000)
	code := func() string {
		t.Helper()
		client, err := w.FindTestClient(t.Context(), w.Sandbox.Tenant, number)
		if err != nil || len(client.Code) != 6 {
			t.Fatalf("the code is %q, %v", client.Code, err)
		}
		return client.Code
	}
	before := code()
	if code() != before {
		t.Error("it changes by itself")
	}
	w.Exec("update sims set movements = movements + 1 where tenant = $1", w.Sandbox.Tenant)
	if code() == before {
		t.Error("it stays after a movement")
	}
}
