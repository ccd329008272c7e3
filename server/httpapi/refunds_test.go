package httpapi_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/httpserver"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// serve starts another server on the fixture's database, with other options.
func (f *fixture) serve(change func(*fronts.Options)) *fixture {
	f.t.Helper()
	o := frontstest.Options(ledgertest.OpenAs(f.t, f.db, ledgertest.API))
	o.Draining = f.release
	change(&o)
	other := *f
	other.url = listen(f.t, fronts.New(o), httpserver.Default)
	return &other
}

// exec changes the database behind the server's back.
func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	conn := ledgertest.Connect(f.t, f.db)
	defer func() { _ = conn.Close(f.t.Context()) }()
	if _, err := conn.Exec(f.t.Context(), sql, args...); err != nil {
		f.t.Fatal(err)
	}
}

// read returns the one value that a query comes to.
func read[T any](f *fixture, sql string, args ...any) (value T) {
	f.t.Helper()
	conn := ledgertest.Connect(f.t, f.db)
	defer func() { _ = conn.Close(f.t.Context()) }()
	if err := conn.QueryRow(f.t.Context(), sql, args...).Scan(&value); err != nil {
		f.t.Fatal(err)
	}
	return value
}

// float is what the sandbox team/checkout has in a currency.
func (f *fixture) float(currency string) int64 {
	f.t.Helper()
	return read[int64](
		f,
		"select f.balance from floats f join organizations o using (tenant) where o.name = 'checkout' and f.currency = $1",
		currency,
	)
}

// balance is what a SIM has.
func (f *fixture) balance(msisdn string) int64 {
	f.t.Helper()
	return read[int64](f, "select balance from sims where msisdn = $1", msisdn)
}

// conserved fails unless every balance is the sum of what moved it, the refunds of every payment are what it says, and every
// final transaction has its event.
func (f *fixture) conserved() {
	f.t.Helper()
	wrong := read[[]string](f, `
		with changes as (
		  select tenant, coalesce(currency, sim_id::text) as account, delta from adjustments
		  union all select tenant, float_currency, merchant_delta from transactions
		  union all select tenant, sim_id::text, sim_delta from transactions where sim_id is not null
		), accounts as (
		  select tenant, currency as account, balance from floats union all select tenant, sim_id::text, balance from sims
		)
		select coalesce(array_agg(what), '{}') from (
		  select 'balance of ' || account as what from accounts a where balance <>
		    (select coalesce(sum(delta), 0) from changes c where c.tenant = a.tenant and c.account = a.account)
		  union all
		  select 'refunds of ' || reference from transactions p where refunded <> coalesce((select sum(r.amount) from transactions r
		    where r.tenant = p.tenant and r.parent_id = p.id and r.type = 'refund' and r.status = 'SUCCESS'), 0)
		  union all
		  select 'event of ' || reference from transactions t where (status <> 'PENDING') <>
		    exists (select from events e where e.tenant = t.tenant and e.id = t.id)
		) x`)
	if len(wrong) > 0 {
		f.t.Fatalf("money, refunds or events do not add up: %v", wrong)
	}
}

// paid makes a successful payment of 1000 RWF and returns its id.
func (f *fixture) paid(reference string, changes ...object) string {
	f.t.Helper()
	got := f.call("POST", "/v1/payments", payment(reference, append([]object{{"scenario": "success"}}, changes...)...))
	if got.status != http.StatusCreated || got.body["status"] != "SUCCESS" {
		f.t.Fatalf("a payment answered %d: %s", got.status, got.raw)
	}
	return got.body["id"].(string)
}

func (f *fixture) refund(id string, body any, change ...func(*http.Request)) response {
	f.t.Helper()
	return f.call("POST", "/v1/payments/"+id+"/refund", body, change...)
}

// is fails unless a response has a status and a code, or the status of a transaction.
func (r response) is(t *testing.T, status int, code string) {
	t.Helper()
	got, _ := r.body["error"].(string)
	if got == "" {
		got, _ = r.body["status"].(string)
	}
	if r.status != status || got != code {
		t.Errorf("answered %d %s, want %d %s: %s", r.status, got, status, code, r.raw)
	}
}

