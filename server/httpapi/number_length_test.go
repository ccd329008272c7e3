package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	shortCI    = "+225730000901"
	shortOfCI  = shortCI + " has 9 digits after +225, and a number of CI has 10"
	oldBJ      = "+22995000001"
	oldOfBJ    = oldBJ + " has 8 digits after +229, and a number of BJ has 10 since 30 November 2024: +2290195000001"
	reasonName = "X-Cauri-Reason"
)

// A number of the wrong length is what is wrong, and not the fields that were to follow from it.
func TestNumberOfAWrongLength(t *testing.T) {
	f := newFixture(t)
	f.allow()
	onlyNumber := func(got response) {
		t.Helper()
		wrong, _ := got.body["detail"].(object)["fieldErrors"].(object)
		if got.status != http.StatusBadRequest || len(wrong) != 1 || fmt.Sprint(wrong["msisdn"]) != "["+shortOfCI+"]" {
			t.Errorf("answered %d %s", got.status, got.raw)
		}
	}
	onlyNumber(f.call("POST", "/v1/payments", payment("r1", object{"msisdn": shortCI, "currency": "XOF"})))
	onlyNumber(f.call("POST", "/v1/payments", payment("r2", object{"msisdn": shortCI, "currency": "XOF", "operator": "orange"})))
	onlyNumber(f.call("POST", "/v1/payments", payment("r3", object{"msisdn": shortCI, "currency": "XOF", "country": "CI"})))
	onlyNumber(f.call("POST", "/v1/test_clients", object{"msisdn": shortCI}))

	// With both, the contract decides. The number is not known, and the answer, the log and the console say why.
	f.config.Environments[2].UnknownPolicy = payments.Reject
	f.sandbox(f.config, key)
	both := object{"msisdn": shortCI, "currency": "XOF", "operator": "orange", "country": "CI"}
	for path, created := range map[string]response{
		"/v1/payments":      f.call("POST", "/v1/payments", payment("r4", both)),
		"/v1/disbursements": f.call("POST", "/v1/disbursements", payment("r5", both)),
	} {
		if created.body["status"] != "UNKNOWN_MSISDN" || created.header.Get(reasonName) != shortOfCI {
			t.Errorf("%s: %s %s", path, created.header.Get(reasonName), created.raw)
		}
		if entries := f.requests("&all=true&path=" + path); len(entries) == 0 || entries[0]["hint"] != shortOfCI || entries[0]["error"] != nil {
			t.Errorf("%s: the log has %v", path, entries)
		}
		if refused := f.requests("&status=201"); len(refused) > 0 {
			t.Errorf("the log has as refused: %v", refused)
		}
	}
	right := f.call("POST", "/v1/payments", payment("r6", both, object{"msisdn": "+2250730000999"}))
	if right.body["status"] != "UNKNOWN_MSISDN" || right.header.Get(reasonName) != "" {
		t.Errorf("a right number: %s %s", right.header.Get(reasonName), right.raw)
	}

	// Every 404 of a number says it.
	for _, path := range []string{"", "/prompts", "/otp", "/manual"} {
		method := map[bool]string{true: "POST", false: "GET"}[path == "/manual"]
		got := f.call(method, "/v1/test_clients/%2B"+shortCI[1:]+path, nil)
		if message, _ := got.body["message"].(string); got.status != http.StatusNotFound || !strings.HasSuffix(message, shortOfCI+".") {
			t.Errorf("%s: %d %s", path, got.status, got.raw)
		}
	}
	for _, got := range []response{
		f.call("GET", "/v1/ledger/entries?msisdn="+url.QueryEscape(shortCI), nil),
		f.call("POST", "/v1/console_links", object{"msisdn": shortCI}),
		f.call("DELETE", "/v1/test_clients/%2B"+shortCI[1:], nil),
	} {
		if !strings.Contains(got.raw, shortOfCI) {
			t.Errorf("answered %d %s", got.status, got.raw)
		}
	}
	line := object{"testClient": object{"msisdn": shortCI, "balance": 5}}
	got := f.call("POST", "/v1/expectations/evaluate", object{"expect": []object{line, {"transactions": object{"count": 0, "where": object{"msisdn": "+22573000090"}}}}})
	if !strings.Contains(got.raw, shortOfCI) || !strings.Contains(got.raw, "0 transactions (+22573000090 has 8 digits") {
		t.Errorf("the expectation: %s", got.raw)
	}
}

