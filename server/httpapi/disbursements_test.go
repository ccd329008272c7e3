package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// disbursement is a valid request for 100 RWF; changes replace fields, and nil removes one.
func disbursement(reference string, changes ...object) object {
	body := object{"amount": 100, "operator": "mtn", "country": "RW"}
	return payment(reference, append([]object{body}, changes...)...)
}

func (f *fixture) disburse(body any, change ...func(*http.Request)) response {
	f.t.Helper()
	return f.call("POST", "/v1/disbursements", body, change...)
}

func TestDisbursementOutcomes(t *testing.T) {
	f := newFixture(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 1000, payments.XOF: 1000}
	f.sandbox(f.config, key)
	f.client("alice", alice, 50)
	f.client("blocked", "+250788000002", 70, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	f.client("abroad", "+250788000004", 90, func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = payments.Orange, "CI" })
	abroad := object{"msisdn": "+250788000004", "operator": "orange", "country": "CI", "currency": "CFA"}
	through := object{"msisdn": "+2250700000001", "operator": "orange", "country": "CI", "currency": "XOF"}
	reject := object{"msisdn": "+250788999999"}
	// In this order: each leaves its float to the next.
	for _, c := range []struct {
		name      string
		request   object
		status    string
		merchant  float64
		recipient any
	}{
		{"to a SIM", object{}, "SUCCESS", 900, 150.0},
		{"to a blocked SIM", object{"msisdn": "+250788000002"}, "ACCOUNT_BLOCKED", 900, nil},
		{"to a blocked SIM, beyond the float", object{"msisdn": "+250788000002", "amount": 901}, "ACCOUNT_BLOCKED", 900, nil},
		{"to an unknown number", reject, "UNKNOWN_MSISDN", 900, nil},
		{"to an unknown number, beyond the float", object{"msisdn": "+250788999999", "amount": 901}, "UNKNOWN_MSISDN", 900, nil},
		{"to a SIM of another currency", object{"msisdn": "+250788000004"}, "UNKNOWN_MSISDN", 900, nil},
		{"beyond the float", object{"amount": 901}, "INSUFFICIENT_FUNDS", 900, nil},
		{"of the largest amount", object{"amount": 1_000_000_000_000}, "INSUFFICIENT_FUNDS", 900, nil},
		{"of the whole float", object{"amount": 900}, "SUCCESS", 0, 1050.0},
		{"of an empty float", object{"amount": 1}, "INSUFFICIENT_FUNDS", 0, nil},
		{"above the limit of collections, beyond the float", object{"amount": 2_000_001}, "INSUFFICIENT_FUNDS", 0, nil},
		{"to a SIM, in another currency", abroad, "SUCCESS", 900, 190.0},
		{"passed through", through, "SUCCESS", 800, nil},
		{"passed through, to a SIM of another currency", object{"msisdn": alice, "operator": "orange", "country": "CI", "currency": "fcfa"}, "SUCCESS", 700, nil},
		{"passed through, beyond the float", object{"msisdn": "+2250700000001", "operator": "orange", "country": "CI", "currency": "XOF", "amount": 701}, "INSUFFICIENT_FUNDS", 700, nil},
		{"passed through, its number of no operator", object{"msisdn": "+33612345678", "operator": "orange", "country": "CI", "currency": "XOF", "amount": 700}, "SUCCESS", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			amount := any(100.0)
			if n, given := c.request["amount"].(int); given {
				amount = float64(n)
			}
			got := f.disburse(disbursement(c.name, c.request))
			id, _ := got.body["tx_id"].(string)
			want := object{
				"tx_id": id, "type": "disbursement", "status": c.status, "amount": amount, "merchant_balance_after": c.merchant,
				"recipient_balance_after": c.recipient, "idempotent": false,
			}
			if diff := cmp.Diff(want, got.body); diff != "" || got.status != 200 {
				t.Fatalf("answered %d (-want +got):\n%s", got.status, diff)
			}
			if got.header.Get("Idempotent-Replayed") != "" || got.header.Get("Location") != "/v1/payments/"+id {
				t.Errorf("headers are %v", got.header)
			}
			replay := f.disburse(disbursement(c.name, c.request))
			want["idempotent"] = true
			if diff := cmp.Diff(want, replay.body); diff != "" || replay.status != 200 || replay.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("repeated, it answered %d, %v (-want +got):\n%s", replay.status, replay.header, diff)
			}
			if read := f.call(
				"GET",
				"/v1/payments/"+id,
				nil,
			); read.body["status"] != c.status || read.body["type"] != "disbursement" ||
				read.body["completedAt"] == nil {
				t.Errorf("it is read as %s", read.raw)
			}
		})
	}
	if f.balance(alice) != 1050 || f.balance("+250788000002") != 70 || f.balance("+250788000004") != 190 {
		t.Errorf("the SIMs have %d, %d and %d", f.balance(alice), f.balance("+250788000002"), f.balance("+250788000004"))
	}
	// Replays tell the balances of then, whatever has happened since.
	if replay := f.disburse(
		disbursement("to a SIM"),
	); replay.body["merchant_balance_after"] != 900.0 ||
		replay.body["recipient_balance_after"] != 150.0 {
		t.Errorf("the first, repeated at the end, is %s", replay.raw)
	}
	f.conserved()
}