// wrongFields are the fields or parameters that an answer complains of.
func (r response) wrongFields() []string {
	detail, _ := r.body["detail"].(object)
	wrong, _ := detail["fieldErrors"].(object)
	var names []string
	for name := range wrong {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestRefundOfEverythingWithoutABody(t *testing.T) {
	f := newFixture(t)
	for name, change := range map[string]func(*http.Request){
		"no body":                  func(*http.Request) {},
		"no body, no content type": func(r *http.Request) { r.Header.Del("Content-Type") },
		"no body, other content":   func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"empty chunks":             func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("")), -1 },
		"empty chunks, no content": func(r *http.Request) {
			r.Header.Del("Content-Type")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("")), -1
		},
		"empty object":               func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), 2 },
		"empty object in chunks":     func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), -1 },
		"nothing but unknown fields": func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"x":[1]}`)), -1 },
		"nulls": func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"reference":null,"description":null}`)), -1
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.refund(f.paid(name), nil, change)
			got.is(t, 201, "SUCCESS")
			if got.body["amount"] != 1000.0 {
				t.Errorf("refunded %v", got.body["amount"])
			}
		})
	}
	f.conserved()
}

func TestRefundBodyHasToBeJSON(t *testing.T) {
	f := newFixture(t)
	id := f.paid("p1")
	before := f.transactions()
	for name, c := range map[string]struct {
		body, content, code string
		status              int
		fields              []string
	}{
		"other content":       {"{}", "text/plain", "unsupported_media_type", 415, nil},
		"no content type":     {"{}", "", "unsupported_media_type", 415, nil},
		"not JSON":            {"{", "application/json", "invalid_body", 400, nil},
		"blank":               {" ", "application/json", "invalid_body", 400, nil},
		"null":                {"null", "application/json", "invalid_body", 400, nil},
		"amount of NaN":       {`{"amount":null}`, "application/json", "invalid_body", 400, []string{"amount"}},
		"NaN itself":          {`{"amount":NaN}`, "application/json", "invalid_body", 400, nil},
		"misspelled amount":   {`{"amout":400}`, "application/json", "invalid_body", 400, []string{"amout"}},
		"an empty amount":     {`{"amount":"","reference":null}`, "application/json", "invalid_body", 400, []string{"amount"}},
		"amount of nothing":   {`{"amount":0}`, "application/json", "invalid_body", 400, []string{"amount"}},
		"negative amount":     {`{"amount":-1}`, "application/json", "invalid_body", 400, []string{"amount"}},
		"amount too big":      {`{"amount":1000000000001}`, "application/json", "invalid_body", 400, []string{"amount"}},
		"amount beyond int64": {`{"amount":1e400}`, "application/json", "invalid_body", 400, []string{"amount"}},
		"amount with a point": {`{"amount":100.0}`, "application/json", "invalid_body", 400, []string{"amount"}},
		"amount as a text":    {`{"amount":"100"}`, "application/json", "invalid_body", 400, []string{"amount"}},
		"all wrong":           {`{"amount":true,"reference":""}`, "application/json", "invalid_body", 400, []string{"amount", "reference"}},
		"reference too long":  {`{"reference":"` + strings.Repeat("é", 81) + `"}`, "application/json", "invalid_body", 400, []string{"reference"}},
		"NUL":                 {`{"reference":"a\u0000"}`, "application/json", "invalid_body", 400, []string{"reference"}},
		"too large":           {strings.Repeat(" ", 64<<10+1), "application/json", "body_too_large", 413, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, length := range []int64{int64(len(c.body)), -1} {
				got := f.refund(id, nil, func(r *http.Request) {
					r.Header.Set("Content-Type", c.content)
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader(c.body)), length
				})
				got.is(t, c.status, c.code)
				if diff := cmp.Diff(c.fields, got.wrongFields()); diff != "" {
					t.Errorf("wrong fields (-want +got):\n%s", diff)
				}
			}
		})
	}
	if n := f.transactions(); n != before {
		t.Errorf("%d transactions were recorded", n-before)
	}
}

