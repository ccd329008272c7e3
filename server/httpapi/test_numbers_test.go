package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// withTestNumbers gives the sandbox the standard test numbers. Its stores name operators' APIs that nobody serves.
func (f *fixture) withTestNumbers() {
	f.t.Helper()
	f.config.TestNumbers = payments.StandardTestNumbers
	for _, e := range f.config.Environments {
		f.config.Operators = append(f.config.Operators, sandboxes.OperatorAccess{
			Store: "shop", Operator: e.Operator, Country: e.Country, BaseURL: "http://127.0.0.1:1",
		})
	}
	f.sandbox(f.config, key)
	f.follow()
}

func currencyOf(country payments.Country) string {
	currency, _ := country.Currency()
	return string(currency)
}

// settle settles what is due.
func (f *fixture) settle() {
	f.t.Helper()
	if _, err := ledgertest.SettleDue(f.t.Context(), f.store, 1000); err != nil {
		f.t.Fatal(err)
	}
}

// finish settles what waits for its latency, and then expires what waits for its payer.
func (f *fixture) finish() {
	f.t.Helper()
	for _, more := range []string{"", ", expires_at = now()"} {
		f.exec("update transactions set due_at = now()" + more + " where status = 'PENDING'")
		f.settle()
	}
}

func TestListOfTestNumbers(t *testing.T) {
	f := newFixture(t)
	environments := `[{"operator":"mtn","country":"RW"},{"operator":"orange","country":"CI"}]`
	if got := f.call("GET", "/v1/test_numbers", nil); strings.TrimSpace(got.raw) != `{"data":[],"environments":`+environments+`}` {
		t.Errorf("without test numbers the list is %s", got.raw)
	}
	f.withTestNumbers()
	for _, base := range []string{"/v1", "/api/v1", "/sandboxes/team/checkout/v1", "/sandboxes/team/checkout/api/v1"} {
		got := f.call("GET", base+"/test_numbers", nil)
		list := got.body["data"].([]any)
		if len(list) != 2*len(payments.TestNumbers) { // airtel is disabled
			t.Fatalf("%s has %d test numbers", base, len(list))
		}
		if diff := cmp.Diff([]any{
			object{"msisdn": "+2250730000905", "operator": "orange", "country": "CI", "currency": "XOF", "behavior": "Ignore",
				"collectionOutcome": "TIMEOUT", "disbursementOutcome": "SUCCESS", "description": "The payer never answers: the payment expires."},
			object{"msisdn": "+2250730000906", "operator": "orange", "country": "CI", "currency": "XOF", "behavior": nil,
				"collectionOutcome": "ACCOUNT_BLOCKED", "disbursementOutcome": "ACCOUNT_BLOCKED",
				"description": "The account is blocked, also for disbursements."},
		}, list[4:6]); diff != "" {
			t.Errorf("the list of %s (-want +got):\n%s", base, diff)
		}
		if first := list[len(payments.TestNumbers)].(object); first["msisdn"] != "+250790000901" {
			t.Errorf("after those of CI comes %v", first)
		}
	}
	if got := f.call("GET", "/v1/test_numbers", nil, withKey(otherKey)); len(got.body["data"].([]any)) != 0 {
		t.Errorf("another sandbox has %s", got.raw)
	}
}

