package httpapi_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// in applies the environments of the fixture, with those of these markets.
func (f *fixture) in(markets ...sandboxes.Market) {
	f.t.Helper()
	config := f.config
	for _, m := range markets {
		config.Environments = append(slices.Clone(config.Environments), sandboxes.EnvironmentConfig{
			Operator: m.Operator, Country: m.Country, Enabled: true, UnknownPolicy: payments.Reject,
		})
	}
	f.sandbox(config, key)
	f.call("GET", "/v1/health", nil) // it reads the configuration
}

// wrongField returns what a refusal says about a field.
func (r response) wrongField(name string) string {
	fields, _ := r.body["detail"].(object)["fieldErrors"].(object)
	texts, _ := fields[name].([]any)
	if len(texts) != 1 {
		return ""
	}
	text, _ := texts[0].(string)
	return text
}

// A sandbox knows the markets of its environments, beside those that every sandbox knows: /v1 takes and tells their operators,
// countries, currencies and numbers, and no others of the table.
func TestASandboxKnowsTheMarketsThatItNames(t *testing.T) {
	f := newFixture(t)
	f.allow()
	mpesa := sandboxes.Market{Operator: payments.MPesa, Country: "KE"}
	const wanjiru = "+254722000001"
	collect := func(reference string, changes ...object) response {
		t.Helper()
		return f.call("POST", "/v1/payments", payment(reference, append([]object{{"currency": "KES", "msisdn": wanjiru, "operator": nil, "country": nil}}, changes...)...))
	}
	const all, more = "cannot be detected from the msisdn: send one of mtn, orange, moov, airtel", "cannot be detected from the msisdn: send one of CI, RW, BJ, TG"
	if got := collect("r1"); got.status != http.StatusBadRequest || got.wrongField("operator") != all || got.wrongField("country") != more {
		t.Errorf("without the environment, a payment gets %d %s", got.status, got.raw)
	}
	f.in(mpesa)
	for _, c := range []struct {
		name, method, path string
		body               any
		status             int
		field, says        string
	}{
		{"a number of another length", "POST", "/v1/payments", payment("r2", object{"currency": "KES", "msisdn": "+25472200000", "operator": nil, "country": nil}),
			400, "msisdn", "+25472200000 has 8 digits after +254, and a number of KE has 9"},
		{"a number of a third operator", "POST", "/v1/payments", payment("r3", object{"currency": "KES", "msisdn": "+254770000000", "operator": nil, "country": nil}),
			400, "operator", "cannot be detected from the msisdn: send one of mpesa"},
		{"a number of a third operator of Rwanda", "POST", "/v1/payments", payment("r3", object{"msisdn": "+250710000000", "operator": nil, "country": nil}),
			400, "operator", all + ", mpesa"},
		{"a number of a third country", "POST", "/v1/payments", payment("r4", object{"currency": "KES", "msisdn": "+33612345678", "operator": nil, "country": nil}),
			400, "country", more + ", KE"},
		{"another currency", "POST", "/v1/payments", payment("r5", object{"msisdn": wanjiru, "operator": nil, "country": nil}),
			400, "currency", "must be KES, the currency of KE"},
		{"an operator elsewhere", "POST", "/v1/test_clients", object{"msisdn": wanjiru, "name": "w", "operator": "mtn"},
			400, "country", "must be CI, RW, BJ or TG, where alone mtn is available: send CI, RW, BJ or TG, or another operator"},
		{"the operator elsewhere", "POST", "/v1/test_clients", object{"msisdn": alice, "name": "w", "operator": "mpesa"},
			400, "country", "must be KE, where alone mpesa is available: send KE, or another operator"},
		{"no operator", "POST", "/v1/test_clients", object{"msisdn": wanjiru, "name": "w", "operator": "nosuch"},
			400, "operator", `expected value to be one of "mtn, orange, moov, airtel, mpesa", for example mpesa`},
		{"no country", "GET", "/v1/payments?country=XX", nil, 400, "country", "must be one of CI, RW, BJ, TG, KE"},
		{"no currency", "GET", "/v1/ledger/entries?currency=EUR", nil, 400, "currency", "must be one of XOF, RWF, KES"},
		{"no operator of a fault", "PUT", "/v1/faults/f", object{"when": object{"operator": "nosuch"}, "api": object{"status": 500}},
			400, "when.operator", `Unsupported value: "nosuch": supported values: "mtn", "orange", "moov", "airtel", "mpesa"`},
		{"a fault", "PUT", "/v1/faults/f", object{"when": object{"operator": "mpesa", "country": "KE"}, "webhook": object{"drop": true}}, 200, "", ""},
		{"an expectation", "POST", "/v1/expectations/evaluate", `{"expect":[{"float":{"currency":"KES","equals":0}},{"transactions":{"where":{"operator":"mpesa","country":"KE"},"count":0}}]}`,
			200, "", ""},
		{"a list", "GET", "/v1/payments?operator=mpesa&country=KE", nil, 200, "", ""},
		{"entries", "GET", "/v1/ledger/entries?currency=KES", nil, 200, "", ""},
		{"a test client", "POST", "/v1/test_clients", object{"msisdn": wanjiru, "name": "w", "balance": 5000}, 201, "", ""},
	} {
		got := f.call(c.method, c.path, c.body)
		if got.status != c.status || c.field != "" && got.wrongField(c.field) != c.says {
			t.Errorf("%s: answered %d %s, want %d and %q", c.name, got.status, got.raw, c.status, c.says)
		}
	}
	if got := f.call("GET", "/v1/test_clients/"+url.PathEscape(wanjiru), nil).body; got["operator"] != "mpesa" || got["country"] != "KE" || got["currency"] != "KES" {
		t.Errorf("the test client is %v", got)
	}
	paid := collect("paid")
	if paid.status != http.StatusCreated || paid.body["operator"] != "mpesa" || paid.body["country"] != "KE" {
		t.Fatalf("a payment gets %d %s", paid.status, paid.raw)
	}

	f.in() // the environment is removed
	for query, want := range map[string]int{"operator=mpesa": 1, "country=KE": 1, "operator=mpesa&country=KE": 1, "operator=mtn": 0} {
		if got := f.call("GET", "/v1/payments?"+query, nil); got.status != http.StatusOK || len(got.body["data"].([]any)) != want {
			t.Errorf("after the removal, %s lists %d %s", query, got.status, got.raw)
		}
	}
	if got := collect("late"); got.status != http.StatusNotFound || !strings.Contains(got.raw, "no enabled environment for the operator mpesa in KE") {
		t.Errorf("after the removal, a payment gets %d %s", got.status, got.raw)
	}
}

// Numbers are portable: the operator of a SIM is the one of its test client, whatever the prefix says.
func TestTheRegistryDecidesInANewCountryToo(t *testing.T) {
	f := newFixture(t)
	f.allow()
	f.in(sandboxes.Market{Operator: payments.MPesa, Country: "KE"}, sandboxes.Market{Operator: payments.Airtel, Country: "KE"})
	if !payments.Airtel.In("KE") {
		t.Fatal("airtel is not in KE")
	}
	for msisdn, operator := range map[string]string{"+254722000002": "airtel", "+254733000002": "mpesa"} {
		if got := f.call("POST", "/v1/test_clients", object{"msisdn": msisdn, "name": "ported", "balance": 5000, "operator": operator}); got.status != http.StatusCreated {
			t.Fatalf("%d %s", got.status, got.raw)
		}
		got := f.call("POST", "/v1/payments", payment("of"+msisdn, object{"currency": "KES", "msisdn": msisdn, "operator": nil, "country": nil}))
		if got.status != http.StatusCreated || got.body["operator"] != operator || got.body["country"] != "KE" {
			t.Errorf("the number %s of %s pays %d %s", msisdn, operator, got.status, got.raw)
		}
	}
}