func TestRefundsUntilNothingIsLeft(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	id := f.paid("p1")
	if got := f.balance(alice); got != 4000 {
		t.Fatalf("the SIM has %d", got)
	}
	left := int64(1000)
	for i, amount := range []int64{1, 333, 600} {
		f.refund(id, object{"amount": left + 1}).is(t, 422, "exceeds_refundable")
		got := f.refund(id, object{"amount": amount, "reference": fmt.Sprint("f", i)})
		got.is(t, 201, "SUCCESS")
		left -= amount
		parent := f.call("GET", "/v1/payments/"+id, nil)
		if parent.body["refundableAmount"] != float64(left) || parent.body["refundedAmount"] != float64(1000-left) ||
			parent.body["status"] != "SUCCESS" {
			t.Errorf("after %d the payment is %s", i+1, parent.raw)
		}
	}
	got := f.refund(id, object{"amount": 67})
	got.is(t, 422, "exceeds_refundable")
	if diff := cmp.Diff(any(object{"refundable": 66.0}), got.body["detail"]); diff != "" {
		t.Errorf("detail (-want +got):\n%s", diff)
	}
	if !strings.Contains(got.body["message"].(string), "66") {
		t.Errorf("the message is %q", got.body["message"])
	}
	if rest := f.refund(id, nil); rest.body["amount"] != 66.0 {
		t.Errorf("the rest is %s", rest.raw)
	}
	for name, body := range map[string]any{"all": nil, "one": object{"amount": 1}} {
		got := f.refund(id, body)
		got.is(t, 422, "exceeds_refundable")
		if diff := cmp.Diff(any(object{"refundable": 0.0}), got.body["detail"]); diff != "" {
			t.Errorf("%s, when nothing is left: detail (-want +got):\n%s", name, diff)
		}
	}
	if f.balance(alice) != 5000 || f.float("RWF") != 985 {
		t.Errorf("the SIM has %d and the float %d; the merchant has lost its commission of 15", f.balance(alice), f.float("RWF"))
	}
	f.conserved()
}

func TestWhatCannotBeRefunded(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	made := func(body object) string { return f.call("POST", "/v1/payments", body).body["id"].(string) }
	refunded := f.paid("parent")
	theirs := f.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"}), withKey(otherKey)).body["id"].(string)
	refund := f.refund(refunded, object{"amount": 1}).body["id"].(string)
	disbursement := f.disburse(disbursement("d1")).body["tx_id"].(string)
	before := f.transactions()
	for name, c := range map[string]struct {
		id     string
		status int
		code   string
	}{
		"pending":                       {made(payment("pending")), 422, "not_refundable"},
		"failed":                        {made(payment("failed", object{"scenario": "pin_invalid"})), 422, "not_refundable"},
		"timed out":                     {made(payment("timeout", object{"scenario": "timeout"})), 422, "not_refundable"},
		"a refund":                      {refund, 422, "not_refundable"},
		"a disbursement":                {disbursement, 422, "not_refundable"},
		"unknown":                       {"TX_00000000000000000000000000", 404, "not_found"},
		"another sandbox's":             {theirs, 404, "not_found"},
		"no id":                         {"1", 404, "not_found"},
		"an id in small letters":        {strings.ToLower(refunded), 404, "not_found"},
		"an id with a line break":       {refunded + "%0A", 404, "not_found"},
		"the operator's id of the same": {f.call("GET", "/v1/payments/"+refunded, nil).body["providerTxId"].(string), 404, "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, body := range []any{nil, object{"amount": 1}, object{"amount": 1, "reference": "r " + name}} {
				f.refund(c.id, body).is(t, c.status, c.code)
			}
		})
	}
	if n := f.transactions(); n != before+3 {
		t.Errorf("%d transactions were recorded", n-before-3)
	}
	unknown, other := f.refund("TX_00000000000000000000000000", nil), f.refund(theirs, nil)
	if unknown.raw != other.raw {
		t.Errorf("another sandbox's id is answered with %s, an unknown one with %s", other.raw, unknown.raw)
	}
}

