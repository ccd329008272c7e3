package httpapi_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// quota sets the sandbox's quota, -1 for none.
func (w *fixture) quota(n int64) {
	w.t.Helper()
	w.config.MonthlyQuota = &n
	if n < 0 {
		w.config.MonthlyQuota = nil
	}
	w.sandbox(w.config, key)
}

// used is what the sandbox has used of its quota in the present month.
func (w *fixture) used() int64 {
	w.t.Helper()
	return read[int64](w, `select coalesce(sum(used), 0)::bigint from quota_usage join organizations using (tenant)
		where name = 'checkout' and month = date_trunc('month', now() at time zone 'utc')`)
}

func TestQuotaCountsWhatIsRecorded(t *testing.T) {
	w := newFixture(t)
	w.client("alice", alice, 50_000)
	w.client("blocked", "+250788000002", 0, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	w.quota(1000)
	parent := w.paid("parent") // the first one
	counted := int64(1)
	does := func(name string, more int64, call func() response) {
		t.Helper()
		got := call()
		counted += more
		if n := w.used(); n != counted {
			t.Errorf("%s: %d are counted, want %d; answered %d %s", name, n, counted, got.status, got.raw)
			counted = n
		}
	}
	pay := func(reference string, change ...object) func() response {
		return func() response { return w.call("POST", "/v1/payments", payment(reference, change...)) }
	}
	refund := func(id string, body any) func() response { return func() response { return w.refund(id, body) } }
	disburse := func(reference string, change ...object) func() response {
		return func() response { return w.disburse(disbursement(reference, change...)) }
	}
	does("a pending payment", 1, pay("p1"))
	does("a successful payment", 1, pay("p2", object{"scenario": "success"}))
	does("a failed payment", 1, pay("p3", object{"scenario": "maintenance"}))
	does("a payment of an unknown number", 1, pay("p4", object{"msisdn": "+250788999999"}))
	does("a refund", 1, refund(parent, object{"amount": 10, "reference": "f1"}))
	does("a refund without a reference", 1, refund(parent, object{"amount": 10}))
	does("a disbursement", 1, disburse("d1"))
	does("a disbursement to a blocked SIM", 1, disburse("d2", object{"msisdn": "+250788000002"}))
	does("a disbursement beyond the float", 1, disburse("d3", object{"amount": 999_999}))
	w.exec("update floats set balance = 0")
	does("a refund beyond the float", 1, refund(parent, object{"amount": 10, "reference": "f2"}))

	does("a payment, repeated", 0, pay("p1"))
	does("a refund, repeated", 0, refund(parent, object{"amount": 10, "reference": "f1"}))
	does("a disbursement, repeated", 0, disburse("d3", object{"amount": 999_999}))
	does("a payment with a reference that is taken", 0, pay("p1", object{"amount": 7}))
	does("a refund with a reference that is taken", 0, refund(parent, object{"amount": 9, "reference": "f1"}))
	does("a disbursement with a reference that is taken", 0, disburse("p1"))
	does("a payment of nothing", 0, pay("x", object{"amount": 0}))
	does("a payment in an unknown store", 0, pay("x", object{"application": "kiosk"}))
	does("a payment in no environment", 0, pay("x", object{"operator": "moov"}))
	does("a disbursement in no environment", 0, disburse("x", object{"operator": "moov"}))
	does("a disbursement of another currency", 0, disburse("x", object{"currency": "XOF"}))
	does("a refund of too much", 0, refund(parent, object{"amount": 981}))
	does("a refund of an unknown payment", 0, refund("TX_00000000000000000000000000", nil))
	does("a refund of a refund", 0, func() response { return w.refund(w.page("reference=f1").each("id")[0], nil) })
	does("a read", 0, func() response { return w.call("GET", "/v1/payments/"+parent, nil) })
	does("a list", 0, func() response { return w.page("") })
	does("another sandbox's payment", 0, func() response {
		return w.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"}), withKey(otherKey))
	})
	if n := read[int64](w, "select count(*) from quota_usage"); n != 1 {
		t.Errorf("%d quotas are counted, and one sandbox has one", n)
	}
}

func TestQuotaIsUsedUp(t *testing.T) {
	w := newFixture(t)
	w.client("alice", alice, 50_000)
	w.quota(3)
	parent := w.paid("p1")
	w.refund(parent, object{"amount": 1, "reference": "f1"}).is(t, 201, "SUCCESS")
	w.disburse(disbursement("d1")).is(t, 200, "SUCCESS")
	before, float := w.transactions(), w.float("RWF")
	refused := map[string]func() response{
		"a payment that would wait":    func() response { return w.call("POST", "/v1/payments", payment("x")) },
		"a payment that would succeed": func() response { return w.call("POST", "/v1/payments", payment("x", object{"scenario": "success"})) },
		"a payment that would fail":    func() response { return w.call("POST", "/v1/payments", payment("x", object{"scenario": "blocked"})) },
		"a refund":                     func() response { return w.refund(parent, object{"amount": 1, "reference": "x"}) },
		"a refund of everything":       func() response { return w.refund(parent, nil) },
		"a disbursement":               func() response { return w.disburse(disbursement("x")) },
		"a disbursement that fails":    func() response { return w.disburse(disbursement("x", object{"msisdn": "+250788999999"})) },
		"a disbursement of too much":   func() response { return w.disburse(disbursement("", object{"reference": nil, "amount": 999_999})) },
	}
	for name, call := range refused {
		got := call()
		got.is(t, 402, "quota_exceeded")
		if diff := cmp.Diff(any(object{"monthlyTransactions": 3.0}), got.body["detail"]); diff != "" || got.body["message"] == "" {
			t.Errorf("%s: %s: detail (-want +got):\n%s", name, got.raw, diff)
		}
	}
	if w.transactions() != before || w.float("RWF") != float || w.used() != 3 {
		t.Errorf("%d transactions were recorded, %d moved, %d are counted", w.transactions()-before, w.float("RWF")-float, w.used())
	}
	// The checks before the quota come before it, and what was made is not made again.
	w.call("POST", "/v1/payments", payment("x", object{"application": "kiosk"})).is(t, 404, "not_found")
	w.disburse(disbursement("x", object{"operator": "moov"})).is(t, 404, "env_not_found")
	w.refund("TX_00000000000000000000000000", nil).is(t, 404, "not_found")
	w.disburse(disbursement("d1")).is(t, 200, "SUCCESS")
	w.refund(parent, object{"amount": 1, "reference": "f1"}).is(t, 200, "SUCCESS")
	w.call("POST", "/v1/payments", payment("f1")).is(t, 409, "duplicate_reference")
	w.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"}), withKey(otherKey)).is(t, 201, "SUCCESS")

	w.quota(4)
	w.refund(parent, object{"amount": 1}).is(t, 201, "SUCCESS")
	w.disburse(disbursement("x")).is(t, 402, "quota_exceeded")
	w.quota(2)
	got := w.disburse(disbursement("x"))
	got.is(t, 402, "quota_exceeded")
	if diff := cmp.Diff(any(object{"monthlyTransactions": 2.0}), got.body["detail"]); diff != "" {
		t.Errorf("detail of a quota that was lowered (-want +got):\n%s", diff)
	}
	w.exec("update quota_usage set month = month - interval '1 month'") // a new one begins
	for i := range 2 {
		w.disburse(disbursement(fmt.Sprint("next", i))).is(t, 200, "SUCCESS")
	}
	w.disburse(disbursement("x")).is(t, 402, "quota_exceeded")
	w.quota(-1)
	w.disburse(disbursement("x")).is(t, 200, "SUCCESS")
	if w.used() != 2 {
		t.Errorf("%d are counted while there is no quota", w.used()-2)
	}
	w.conserved()
}

func TestQuotaIsExactUnderConcurrency(t *testing.T) {
	w := newFixture(t)
	w.client("alice", alice, 50_000)
	w.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 50_000}
	w.sandbox(w.config, key)
	parent := w.paid("parent")
	for name, c := range map[string]struct {
		call func(i int) response
		made string
	}{
		"payments that wait": {func(i int) response { return w.call("POST", "/v1/payments", payment(fmt.Sprint("w", i))) }, "201 PENDING"},
		"payments that succeed": {func(i int) response {
			return w.call("POST", "/v1/payments", payment(fmt.Sprint("s", i), object{"scenario": "success"}))
		}, "201 SUCCESS"},
		"refunds":       {func(i int) response { return w.refund(parent, object{"amount": 1, "reference": fmt.Sprint("f", i)}) }, "201 SUCCESS"},
		"disbursements": {func(i int) response { return w.disburse(disbursement(fmt.Sprint("d", i))) }, "200 SUCCESS"},
	} {
		t.Run(name, func(t *testing.T) {
			w.exec("delete from quota_usage")
			w.quota(10)
			before := w.transactions()
			if diff := cmp.Diff(map[string]int{c.made: 10, "402 quota_exceeded": 22}, w.atOnce(32, c.call)); diff != "" {
				t.Errorf("32 with 10 left (-want +got):\n%s", diff)
			}
			if made := w.transactions() - before; made != 10 || w.used() != 10 {
				t.Errorf("%d were recorded, and %d counted", made, w.used())
			}
		})
	}
	w.conserved()
}

func TestQuotaOfConcurrentRepetitionsAndRefusals(t *testing.T) {
	w := newFixture(t)
	w.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 50_000}
	w.quota(100)
	parent := w.paid("parent")
	counts := w.atOnce(30, func(i int) response { return w.refund(parent, object{"amount": 100, "reference": fmt.Sprint("f", i)}) })
	if diff := cmp.Diff(map[string]int{"201 SUCCESS": 10, "422 exceeds_refundable": 20}, counts); diff != "" {
		t.Errorf("refunds of a tenth (-want +got):\n%s", diff)
	}
	if w.used() != 11 {
		t.Errorf("%d are counted, want the payment and 10 refunds", w.used())
	}
	counts = w.atOnce(32, func(int) response {
		return w.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"}))
	})
	if diff := cmp.Diff(map[string]int{"201 SUCCESS": 1, "200 SUCCESS": 31}, counts); diff != "" {
		t.Errorf("32 of one reference (-want +got):\n%s", diff)
	}
	if w.used() != 12 {
		t.Errorf("%d are counted, want 12", w.used())
	}
}