// Every listed number does what the list says, whatever the policy for unknown numbers, without the operator and the country in the
// request. The float moves as usual, and nothing is forwarded.
func TestEveryTestNumberDoesWhatTheListSays(t *testing.T) {
	f := newFixture(t)
	f.config.OpeningFloat[payments.XOF] = 1000
	f.config.Environments = append(f.config.Environments, // the number does not say the operator
		sandboxes.EnvironmentConfig{Operator: payments.Orange, Country: "RW", Enabled: true, UnknownPolicy: payments.Passthrough})
	f.heard()
	f.withTestNumbers()
	made := map[string]object{}
	for i, item := range f.call("GET", "/v1/test_numbers", nil).body["data"].([]any) {
		n := item.(object)
		currency, msisdn := n["currency"].(string), n["msisdn"].(string)
		if strings.HasSuffix(msisdn, "912") {
			continue // its answer waits for what nobody delivers here: see TestAnswerOfTheTestNumberThatIsToldFirst
		}
		request := payment(fmt.Sprint("p", i), object{"msisdn": msisdn, "currency": currency})
		got := f.call("POST", "/v1/payments", request)
		want := object{"status": n["collectionOutcome"], "operator": n["operator"], "country": n["country"], "msisdn": msisdn}
		if n["behavior"] != nil {
			want["status"] = "PENDING"
		}
		for name, value := range want {
			if got.status != http.StatusCreated || got.body[name] != value {
				t.Errorf("%s: %s is %v in %d %s", msisdn, name, value, got.status, got.raw)
			}
		}
		if slow := got.body["latencyMs"] == 20_000.0; slow != strings.HasSuffix(msisdn, "909") {
			t.Errorf("%s has the latency %v", msisdn, got.body["latencyMs"])
		}
		if again := f.call("POST", "/v1/payments", request); again.status != http.StatusOK || again.body["id"] != got.body["id"] {
			t.Errorf("%s: the same again is answered %d %s", msisdn, again.status, again.raw)
		}
		disbursement := f.call("POST", "/v1/disbursements", payment(fmt.Sprint("d", i), object{
			"msisdn": msisdn, "currency": currency, "operator": n["operator"], "country": n["country"], "amount": 1,
		}))
		if disbursement.status != http.StatusOK || disbursement.body["status"] != n["disbursementOutcome"] || disbursement.body["recipient_balance_after"] != nil {
			t.Errorf("%s: a disbursement is answered %d %s", msisdn, disbursement.status, disbursement.raw)
		}
		if client := f.call("GET", "/v1/test_clients/"+msisdn, nil); client.status != http.StatusNotFound {
			t.Errorf("%s is a test client: %s", msisdn, client.raw)
		}
		made[msisdn] = n
		made[msisdn]["id"] = got.body["id"]
	}
	if n := read[int](f, "select count(*) from transactions where passthrough or sim_id is not null"); n != 0 {
		t.Errorf("%d transactions are forwarded or have a SIM", n)
	}
	const slow = "select count(*) from transactions where test_behavior = 'Approve' and due_at = created_at + interval '20 seconds'"
	if n := read[int](f, slow); n != 3 {
		t.Errorf("%d payments are due after 20 seconds, without a latency in the sandbox; want one of each environment", n)
	}
	f.settle()
	if n := read[int](f, "select count(*) from transactions where status = 'PENDING'"); n != 2*3 {
		t.Errorf("%d payments are pending, want the slow ones and those that are never answered", n)
	}
	f.exec("update transactions set due_at = due_at - interval '2 hours', expires_at = expires_at - interval '1 hour' where status = 'PENDING'")
	f.settle() // the slow ones; the others are looked at for the first time an hour late
	f.exec("update transactions set due_at = least(due_at, now()) where status = 'PENDING'")
	f.settle()
	for msisdn, n := range made {
		got := f.call("GET", "/v1/payments/"+n["id"].(string), nil)
		if got.body["status"] != n["collectionOutcome"] {
			t.Errorf("%s: a payment ended %v, want %v", msisdn, got.body["status"], n["collectionOutcome"])
		}
		if got.body["status"] != "SUCCESS" {
			continue
		}
		if refund := f.refund(n["id"].(string), object{"amount": 10}); refund.status != http.StatusCreated || refund.body["status"] != "SUCCESS" {
			t.Errorf("%s: a refund is answered %d %s", msisdn, refund.status, refund.raw)
		}
	}
	if n := read[int](f, "select count(*) from transactions t where not exists (select from events e where e.tenant = t.tenant and e.id = t.id)"); n != 0 {
		t.Errorf("%d transactions have no event", n)
	}
	f.conserved()
}