func TestRefundReplaysAndConflicts(t *testing.T) {
	f := newFixture(t)
	one, two := f.paid("p1"), f.paid("p2")
	first := f.refund(one, object{"amount": 400, "reference": "f1"})
	first.is(t, 201, "SUCCESS")
	if want := "/v1/payments/" + first.body["id"].(string); first.header.Get("Location") != want ||
		first.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("headers are %v", first.header)
	}
	again := func(name, id string, status int, body any) {
		t.Helper()
		got := f.refund(id, body)
		if status == 409 {
			got.is(t, 409, "duplicate_reference")
			return
		}
		got.is(t, 200, "SUCCESS")
		if got.raw != first.raw || got.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: not a replay: %v %s", name, got.header, got.raw)
		}
	}
	again("the same", one, 200, object{"amount": 400, "reference": "f1"})
	again("the same with an unknown field", one, 200, object{"amount": 400, "reference": "f1", "sdk": 1})
	again("another amount", one, 409, object{"amount": 401, "reference": "f1"})
	again("no amount", one, 409, object{"reference": "f1"})
	again("another parent", two, 409, object{"amount": 400, "reference": "f1"})
	again("an unknown parent", "TX_00000000000000000000000000", 409, object{"amount": 400, "reference": "f1"})
	again("the parent's own reference", one, 409, object{"amount": 400, "reference": "p1"})
	f.call("POST", "/v1/payments", payment("f1", object{"scenario": "success"})).is(t, 409, "duplicate_reference")
	f.disburse(disbursement("f1")).is(t, 409, "duplicate_reference")

	f.refund(one, nil).is(t, 201, "SUCCESS")
	again("the same, with nothing left of the parent", one, 200, object{"amount": 400, "reference": "f1"})
	again("another amount, with nothing left of the parent", one, 409, object{"amount": 401, "reference": "f1"})
	full := f.refund(two, object{"reference": "f2"})
	if replay := f.refund(two, object{"reference": "f2"}); replay.status != 200 || replay.raw != full.raw {
		t.Errorf("a full refund, repeated: %d %s", replay.status, replay.raw)
	}
	other := f.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"}), withKey(otherKey)).body["id"].(string)
	f.refund(other, object{"amount": 400, "reference": "f1"}, withKey(otherKey)).is(t, 201, "SUCCESS") // a reference is the sandbox's own
	f.conserved()
}

func TestRefundInheritsFromItsParent(t *testing.T) {
	f := newFixture(t)
	f.config.Environments[0].Terms.AbsorptionPct = 40
	f.sandbox(f.config, key)
	parent := f.paid("SHOP-PAY-20260531120000-0123456789AB", object{
		"order_ref": "order-1", "order_url": "https://shop.example/1", "is_url_protected": true, "description": "two tickets",
	})
	f.config.Environments[0].Terms = payments.Terms{CommissionBPS: 900, AbsorptionPct: 7} // what holds now is of no matter
	f.sandbox(f.config, key)
	got := f.refund(parent, object{"amount": 250, "reference": "f1"})
	got.is(t, 201, "SUCCESS")
	if read := f.call("GET", "/v1/payments/"+got.body["id"].(string), nil); read.raw != got.raw {
		t.Errorf("it is read as %s, made as %s", read.raw, got.raw)
	}
	raw, _ := got.body["raw"].(object)
	if payee, _ := raw["payee"].(object); payee["partyId"] != alice[1:] || raw["payer"] != nil || raw["status"] != "SUCCESSFUL" ||
		raw["amount"] != "250" ||
		raw["_simulated"] != true {
		t.Errorf("raw is not a payout's: %v", raw)
	}
	environment := f.call("GET", "/v1/payments/"+parent, nil).body["environmentId"]
	for _, name := range []string{"id", "createdAt", "completedAt", "providerTxId"} {
		if text, _ := got.body[name].(string); text == "" {
			t.Errorf("%s is %v", name, got.body[name])
		}
		delete(got.body, name)
	}
	delete(got.body, "raw")
	want := object{
		"type": "refund", "status": "SUCCESS", "amount": 250.0, "commission": 0.0, "netAmount": 250.0, "customerTotal": 250.0,
		"merchantAbsorptionPct": 40.0, "merchantShare": 0.0, "customerShare": 0.0, "commissionMode": "merchant",
		"currency": "RWF", "operator": "mtn", "country": "RW", "msisdn": alice, "reference": "f1", "orderRef": "order-1",
		"orderUrl": "https://shop.example/1", "isUrlProtected": true, "parentTxId": parent, "application": "shop",
		"environmentId": environment, "description": nil, "scenario": nil, "source": "api", "latencyMs": 800.0,
	}
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("representation (-want +got):\n%s", diff)
	}
}