func TestDisbursementAsAPayment(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 0)
	made := f.disburse(disbursement("d1", object{
		"order_url": "https://shop.example/1?a=b", "is_url_protected": true, "description": "<weekly> payout",
	}))
	got := f.call("GET", "/v1/payments/"+made.body["tx_id"].(string), nil)
	raw, _ := got.body["raw"].(object)
	if payee, _ := raw["payee"].(object); payee["partyId"] != alice[1:] || raw["payer"] != nil || raw["status"] != "SUCCESSFUL" {
		t.Errorf("raw is not a payout's: %v", raw)
	}
	for _, name := range []string{"createdAt", "completedAt", "providerTxId", "environmentId", "raw"} {
		if got.body[name] == nil {
			t.Errorf("there is no %s", name)
		}
		delete(got.body, name)
	}
	want := object{
		"id": made.body["tx_id"], "type": "disbursement", "status": "SUCCESS", "amount": 100.0, "commission": 0.0, "netAmount": 100.0,
		"customerTotal": 100.0, "merchantAbsorptionPct": 100.0, "merchantShare": 0.0, "customerShare": 0.0, "commissionMode": "merchant",
		"currency": "RWF", "operator": "mtn", "country": "RW", "msisdn": alice, "reference": "d1", "orderRef": "d1",
		"orderUrl": "https://shop.example/1?a=b", "isUrlProtected": true, "parentTxId": nil, "application": "shop",
		"description": "<weekly> payout", "scenario": nil, "source": "api", "latencyMs": 800.0,
	}
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("representation (-want +got):\n%s", diff)
	}
	list := f.call("GET", "/v1/payments?type=disbursement", nil)
	if data, _ := list.body["data"].([]any); len(data) != 1 || data[0].(object)["id"] != made.body["tx_id"] {
		t.Errorf("it is listed as %s", list.raw)
	}
}

