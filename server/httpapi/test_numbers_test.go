package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// withTestNumbers gives the sandbox the standard test numbers. Its stores name operators' APIs that nobody serves.
func (w *fixture) withTestNumbers() {
	w.t.Helper()
	w.config.TestNumbers = payments.StandardTestNumbers
	for _, e := range w.config.Environments {
		w.config.Operators = append(w.config.Operators, sandboxes.OperatorAccess{
			Store: "shop", Operator: e.Operator, Country: e.Country, BaseURL: "http://127.0.0.1:1",
		})
	}
	w.sandbox(w.config, key)
	w.follow()
}

func currencyOf(country payments.Country) string {
	currency, _ := country.Currency()
	return string(currency)
}

// settle settles what is due.
func (w *fixture) settle() {
	w.t.Helper()
	if _, err := ledgertest.SettleDue(w.t.Context(), w.store, 1000); err != nil {
		w.t.Fatal(err)
	}
}

func TestListOfTestNumbers(t *testing.T) {
	w := newFixture(t)
	if got := w.call("GET", "/v1/test_numbers", nil); strings.TrimSpace(got.raw) != `{"data":[]}` {
		t.Errorf("without test numbers the list is %s", got.raw)
	}
	w.withTestNumbers()
	for _, base := range []string{"/v1", "/api/v1", "/sandboxes/team/checkout/v1", "/sandboxes/team/checkout/api/v1"} {
		got := w.call("GET", base+"/test_numbers", nil)
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
	if got := w.call("GET", "/v1/test_numbers", nil, withKey(otherKey)); len(got.body["data"].([]any)) != 0 {
		t.Errorf("another sandbox has %s", got.raw)
	}
}

// Every listed number does what the list says, whatever the policy for unknown numbers, without the operator and the country in the
// request. The float moves as usual, and nothing is forwarded.
func TestEveryTestNumberDoesWhatTheListSays(t *testing.T) {
	w := newFixture(t)
	w.config.OpeningFloat[payments.XOF] = 1000
	w.config.Environments = append(w.config.Environments, // the number does not say the operator
		sandboxes.EnvironmentConfig{Operator: payments.Orange, Country: "RW", Enabled: true, UnknownPolicy: payments.Passthrough})
	w.heard()
	w.withTestNumbers()
	made := map[string]object{}
	for i, item := range w.call("GET", "/v1/test_numbers", nil).body["data"].([]any) {
		n := item.(object)
		currency, msisdn := n["currency"].(string), n["msisdn"].(string)
		if strings.HasSuffix(msisdn, "912") {
			continue // its answer waits for what nobody delivers here: see TestAnswerOfTheTestNumberThatIsToldFirst
		}
		request := payment(fmt.Sprint("p", i), object{"msisdn": msisdn, "currency": currency})
		got := w.call("POST", "/v1/payments", request)
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
		if again := w.call("POST", "/v1/payments", request); again.status != http.StatusOK || again.body["id"] != got.body["id"] {
			t.Errorf("%s: the same again is answered %d %s", msisdn, again.status, again.raw)
		}
		payout := w.call("POST", "/v1/disbursements", payment(fmt.Sprint("d", i), object{
			"msisdn": msisdn, "currency": currency, "operator": n["operator"], "country": n["country"], "amount": 1,
		}))
		if payout.status != http.StatusOK || payout.body["status"] != n["disbursementOutcome"] || payout.body["recipient_balance_after"] != nil {
			t.Errorf("%s: a disbursement is answered %d %s", msisdn, payout.status, payout.raw)
		}
		if client := w.call("GET", "/v1/test_clients/"+msisdn, nil); client.status != http.StatusNotFound {
			t.Errorf("%s is a test client: %s", msisdn, client.raw)
		}
		made[msisdn] = n
		made[msisdn]["id"] = got.body["id"]
	}
	if n := read[int](w, "select count(*) from transactions where passthrough or sim_id is not null"); n != 0 {
		t.Errorf("%d transactions are forwarded or have a SIM", n)
	}
	const slow = "select count(*) from transactions where test_behavior = 'Approve' and due_at = created_at + interval '20 seconds'"
	if n := read[int](w, slow); n != 3 {
		t.Errorf("%d payments are due after 20 seconds, without a latency in the sandbox; want one of each environment", n)
	}
	w.settle()
	if n := read[int](w, "select count(*) from transactions where status = 'PENDING'"); n != 2*3 {
		t.Errorf("%d payments are pending, want the slow ones and those that are never answered", n)
	}
	w.exec("update transactions set due_at = due_at - interval '2 hours', expires_at = expires_at - interval '1 hour' where status = 'PENDING'")
	w.settle() // the slow ones; the others are looked at for the first time an hour late
	w.exec("update transactions set due_at = least(due_at, now()) where status = 'PENDING'")
	w.settle()
	for msisdn, n := range made {
		got := w.call("GET", "/v1/payments/"+n["id"].(string), nil)
		if got.body["status"] != n["collectionOutcome"] {
			t.Errorf("%s: a payment ended %v, want %v", msisdn, got.body["status"], n["collectionOutcome"])
		}
		if got.body["status"] != "SUCCESS" {
			continue
		}
		if refund := w.refund(n["id"].(string), object{"amount": 10}); refund.status != http.StatusCreated || refund.body["status"] != "SUCCESS" {
			t.Errorf("%s: a refund is answered %d %s", msisdn, refund.status, refund.raw)
		}
	}
	if n := read[int](w, "select count(*) from transactions t where not exists (select from events e where e.tenant = t.tenant and e.id = t.id)"); n != 0 {
		t.Errorf("%d transactions have no event", n)
	}
	w.conserved()
}

// What is decided before test numbers, for each of them: a scenario, the operator's limit, the SIM registry.
func TestWhatWinsOverTestNumbers(t *testing.T) {
	w := newFixture(t)
	w.withTestNumbers()
	for i, n := range operators.TestNumbersOf(payments.MTN, payments.Rwanda) {
		w.call("POST", "/v1/payments", payment(fmt.Sprint("forced", i), object{"msisdn": n.MSISDN, "scenario": "timeout"})).is(t, 201, "TIMEOUT")
		w.call("POST", "/v1/payments", payment(fmt.Sprint("more", i), object{"msisdn": n.MSISDN, "amount": 2_000_001})).is(t, 201, "LIMIT_EXCEEDED")
		w.client("sim"+n.Suffix, n.MSISDN, 100, manual)
		w.call("POST", "/v1/payments", payment(fmt.Sprint("poor", i), object{"msisdn": n.MSISDN})).is(t, 201, "INSUFFICIENT_FUNDS")
		pending := w.call("POST", "/v1/payments", payment(fmt.Sprint("able", i), object{"msisdn": n.MSISDN, "amount": 10}))
		pending.is(t, 201, "PENDING")
		if pending.body["latencyMs"] == 20_000.0 {
			t.Error("a SIM's payment has the latency of the slow test number")
		}
		payout := w.call("POST", "/v1/disbursements", payment(fmt.Sprint("payout", i), object{
			"msisdn": n.MSISDN, "operator": "mtn", "country": "RW", "amount": 1,
		}))
		if payout.body["status"] != "SUCCESS" || payout.body["recipient_balance_after"] != 101.0 {
			t.Errorf("a disbursement to the SIM %s is %s", n.MSISDN, payout.raw)
		}
	}
	w.settle()
	if n := read[int](w, "select count(*) from transactions where status = 'PENDING' and sim_id is not null"); n != len(payments.TestNumbers) {
		t.Errorf("%d payments wait for an answer by hand, want one of each SIM", n)
	}
	w.conserved()
}

// A TestClient with a test number is at its own operator, although the number is another operator's.
func TestTestClientTakesItsTestNumberToItsOperator(t *testing.T) {
	w := newFixture(t)
	w.withTestNumbers()
	number := operators.TestNumbersOf(payments.MTN, payments.Rwanda)[0].MSISDN
	w.client("moved", number, 50_000, func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = payments.Orange, "CI" })
	got := w.call("POST", "/v1/payments", payment("r1", object{"msisdn": number, "currency": "XOF"}))
	got.is(t, 201, "PENDING")
	if got.body["operator"] != "orange" || read[int](w, "select count(*) from transactions where sim_id is not null") != 1 {
		t.Errorf("the payment is not the SIM's: %s", got.raw)
	}
}