// The numbers of Benin from before 2024 are mapped nowhere. Whoever sends one is told the present one.
func TestFormerNumbersOfBenin(t *testing.T) {
	f, m := withMoov(t)
	f.config.API.TestClients = true
	f.sandbox(f.config, key)
	m.client("ama", ama, 50_000)

	got := f.call("POST", "/v1/payments", payment("r1", object{"msisdn": oldBJ, "currency": "XOF"}))
	if got.body["status"] != "UNKNOWN_MSISDN" || got.body["msisdn"] != oldBJ || got.header.Get(reasonName) != oldOfBJ {
		t.Errorf("/v1: %s %s", got.header.Get(reasonName), got.raw)
	}
	soap := m.push("PushWithPending", "ext-1", oldBJ[1:], "1000")
	if soap.header.Get(reasonName) != oldOfBJ {
		t.Errorf("Moov: %q %s", soap.header.Get(reasonName), soap.raw)
	}
	if status := f.statusOf("ext-1"); status != "UNKNOWN_MSISDN" {
		t.Errorf("Moov: %v", status)
	}
	for _, body := range []object{{"msisdn": oldBJ}, {"msisdn": oldBJ, "operator": "moov", "country": "BJ"}} {
		got := f.call("POST", "/v1/test_clients", body)
		if got.status != http.StatusBadRequest || !strings.Contains(got.raw, oldOfBJ) {
			t.Errorf("a test client: %d %s", got.status, got.raw)
		}
	}
}

// The operators' own APIs keep their bodies, and say in a header how many digits a number has.
func TestOperatorsNameTheLength(t *testing.T) {
	f, a := withAirtel(t)
	const eight = "msisdn: expected a number of RW, which has 9 digits, with or without 250 before them; this one has 8 digits"
	a.call("POST", "/merchant/v1/payments/", airtelPay("c1", "73012345", 1000)).told(t, "wrong_msisdn: subscriber."+eight)
	a.call("GET", "/standard/v1/users/73012345", "").told(t, "wrong_msisdn: "+eight)
	a.call("POST", "/standard/v2/disbursements", airtelPayout("p1", "73012345", a.sealed(a.Secret["airtel-pin"]), 500)).told(t, "wrong_msisdn: payee."+eight)
	entries := f.requests("&path=/operators/airtel")
	if len(entries) != 3 || entries[0]["hint"] != "payee."+eight {
		t.Errorf("the log has %v", entries)
	}

	m := f.mtn(key)
	reference := newReference()
	got := m.call("POST", "/collection/v1_0/requesttopay", payBody("+25078800001", "1000", "RWF"), "X-Reference-Id", reference)
	const short = "+25078800001 has 8 digits after +250, and a number of RW has 9"
	if got.status != http.StatusAccepted || got.raw != "" || got.header.Get(reasonName) != short {
		t.Errorf("MTN: %d %s %s", got.status, got.header.Get(reasonName), got.raw)
	}
	if status := f.statusOf(reference); status != "UNKNOWN_MSISDN" {
		t.Errorf("MTN: %v", status)
	}
}