// What is decided before test numbers, for each of them: a scenario, the operator's limit, the SIM registry.
func TestWhatWinsOverTestNumbers(t *testing.T) {
	f := newFixture(t)
	f.withTestNumbers()
	for i, n := range operators.TestNumbersOf(payments.MTN, payments.Rwanda) {
		f.call("POST", "/v1/payments", payment(fmt.Sprint("forced", i), object{"msisdn": n.MSISDN, "scenario": "timeout"})).is(t, 201, "TIMEOUT")
		f.call("POST", "/v1/payments", payment(fmt.Sprint("more", i), object{"msisdn": n.MSISDN, "amount": 2_000_001})).is(t, 201, "LIMIT_EXCEEDED")
		f.client("sim"+n.Suffix, n.MSISDN, 100, manual)
		f.call("POST", "/v1/payments", payment(fmt.Sprint("poor", i), object{"msisdn": n.MSISDN})).is(t, 201, "INSUFFICIENT_FUNDS")
		pending := f.call("POST", "/v1/payments", payment(fmt.Sprint("able", i), object{"msisdn": n.MSISDN, "amount": 10}))
		pending.is(t, 201, "PENDING")
		if pending.body["latencyMs"] == 20_000.0 {
			t.Error("a SIM's payment has the latency of the slow test number")
		}
		disbursement := f.call("POST", "/v1/disbursements", payment(fmt.Sprint("payout", i), object{
			"msisdn": n.MSISDN, "operator": "mtn", "country": "RW", "amount": 1,
		}))
		if disbursement.body["status"] != "SUCCESS" || disbursement.body["recipient_balance_after"] != 101.0 {
			t.Errorf("a disbursement to the SIM %s is %s", n.MSISDN, disbursement.raw)
		}
	}
	f.settle()
	if n := read[int](f, "select count(*) from transactions where status = 'PENDING' and sim_id is not null"); n != len(payments.TestNumbers) {
		t.Errorf("%d payments wait for an answer by hand, want one of each SIM", n)
	}
	f.conserved()
}

// A TestClient with a test number is at its own operator, although the number is another operator's.
func TestTestClientTakesItsTestNumberToItsOperator(t *testing.T) {
	f := newFixture(t)
	f.withTestNumbers()
	number := operators.TestNumbersOf(payments.MTN, payments.Rwanda)[0].MSISDN
	f.client("moved", number, 50_000, func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = payments.Orange, "CI" })
	got := f.call("POST", "/v1/payments", payment("r1", object{"msisdn": number, "currency": "XOF"}))
	got.is(t, 201, "PENDING")
	if got.body["operator"] != "orange" || read[int](f, "select count(*) from transactions where sim_id is not null") != 1 {
		t.Errorf("the payment is not the SIM's: %s", got.raw)
	}
}

// A test number is one in its own environment only. Elsewhere nobody knows it, and it is not forwarded there either. Where its own
// environment is disabled or missing, or the sandbox has no test numbers, it is as any number.
func TestTestNumbersElsewhere(t *testing.T) {
	f := newFixture(t)
	calls := 0
	pay := func(msisdn string, market sandboxes.Market) (collected, disbursed any) {
		t.Helper()
		calls++
		at := object{"operator": market.Operator, "country": market.Country, "currency": currencyOf(market.Country), "msisdn": msisdn}
		collected = f.call("POST", "/v1/payments", payment(fmt.Sprint("p", calls), at)).body["status"]
		disbursed = f.call("POST", "/v1/disbursements", payment(fmt.Sprint("d", calls), at, object{"amount": 1})).body["status"]
		return collected, disbursed
	}
	mtn, orange := sandboxes.Market{Operator: payments.MTN, Country: "RW"}, sandboxes.Market{Operator: payments.Orange, Country: "CI"}
	f.config.OpeningFloat[payments.XOF] = 1000
	check := func(state string, known bool) {
		t.Helper()
		for _, n := range operators.TestNumbersOf(payments.MTN, payments.Rwanda) { // enabled at first
			collected, disbursed := pay(n.MSISDN, orange)
			if known && (collected != "UNKNOWN_MSISDN" || disbursed != "UNKNOWN_MSISDN") ||
				!known && (collected != "PENDING" || disbursed != "SUCCESS") {
				t.Errorf("%s: %s at orange in CI: %v, %v", state, n.MSISDN, collected, disbursed)
			}
		}
		for _, n := range operators.TestNumbersOf(payments.Airtel, payments.Rwanda) { // never enabled
			if collected, disbursed := pay(n.MSISDN, mtn); collected != "UNKNOWN_MSISDN" && known || disbursed != "UNKNOWN_MSISDN" && known {
				t.Errorf("%s: %s at mtn in RW: %v, %v", state, n.MSISDN, collected, disbursed)
			}
			if collected, disbursed := pay(n.MSISDN, orange); collected != "PENDING" || disbursed != "SUCCESS" {
				t.Errorf("%s: %s at orange in CI: %v, %v", state, n.MSISDN, collected, disbursed)
			}
		}
	}
	f.withTestNumbers()
	check("standard", true)
	f.config.Environments[0].Enabled = false
	f.sandbox(f.config, key)
	f.follow()
	check("disabled", false)
	f.config.Environments[0].Enabled, f.config.TestNumbers = true, payments.NoTestNumbers
	f.sandbox(f.config, key)
	f.follow()
	check("none", false)
	f.conserved()
}
