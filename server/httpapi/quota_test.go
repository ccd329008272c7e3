package httpapi_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// quota sets the sandbox's quota, -1 for none.
func (f *fixture) quota(n int64) {
	f.t.Helper()
	f.config.MonthlyQuota = &n
	if n < 0 {
		f.config.MonthlyQuota = nil
	}
	f.sandbox(f.config, key)
}

// used is what the sandbox has used of its quota in the present month.
func (f *fixture) used() int64 {
	f.t.Helper()
	return read[int64](f, `select coalesce(sum(used), 0)::bigint from quota_usage join organizations using (tenant)
		where name = 'checkout' and month = date_trunc('month', now() at time zone 'utc')`)
}

func TestQuotaCountsWhatIsRecorded(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	f.client("blocked", "+250788000002", 0, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	f.quota(1000)
	parent := f.paid("parent") // the first one
	counted := int64(1)
	does := func(name string, more int64, call func() response) {
		t.Helper()
		got := call()
		counted += more
		if n := f.used(); n != counted {
			t.Errorf("%s: %d are counted, want %d; answered %d %s", name, n, counted, got.status, got.raw)
			counted = n
		}
	}
	pay := func(reference string, change ...object) func() response {
		return func() response { return f.call("POST", "/v1/payments", payment(reference, change...)) }
	}
	refund := func(id string, body any) func() response { return func() response { return f.refund(id, body) } }
	disburse := func(reference string, change ...object) func() response {
		return func() response { return f.disburse(disbursement(reference, change...)) }
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
	f.exec("update floats set balance = 0")
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
	does("a refund of a refund", 0, func() response { return f.refund(f.page("reference=f1").each("id")[0], nil) })
	does("a read", 0, func() response { return f.call("GET", "/v1/payments/"+parent, nil) })
	does("a list", 0, func() response { return f.page("") })
	does("another sandbox's payment", 0, func() response {
		return f.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"}), withKey(otherKey))
	})
	if n := read[int64](f, "select count(*) from quota_usage"); n != 1 {
		t.Errorf("%d quotas are counted, and one sandbox has one", n)
	}
}

func TestQuotaIsUsedUp(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	f.quota(3)
	parent := f.paid("p1")
	f.refund(parent, object{"amount": 1, "reference": "f1"}).is(t, 201, "SUCCESS")
	f.disburse(disbursement("d1")).is(t, 200, "SUCCESS")
	before, float := f.transactions(), f.float("RWF")
	refused := map[string]func() response{
		"a payment that would wait":    func() response { return f.call("POST", "/v1/payments", payment("x")) },
		"a payment that would succeed": func() response { return f.call("POST", "/v1/payments", payment("x", object{"scenario": "success"})) },
		"a payment that would fail":    func() response { return f.call("POST", "/v1/payments", payment("x", object{"scenario": "blocked"})) },
		"a refund":                     func() response { return f.refund(parent, object{"amount": 1, "reference": "x"}) },
		"a refund of everything":       func() response { return f.refund(parent, nil) },
		"a disbursement":               func() response { return f.disburse(disbursement("x")) },
		"a disbursement that fails":    func() response { return f.disburse(disbursement("x", object{"msisdn": "+250788999999"})) },
		"a disbursement of too much":   func() response { return f.disburse(disbursement("", object{"reference": nil, "amount": 999_999})) },
	}
	for name, call := range refused {
		got := call()
		got.is(t, 402, "quota_exceeded")
		if diff := cmp.Diff(any(object{"monthlyTransactions": 3.0}), got.body["detail"]); diff != "" || got.body["message"] == "" {
			t.Errorf("%s: %s: detail (-want +got):\n%s", name, got.raw, diff)
		}
	}
	if f.transactions() != before || f.float("RWF") != float || f.used() != 3 {
		t.Errorf("%d transactions were recorded, %d moved, %d are counted", f.transactions()-before, f.float("RWF")-float, f.used())
	}
	// The checks before the quota come before it, and what was made is not made again.
	f.call("POST", "/v1/payments", payment("x", object{"application": "kiosk"})).is(t, 404, "not_found")
	f.disburse(disbursement("x", object{"operator": "moov"})).is(t, 404, "env_not_found")
	f.refund("TX_00000000000000000000000000", nil).is(t, 404, "not_found")
	f.disburse(disbursement("d1")).is(t, 200, "SUCCESS")
	f.refund(parent, object{"amount": 1, "reference": "f1"}).is(t, 200, "SUCCESS")
	f.call("POST", "/v1/payments", payment("f1")).is(t, 409, "duplicate_reference")
	f.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"}), withKey(otherKey)).is(t, 201, "SUCCESS")

	f.quota(4)
	f.refund(parent, object{"amount": 1}).is(t, 201, "SUCCESS")
	f.disburse(disbursement("x")).is(t, 402, "quota_exceeded")
	f.quota(2)
	got := f.disburse(disbursement("x"))
	got.is(t, 402, "quota_exceeded")
	if diff := cmp.Diff(any(object{"monthlyTransactions": 2.0}), got.body["detail"]); diff != "" {
		t.Errorf("detail of a quota that was lowered (-want +got):\n%s", diff)
	}
	f.exec("update quota_usage set month = month - interval '1 month'") // a new one begins
	for i := range 2 {
		f.disburse(disbursement(fmt.Sprint("next", i))).is(t, 200, "SUCCESS")
	}
	f.disburse(disbursement("x")).is(t, 402, "quota_exceeded")
	f.quota(-1)
	f.disburse(disbursement("x")).is(t, 200, "SUCCESS")
	if f.used() != 2 {
		t.Errorf("%d are counted while there is no quota", f.used()-2)
	}
	f.conserved()
}

func TestQuotaIsExactUnderConcurrency(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 50_000}
	f.sandbox(f.config, key)
	parent := f.paid("parent")
	for name, c := range map[string]struct {
		call func(i int) response
		made string
	}{
		"payments that wait": {func(i int) response { return f.call("POST", "/v1/payments", payment(fmt.Sprint("w", i))) }, "201 PENDING"},
		"payments that succeed": {func(i int) response {
			return f.call("POST", "/v1/payments", payment(fmt.Sprint("s", i), object{"scenario": "success"}))
		}, "201 SUCCESS"},
		"refunds":       {func(i int) response { return f.refund(parent, object{"amount": 1, "reference": fmt.Sprint("f", i)}) }, "201 SUCCESS"},
		"disbursements": {func(i int) response { return f.disburse(disbursement(fmt.Sprint("d", i))) }, "200 SUCCESS"},
	} {
		t.Run(name, func(t *testing.T) {
			f.exec("delete from quota_usage")
			f.quota(10)
			before := f.transactions()
			if diff := cmp.Diff(map[string]int{c.made: 10, "402 quota_exceeded": 22}, f.atOnce(32, c.call)); diff != "" {
				t.Errorf("32 with 10 left (-want +got):\n%s", diff)
			}
			if made := f.transactions() - before; made != 10 || f.used() != 10 {
				t.Errorf("%d were recorded, and %d counted", made, f.used())
			}
		})
	}
	f.conserved()
}

func TestQuotaOfConcurrentRepetitionsAndRefusals(t *testing.T) {
	f := newFixture(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 50_000}
	f.quota(100)
	parent := f.paid("parent")
	counts := f.atOnce(30, func(i int) response { return f.refund(parent, object{"amount": 100, "reference": fmt.Sprint("f", i)}) })
	if diff := cmp.Diff(map[string]int{"201 SUCCESS": 10, "422 exceeds_refundable": 20}, counts); diff != "" {
		t.Errorf("refunds of a tenth (-want +got):\n%s", diff)
	}
	if f.used() != 11 {
		t.Errorf("%d are counted, want the payment and 10 refunds", f.used())
	}
	counts = f.atOnce(32, func(int) response {
		return f.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"}))
	})
	if diff := cmp.Diff(map[string]int{"201 SUCCESS": 1, "200 SUCCESS": 31}, counts); diff != "" {
		t.Errorf("32 of one reference (-want +got):\n%s", diff)
	}
	if f.used() != 12 {
		t.Errorf("%d are counted, want 12", f.used())
	}
}