func TestDisbursementConflicts(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 0)
	first := f.disburse(disbursement("d1"))
	first.is(t, 200, "SUCCESS")
	for name, c := range map[string]object{
		"another amount":       disbursement("d1", object{"amount": 101}),
		"another number":       disbursement("d1", object{"msisdn": "+250788000002"}),
		"another store":        disbursement("d1", object{"application": "kiosk"}),
		"another environment":  disbursement("d1", object{"operator": "airtel"}),
		"another currency":     disbursement("d1", object{"currency": "rwf"}),
		"an order":             disbursement("d1", object{"order_ref": "d1"}),
		"a link":               disbursement("d1", object{"order_url": "https://shop.example/"}),
		"a protection":         disbursement("d1", object{"is_url_protected": false}),
		"an empty description": disbursement("d1", object{"description": ""}),
	} {
		t.Run(name, func(t *testing.T) { f.disburse(c).is(t, 409, "duplicate_reference") })
	}
	f.call("POST", "/v1/payments", disbursement("d1")).is(t, 409, "duplicate_reference")
	f.refund(f.paid("p1"), object{"reference": "d1"}).is(t, 409, "duplicate_reference")
	f.disburse(disbursement("p1")).is(t, 409, "duplicate_reference")
	f.config.Stores, f.config.Environments = nil, f.config.Environments[1:]
	f.sandbox(f.config, key)
	replay := f.disburse(disbursement("d1"))
	replay.is(t, 200, "SUCCESS")
	if replay.body["tx_id"] != first.body["tx_id"] || replay.body["idempotent"] != true {
		t.Errorf("repeated after its store and environment are gone: %s", replay.raw)
	}
	if n := f.transactions(); n != 2 {
		t.Errorf("%d transactions were recorded, want 2", n)
	}
}

func TestDisbursementGeneratesItsReference(t *testing.T) {
	f := newFixture(t)
	now := time.Date(2026, 5, 31, 12, 30, 59, 0, time.UTC)
	clocked := f.serve(func(o *fronts.Options) { o.Now = func() time.Time { return now } })
	form := regexp.MustCompile(`^CAURI-DIS-20260531123059-[0-9A-F]{12}$`)
	seen := map[any]bool{}
	for _, order := range []any{nil, nil, "order-1"} {
		made := clocked.disburse(disbursement("", object{"reference": nil, "order_ref": order}))
		made.is(t, 200, "UNKNOWN_MSISDN")
		if made.body["idempotent"] != false {
			t.Errorf("it is %s", made.raw)
		}
		got := f.call("GET", "/v1/payments/"+made.body["tx_id"].(string), nil)
		reference, _ := got.body["reference"].(string)
		if !form.MatchString(reference) || seen[reference] {
			t.Errorf("the reference is %s", reference)
		}
		seen[reference] = true
		if want := order; order == nil && got.body["orderRef"] != reference || order != nil && got.body["orderRef"] != want {
			t.Errorf("the order is %v", got.body["orderRef"])
		}
	}
}