func TestRefundOfAnAliasedCurrency(t *testing.T) {
	f := newFixture(t)
	parent := f.paid("p1", object{"currency": "fcfa", "msisdn": "+2250700000001", "order_url": nil})
	got := f.refund(parent, object{"amount": 1000, "description": "too large"})
	got.is(t, 201, "SUCCESS")
	inherited := object{
		"description": "too large",
		"currency":    "fcfa", "operator": "orange", "country": "CI", "orderRef": "p1", "orderUrl": nil, "isUrlProtected": false,
		"merchantAbsorptionPct": 0.0,
	}
	for name, want := range inherited {
		if got.body[name] != want {
			t.Errorf("%s is %v, want %v", name, got.body[name], want)
		}
	}
	if got := f.float("XOF"); got != 0 { // the merchant got 1000, the customer paid 1020
		t.Errorf("the float has %d", got)
	}
	f.conserved()
}

func TestRefundGeneratesItsReference(t *testing.T) {
	f := newFixture(t)
	now := time.Date(2026, 12, 31, 23, 59, 58, 0, time.FixedZone("CAT", 2*60*60))
	clocked := f.serve(func(o *fronts.Options) { o.Now = func() time.Time { return now } })
	for reference, origin := range map[string]string{
		"SHOP-PAY-20260531120000-0123456789AB": "SHOP", "WEB2-ABO-0123456789AB": "WEB2",
		"shop-PAY-20260531120000-0123456789AB": "CAURI", "order 1": "CAURI",
	} {
		id := f.paid(reference)
		got := clocked.refund(id, object{"amount": 1})
		got.is(t, 201, "SUCCESS")
		form := regexp.MustCompile("^" + origin + "-REF-20261231215958-[0-9A-F]{12}$")
		if text, _ := got.body["reference"].(string); !form.MatchString(text) {
			t.Errorf("a refund of %s has the reference %s", reference, text)
		}
		if got.body["orderRef"] != reference {
			t.Errorf("a refund of %s has the order %v", reference, got.body["orderRef"])
		}
		if second := clocked.refund(id, object{"amount": 1}); second.status != 201 || second.body["id"] == got.body["id"] {
			t.Errorf("two refunds without a reference are one: %s", second.raw)
		}
	}
}