// A test client of MTN in Rwanda pays by /v1 at any operator whose currency it has. By the own APIs of the others it is an
// unknown subscriber, whatever its prefix is.
func TestClientOfAnotherOperator(t *testing.T) {
	f, a := withAirtel(t)
	mtnClient, airtelClient := "+250730123456", "+250788999999" // each has the prefix of the other
	f.client("bob", mtnClient, 50_000, func(c *sandboxes.TestClientConfig) { c.Operator = payments.MTN })
	f.client("eve", airtelClient, 50_000)
	m := f.mtn(key)

	a.call("POST", "/merchant/v1/payments/", airtelPay("c1", mtnClient[4:], 1000)).told(t, "The test client with "+mtnClient+" is of mtn in RW")
	a.call("POST", "/merchant/v1/payments/", airtelPay("c2", airtelClient[4:], 1000)).told(t, "")
	first, second := m.pay(mtnClient), m.pay(airtelClient)
	for reference, want := range map[string]string{"c1": "UNKNOWN_MSISDN", "c2": "PENDING", first: "PENDING", second: "UNKNOWN_MSISDN"} {
		if status := f.statusOf(reference); status != want {
			t.Errorf("%s: %v, want %s", reference, status, want)
		}
	}

	// Look-ups.
	if got := a.call("GET", "/standard/v1/users/"+mtnClient[4:], ""); !strings.Contains(got.raw, "User not found") {
		t.Errorf("Airtel knows a subscriber of MTN: %s", got.raw)
	}
	if got := a.call("GET", "/standard/v1/users/"+airtelClient[4:], ""); !strings.Contains(got.raw, "eve") {
		t.Errorf("Airtel does not know its subscriber: %s", got.raw)
	}
	for number, want := range map[string]int{mtnClient: http.StatusOK, airtelClient: http.StatusNotFound} {
		if got := m.call("GET", "/collection/v1_0/accountholder/msisdn/"+number[1:]+"/basicuserinfo", ""); got.status != want {
			t.Errorf("MTN: %s is answered %d %s", number, got.status, got.raw)
		}
	}

	// Payouts: nothing arrives.
	before := f.balance(airtelClient)
	reference := newReference()
	m.call("POST", "/disbursement/v1_0/transfer", strings.Replace(payBody(airtelClient, "100", "RWF"), "payer\"", "payee\"", 1), "X-Reference-Id", reference)
	if status := f.statusOf(reference); status != "UNKNOWN_MSISDN" || f.balance(airtelClient) != before {
		t.Errorf("MTN's transfer ends %v, with %d after %d", status, f.balance(airtelClient), before)
	}

	// /v1 knows a client by its number alone, and says that others do not.
	got := f.call("POST", "/v1/payments", payment("v1", object{"msisdn": mtnClient, "operator": "airtel", "country": "RW"}))
	const hint = "The test client with +250730123456 is of mtn in RW. /v1 knows a test client by its number alone, and the own API of airtel in RW does not know this one"
	if got.body["status"] != "PENDING" || got.header.Get(reasonName) != "" && got.header.Get(reasonName) != hint {
		t.Errorf("/v1: %s %s", got.header.Get(reasonName), got.raw)
	}
	f.requests("&all=true") // from now on somebody watches
	got = f.call("POST", "/v1/payments", payment("v2", object{"msisdn": airtelClient, "operator": "mtn", "country": "RW"}))
	if got.body["status"] != "PENDING" {
		t.Errorf("/v1: %s", got.raw)
	}
	got = f.call("POST", "/v1/payments", payment("v3", object{"msisdn": alice, "operator": "airtel", "country": "RW", "scenario": "success"}))
	if got.header.Get(reasonName) != "" {
		t.Errorf("a scenario: %s", got.header.Get(reasonName))
	}

	// A refund by an operator's own API goes to the one that paid, also if that was by /v1.
	f.call("POST", "/v1/payments", payment("v4", object{"msisdn": airtelClient, "operator": "mtn", "country": "RW"}))
	v4 := f.call("GET", "/v1/payments?reference=v4", nil).body["data"].([]any)[0].(object)["id"].(string)
	if got := f.call("POST", "/v1/test_clients/%2B"+airtelClient[1:]+"/prompts/"+v4+"/approve", nil); got.body["status"] != "SUCCESS" {
		t.Fatalf("v4: %s", got.raw)
	}
	before = f.balance(airtelClient)
	refund := newReference()
	m.call("POST", "/disbursement/v1_0/refund", `{"amount":"1000","currency":"RWF","externalId":"x","payerMessage":"","payeeNote":"","referenceIdToRefund":"v4"}`,
		"X-Reference-Id", refund)
	if status := f.statusOf(refund); status != "SUCCESS" || f.balance(airtelClient) != before+1000 {
		t.Errorf("the refund ends %v, with %d after %d", status, f.balance(airtelClient), before)
	}
}

// statusOf is the status of the transaction with a reference.
func (f *fixture) statusOf(reference string) string {
	f.t.Helper()
	all := f.call("GET", "/v1/payments?reference="+url.QueryEscape(reference), nil).body["data"].([]any)
	if len(all) != 1 {
		f.t.Fatalf("%d transactions have the reference %s", len(all), reference)
	}
	return all[0].(object)["status"].(string)
}

// told reports what the answer says in X-Cauri-Reason.
func (a nativeAnswer) told(t *testing.T, want string) {
	t.Helper()
	if got := a.header.Get(reasonName); got != want {
		t.Errorf("the reason is %q, want %q: %d %s", got, want, a.status, a.raw)
	}
}

// On Orange's page a client of another operator has no code, and the page does not say so to the payer.
func TestPageOfAnotherOperator(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	const bob = "+2250707000009"
	f.client("bob", bob, 50_000, func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = payments.MTN, payments.CoteDIvoire })
	p := o.place("o-elsewhere")
	answer := p.open("msisdn", bob, "otp", f.code(bob))
	if p.state() != "INITIATED" || answer.header.Get(reasonName) != "" || strings.Contains(answer.text, "mtn") {
		t.Errorf("the order is %s, and the page says %q", p.state(), answer.header.Get(reasonName))
	}
	entries := f.requests("&all=true&path=/operators/orange/payment")
	if len(entries) != 1 || entries[0]["hint"] != "The test client with "+bob+" is of mtn in CI" {
		t.Errorf("the log has %v", entries)
	}
	p.open("msisdn", awa, "otp", f.code(awa))
	if p.state() != "SUCCESS" {
		t.Errorf("the order is %s", p.state())
	}
}

// Settlement decides again: a payment by an operator's own API needs a test client that is still of that operator.
func TestClientThatChangesItsOperator(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	reference := f.mtn(key).pay(alice)
	f.call("POST", "/v1/payments", payment("v1"))
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior, c.Operator = payments.Manual, payments.Airtel })
	f.approve(alice)
	for reference, want := range map[string]string{reference: "UNKNOWN_MSISDN", "v1": "SUCCESS"} {
		if status := f.statusOf(reference); status != want {
			t.Errorf("%s: %s, want %s", reference, status, want)
		}
	}
	f.conserved()
}