func TestDisbursementLimits(t *testing.T) {
	f := newFixture(t)
	before := f.transactions()
	text := func(n int) string { return strings.Repeat("é", n) }
	link := "https://shop.example/"
	for name, c := range map[string]struct {
		request object
		field   string // that is wrong; empty: none
	}{
		"amount 1":                       {object{"amount": 1}, ""},
		"amount 0":                       {object{"amount": 0}, "amount"},
		"amount -1":                      {object{"amount": -1}, "amount"},
		"amount of 10^12":                {object{"amount": 1_000_000_000_000}, ""},
		"amount above":                   {object{"amount": 1_000_000_000_001}, "amount"},
		"amount missing":                 {object{"amount": nil}, "amount"},
		"amount as a text":               {object{"amount": "100"}, "amount"},
		"amount with decimals":           {object{"amount": 100.5}, "amount"},
		"currency of 2":                  {object{"currency": "RW"}, "currency"},
		"currency of 5":                  {object{"currency": "RWFRW"}, "currency"},
		"currency with a digit":          {object{"currency": "RW1"}, "currency"},
		"currency not the environment's": {object{"currency": "XOF"}, "currency"},
		"currency in small letters":      {object{"currency": "rwf"}, ""},
		"currency missing":               {object{"currency": nil}, "currency"},
		"operator unknown":               {object{"operator": "vodafone"}, "operator"},
		"operator in capitals":           {object{"operator": "MTN"}, "operator"},
		"operator missing":               {object{"operator": nil}, "operator"},
		"country of 1":                   {object{"country": "R"}, "country"},
		"country of 3":                   {object{"country": "RWA"}, "country"},
		"country missing":                {object{"country": nil}, "country"},
		"msisdn without its plus":        {object{"msisdn": "250788000001"}, "msisdn"},
		"msisdn of 6 digits":             {object{"msisdn": "+123456"}, "msisdn"},
		"msisdn of 7 digits":             {object{"msisdn": "+1234567"}, ""},
		"msisdn of 15 digits":            {object{"msisdn": "+123456789012345"}, ""},
		"msisdn of 16 digits":            {object{"msisdn": "+1234567890123456"}, "msisdn"},
		"msisdn with a leading 0":        {object{"msisdn": "+0123456789"}, "msisdn"},
		"msisdn with a line break":       {object{"msisdn": alice + "\n"}, "msisdn"},
		"msisdn missing":                 {object{"msisdn": nil}, "msisdn"},
		"application empty":              {object{"application": ""}, "application"},
		"application of 81":              {object{"application": text(81)}, "application"},
		"application missing":            {object{"application": nil}, "application"},
		"reference of 80":                {object{"reference": text(80)}, ""},
		"reference of 81":                {object{"reference": text(81)}, "reference"},
		"reference empty":                {object{"reference": ""}, "reference"},
		"reference of a number":          {object{"reference": 1}, "reference"},
		"order of 120":                   {object{"order_ref": text(120)}, ""},
		"order of 121":                   {object{"order_ref": text(121)}, "order_ref"},
		"order empty":                    {object{"order_ref": ""}, "order_ref"},
		"order with NUL":                 {object{"order_ref": "a\x00"}, "order_ref"},
		"link of 500":                    {object{"order_url": link + strings.Repeat("x", 500-len(link))}, ""},
		"link of 501":                    {object{"order_url": link + strings.Repeat("x", 501-len(link))}, "order_url"},
		"link that is relative":          {object{"order_url": "/orders/1"}, "order_url"},
		"link without a host":            {object{"order_url": "https:///orders"}, "order_url"},
		"link of another scheme":         {object{"order_url": "javascript:alert(1)"}, "order_url"},
		"link empty":                     {object{"order_url": ""}, "order_url"},
		"link that cannot be read":       {object{"order_url": "https://shop.example/%zz"}, "order_url"},
		"protection as a text":           {object{"is_url_protected": "true"}, "is_url_protected"},
		"protection as a number":         {object{"is_url_protected": 1}, "is_url_protected"},
		"description of 200":             {object{"description": text(200)}, ""},
		"description of 201":             {object{"description": text(201)}, "description"},
		"description empty":              {object{"description": ""}, ""},
		"description of a list":          {object{"description": []string{"a"}}, "description"},
		"unknown fields":                 {object{"scenario": "nonsense", "x": object{"y": 1}}, ""},
		"a name in capitals":             {object{"AMOUNT": 7}, "AMOUNT"},
		"a name of an answer":            {object{"orderRef": "o"}, "orderRef"},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.disburse(disbursement(name, c.request))
			if c.field == "" {
				got.is(t, 200, "UNKNOWN_MSISDN")
				before++
				return
			}
			got.is(t, 400, "invalid_body")
			if diff := cmp.Diff([]string{c.field}, got.wrongFields()); diff != "" {
				t.Errorf("wrong fields (-want +got):\n%s\n%s", diff, got.raw)
			}
		})
	}
	f.disburse(disbursement("r", object{"application": "kiosk"})).is(t, 404, "not_found")
	f.disburse(disbursement("r", object{"operator": "moov"})).is(t, 404, "env_not_found")
	f.disburse(disbursement("r", object{"country": "ZZ"})).is(t, 404, "env_not_found")
	f.disburse(disbursement("r", object{"operator": "airtel"})).is(t, 404, "env_not_found") // it is disabled
	f.disburse(disbursement("r"), withKey("none")).is(t, 401, "unauthorized")
	f.disburse("").is(t, 400, "invalid_body")
	if n := f.transactions(); n != before {
		t.Errorf("%d transactions were recorded, want %d", n, before)
	}
}