func TestGeneratedReferenceThatIsTakenIsCreatedAgain(t *testing.T) {
	f := newFixture(t)
	// The first four references that are drawn are the same: 6 bytes each, after the 9 of an id.
	now := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	drawn := 0
	source := readerFunc(func(p []byte) (int, error) {
		if len(p) == 6 && drawn < 4 {
			drawn++
			clear(p)
			return len(p), nil
		}
		return rand.Read(p)
	})
	clocked := f.serve(func(o *fronts.Options) { o.Random, o.Now = source, func() time.Time { return now } })
	id := f.paid("p1")
	references := map[any]bool{}
	for range 2 {
		got := clocked.refund(id, object{"amount": 1})
		got.is(t, 201, "SUCCESS")
		references[got.body["reference"]] = true
	}
	if len(references) != 2 || !references["CAURI-REF-20260531120000-000000000000"] {
		t.Errorf("the references are %v", references)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestRefundBeyondTheFloat(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	id := f.paid("p1")
	f.exec("update organizations set webhook_url = 'http://127.0.0.1:1/', version = version") // an event that is to be sent
	f.disburse(disbursement("d1", object{"amount": 1500})).is(t, 200, "SUCCESS")
	if f.float("RWF") != 485 {
		t.Fatalf("the float has %d", f.float("RWF"))
	}
	got := f.refund(id, object{"amount": 486, "reference": "f1"})
	got.is(t, 201, "INSUFFICIENT_FUNDS")
	if got.body["latencyMs"] != 600.0 || got.body["parentTxId"] != id || got.body["completedAt"] == nil {
		t.Errorf("it is %s", got.raw)
	}
	if raw, _ := got.body["raw"].(object); raw["status"] != "FAILED" || raw["reason"] != "NOT_ENOUGH_FUNDS" {
		t.Errorf("raw is %v", raw)
	}
	if parent := f.call("GET", "/v1/payments/"+id, nil); parent.body["refundableAmount"] != 1000.0 || parent.body["refundedAmount"] != 0.0 {
		t.Errorf("the parent is %s", parent.raw)
	}
	if f.float("RWF") != 485 || f.balance(alice) != 5500 {
		t.Errorf("money moved: the float has %d, the SIM %d", f.float("RWF"), f.balance(alice))
	}
	if state := read[string](
		f,
		"select e.state::text from events e join transactions t using (tenant, id) where t.reference = 'f1'",
	); state != "queued" {
		t.Errorf("its event is %s", state)
	}
	if replay := f.refund(id, object{"amount": 486, "reference": "f1"}); replay.status != 200 || replay.raw != got.raw {
		t.Errorf("repeated, it is %d %s", replay.status, replay.raw)
	}
	f.refund(id, nil).is(t, 201, "INSUFFICIENT_FUNDS")
	f.refund(id, object{"amount": 485}).is(t, 201, "SUCCESS")
	f.conserved()
}

func TestRefundGoesToTheSIM(t *testing.T) {
	f := newFixture(t)
	blocked := func(c *sandboxes.TestClientConfig) { c.Blocked = true }
	abroad := func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = payments.Orange, "CI" }
	for i, c := range []struct {
		name         string
		before, then []func(*sandboxes.TestClientConfig) // nil: it is not registered
		want         int64
	}{
		{"active", []func(*sandboxes.TestClientConfig){}, []func(*sandboxes.TestClientConfig){}, 5000},
		{"blocked by then", []func(*sandboxes.TestClientConfig){}, []func(*sandboxes.TestClientConfig){blocked}, 5000},
		{"of another currency by then", []func(*sandboxes.TestClientConfig){}, []func(*sandboxes.TestClientConfig){abroad}, 4000},
		{"registered by then", nil, []func(*sandboxes.TestClientConfig){}, 6000},
		{"never registered", nil, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			msisdn := fmt.Sprintf("+25078800010%d", i)
			if c.before != nil {
				f.client(c.name, msisdn, 5000, c.before...)
			}
			id := f.paid(c.name, object{"msisdn": msisdn, "operator": "mtn", "country": "RW"})
			if c.then != nil {
				f.client(c.name, msisdn, 5000, c.then...)
			}
			f.refund(id, nil).is(t, 201, "SUCCESS")
			if c.then != nil && f.balance(msisdn) != c.want {
				t.Errorf("the SIM has %d, want %d", f.balance(msisdn), c.want)
			}
		})
	}
	f.conserved()
}

func TestRefundOfAnEnvironmentThatIsOff(t *testing.T) {
	f := newFixture(t)
	first, second := f.paid("p1"), f.paid("p2")
	f.config.Environments[0].Enabled = false
	f.sandbox(f.config, key)
	f.refund(first, nil).is(t, 201, "SUCCESS")
	f.config.Environments = f.config.Environments[1:]
	f.config.Stores = []string{"elsewhere"}
	f.sandbox(f.config, key)
	f.refund(second, object{"amount": 10}).is(t, 201, "SUCCESS")
	f.refund(second, nil).is(t, 201, "SUCCESS")
	f.conserved()
}