// A test number is one in its own environment only. Elsewhere nobody knows it, and it is not forwarded there either. Where its own
// environment is disabled or missing, or the sandbox has no test numbers, it is as any number.
func TestTestNumbersElsewhere(t *testing.T) {
	w := newFixture(t)
	calls := 0
	pay := func(msisdn string, market sandboxes.Market) (collected, disbursed any) {
		t.Helper()
		calls++
		at := object{"operator": market.Operator, "country": market.Country, "currency": currencyOf(market.Country), "msisdn": msisdn}
		collected = w.call("POST", "/v1/payments", payment(fmt.Sprint("p", calls), at)).body["status"]
		disbursed = w.call("POST", "/v1/disbursements", payment(fmt.Sprint("d", calls), at, object{"amount": 1})).body["status"]
		return collected, disbursed
	}
	mtn, orange := sandboxes.Market{Operator: payments.MTN, Country: "RW"}, sandboxes.Market{Operator: payments.Orange, Country: "CI"}
	w.config.OpeningFloat[payments.XOF] = 1000
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
	w.withTestNumbers()
	check("standard", true)
	w.config.Environments[0].Enabled = false
	w.sandbox(w.config, key)
	w.follow()
	check("disabled", false)
	w.config.Environments[0].Enabled, w.config.TestNumbers = true, payments.NoTestNumbers
	w.sandbox(w.config, key)
	w.follow()
	check("none", false)
	w.conserved()
}