func TestAllWrongFieldsAreNamedAtOnce(t *testing.T) {
	f := newFixture(t)
	wrong := object{"amount": 0, "order_url": "/orders/1", "msisdn": "1", "description": 1}
	for path, body := range map[string]object{"/v1/disbursements": disbursement("r", wrong), "/v1/payments": payment("r", wrong)} {
		got := f.call("POST", path, body)
		got.is(t, 400, "invalid_body")
		if diff := cmp.Diff([]string{"amount", "description", "msisdn", "order_url"}, got.wrongFields()); diff != "" {
			t.Errorf("%s: wrong fields (-want +got):\n%s", path, diff)
		}
	}
}

func TestConcurrentDisbursementsOfOneReference(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 0)
	counts := map[any]int{}
	var mu sync.Mutex
	f.atOnce(32, func(int) response {
		got := f.disburse(disbursement("d1"))
		mu.Lock()
		defer mu.Unlock()
		counts[fmt.Sprint(got.status, got.body["tx_id"], got.body["merchant_balance_after"], got.body["recipient_balance_after"])]++
		counts[got.body["idempotent"]]++
		return got
	})
	if len(counts) != 3 || counts[false] != 1 || counts[true] != 31 || f.float("RWF") != 900 || f.balance(alice) != 100 {
		t.Errorf("the answers are %v, the float has %d, the SIM %d", counts, f.float("RWF"), f.balance(alice))
	}
	f.conserved()
}

func TestConcurrentDisbursementsOfOneFloat(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 0)
	counts := f.atOnce(64, func(i int) response { return f.disburse(disbursement(fmt.Sprint("d", i), object{"amount": 30})) })
	if diff := cmp.Diff(map[string]int{"200 SUCCESS": 33, "200 INSUFFICIENT_FUNDS": 31}, counts); diff != "" {
		t.Errorf("64 disbursements of 30 from 1000 (-want +got):\n%s", diff)
	}
	if f.float("RWF") != 10 || f.balance(alice) != 990 {
		t.Errorf("the float has %d, the SIM %d", f.float("RWF"), f.balance(alice))
	}
	f.conserved()
}

// TestEverythingAtOnce lets all that moves money compete for one float and three SIMs, with a worker beside it.
func TestEverythingAtOnce(t *testing.T) {
	f := newFixture(t)
	quota := int64(1_000_000)
	f.config.MonthlyQuota = &quota // so that its row is locked too
	f.sandbox(f.config, key)
	numbers := []string{alice, "+250788000002", "+250788000003"}
	for i, msisdn := range numbers {
		f.client(fmt.Sprint("sim", i), msisdn, 20_000)
	}
	parents := []string{f.paid("p1"), f.paid("p2", object{"msisdn": numbers[1]}), f.paid("p3", object{"msisdn": numbers[2]})}
	before := f.deadlocks()
	stop, worker := make(chan struct{}), sync.WaitGroup{}
	for range 2 {
		worker.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := ledgertest.SettleDue(t.Context(), f.store, 50); err != nil {
					t.Error(err)
				}
			}
		})
	}
	counts := f.atOnce(240, func(i int) response {
		reference, number := fmt.Sprint("x", i), object{"msisdn": numbers[rand.IntN(3)]}
		switch i % 4 {
		case 0:
			return f.call("POST", "/v1/payments", payment(reference, number))
		case 1:
			return f.call("POST", "/v1/payments", payment(reference, number, object{"scenario": "success"}))
		case 2:
			return f.refund(parents[rand.IntN(3)], object{"amount": 40, "reference": reference})
		default:
			return f.disburse(disbursement(reference, number, object{"amount": 700}))
		}
	})
	close(stop)
	worker.Wait()
	for answer := range counts {
		if strings.HasPrefix(answer, "5") {
			t.Errorf("%d were answered with %s", counts[answer], answer)
		}
	}
	if n := f.deadlocks() - before; n != 0 {
		t.Errorf("there were %d deadlocks", n)
	}
	f.conserved()
}

// deadlocks is how many the database has seen.
func (f *fixture) deadlocks() int64 {
	f.t.Helper()
	return read[int64](f, "select deadlocks from pg_stat_database where datname = current_database()")
}