func TestPayoutLatencies(t *testing.T) {
	f := newFixture(t)
	f.client("blocked", "+250788000002", 0, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 10_000}
	f.sandbox(f.config, key)
	id := f.paid("parent")
	longest := f.serve(func(o *fronts.Options) { o.Draw = func(n int64) int64 { return n - 1 } })
	for name, c := range map[string]struct {
		latencies [2]float64
		make      func(f *fixture, reference string) string // returns the id
	}{
		"refund": {[2]float64{800, 1800}, func(f *fixture, r string) string {
			return f.refund(id, object{"amount": 1, "reference": r}).body["id"].(string)
		}},
		"disbursement": {[2]float64{800, 1800}, func(f *fixture, r string) string {
			return f.disburse(disbursement(r, object{"msisdn": "+2250700000001", "operator": "orange", "country": "CI", "currency": "XOF", "amount": 1})).body["tx_id"].(string)
		}},
		"disbursement, poor": {[2]float64{600, 1400}, func(f *fixture, r string) string {
			return f.disburse(disbursement(r, object{"msisdn": "+2250700000001", "operator": "orange", "country": "CI", "currency": "XOF", "amount": 999_999})).body["tx_id"].(string)
		}},
		"disbursement, to none": {[2]float64{400, 900}, func(f *fixture, r string) string {
			return f.disburse(disbursement(r, object{"msisdn": "+250788999999"})).body["tx_id"].(string)
		}},
		"disbursement, blocked": {[2]float64{500, 1000}, func(f *fixture, r string) string {
			return f.disburse(disbursement(r, object{"msisdn": "+250788000002"})).body["tx_id"].(string)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "disbursement" {
				f.exec("update floats set balance = 100 where currency = 'XOF'")
			}
			for i, server := range []*fixture{f, longest} {
				made := f.call("GET", "/v1/payments/"+c.make(server, fmt.Sprint(name, i)), nil)
				if made.body["latencyMs"] != c.latencies[i] {
					t.Errorf("%s has a latency of %v ms, want %v", made.body["status"], made.body["latencyMs"], c.latencies[i])
				}
			}
		})
	}
}

func TestConcurrentRefundsStayWithinTheirParent(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	id := f.paid("p1")
	statuses := f.atOnce(30, func(i int) response {
		return f.refund(id, object{"amount": 100, "reference": fmt.Sprint("f", i)})
	})
	if diff := cmp.Diff(map[string]int{"201 SUCCESS": 10, "422 exceeds_refundable": 20}, statuses); diff != "" {
		t.Errorf("30 refunds of a tenth (-want +got):\n%s", diff)
	}
	if got := f.balance(alice); got != 5000 {
		t.Errorf("the SIM has %d", got)
	}
	f.conserved()
}

func TestConcurrentRefundsOfEverything(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	for name, c := range map[string]struct {
		body func(i int) any
		want map[string]int
	}{
		"without a body":   {func(int) any { return nil }, map[string]int{"201 SUCCESS": 1, "422 exceeds_refundable": 15}},
		"by the amount":    {func(int) any { return object{"amount": 1000} }, map[string]int{"201 SUCCESS": 1, "422 exceeds_refundable": 15}},
		"of one reference": {func(int) any { return object{"reference": "f1"} }, map[string]int{"201 SUCCESS": 1, "200 SUCCESS": 15}},
		"overlapping":      {func(int) any { return object{"amount": 501} }, map[string]int{"201 SUCCESS": 1, "422 exceeds_refundable": 15}},
	} {
		t.Run(name, func(t *testing.T) {
			id := f.paid(name)
			if diff := cmp.Diff(c.want, f.atOnce(16, func(i int) response { return f.refund(id, c.body(i)) })); diff != "" {
				t.Errorf("16 refunds (-want +got):\n%s", diff)
			}
		})
	}
	f.conserved()
}

// atOnce makes n calls at the same time and counts their answers by status and code.
func (f *fixture) atOnce(n int, call func(i int) response) map[string]int {
	f.t.Helper()
	var wg sync.WaitGroup
	answers := make([]response, n)
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			answers[i] = call(i)
		})
	}
	close(start)
	wg.Wait()
	counts := map[string]int{}
	for _, got := range answers {
		code, _ := got.body["error"].(string)
		if code == "" {
			code, _ = got.body["status"].(string)
		}
		counts[fmt.Sprint(got.status, " ", code)]++
	}
	return counts
}
