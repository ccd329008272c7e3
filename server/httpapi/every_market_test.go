package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A payment ends alike in every market of the table, whether it is made by /v1 or by the operator's own API. A sandbox may have
// all of them.
func TestPaymentsEndAlikeInEveryMarket(t *testing.T) {
	f := newFixture(t)
	f.config.CallbackHosts = []string{"shop.example"}
	f.config.Environments = nil
	markets := slices.Clone(payments.Markets)
	// MTN's target environment sandbox is the first environment. It is for the market whose name in the API is not known.
	slices.SortStableFunc(markets, func(a, b payments.MarketFacts) int {
		return strings.Compare(min(a.NameInAPI, "x"), min(b.NameInAPI, "x"))
	})
	for _, m := range markets {
		f.config.Environments = append(f.config.Environments,
			sandboxes.EnvironmentConfig{Operator: m.Operator, Country: m.Country, Enabled: true, UnknownPolicy: payments.Reject})
	}
	f.allow()
	f.call("GET", "/v1/health", nil) // it reads the configuration
	native := f.payers()
	for _, m := range markets {
		currency := m.Country.Facts().Currency
		for suffix, want := range map[string]string{"111": "SUCCESS", "222": "INSUFFICIENT_FUNDS"} {
			msisdn := m.TestNumbers + suffix
			f.client("payer-"+suffix, msisdn, map[string]int64{"SUCCESS": 50_000}[want], func(c *sandboxes.TestClientConfig) {
				c.Name += "-" + string(m.Operator) + "-" + strings.ToLower(string(m.Country))
				c.Operator, c.Country = m.Operator, m.Country
			})
			got := f.call("POST", "/v1/payments", payment("v1"+msisdn, object{
				"amount": 1000, "currency": currency, "operator": m.Operator, "country": m.Country, "msisdn": msisdn,
			}))
			if got.status != http.StatusCreated {
				t.Fatalf("%s in %s: answered %d %s", m.Operator, m.Country, got.status, got.raw)
			}
			sources := []string{"api"}
			if native[m.Operator](m, msisdn) {
				sources = append(sources, "native")
			}
			f.finish()
			all := f.call("GET", "/v1/payments?"+url.Values{
				"msisdn": {msisdn}, "operator": {string(m.Operator)}, "country": {string(m.Country)},
			}.Encode(), nil).body["data"].([]any)
			var made []string
			for _, each := range all {
				p := each.(object)
				made = append(made, fmt.Sprint(p["source"]))
				if p["status"] != want || p["amount"] != 1000.0 || p["currency"] != string(currency) {
					t.Errorf("%s in %s by %s: it is %v of %v %v, want %s", m.Operator, m.Country, p["source"], p["status"], p["amount"], p["currency"], want)
				}
			}
			if slices.Sort(made); !slices.Equal(made, sources) {
				t.Errorf("%s in %s: %s has payments by %v, want %v", m.Operator, m.Country, msisdn, made, sources)
			}
		}
	}
	if got := f.call("GET", "/v1/ledger", nil); got.body["balanced"] != true {
		t.Errorf("the ledger is %s", got.raw)
	}
}

// payers are functions that ask for 1000 by an operator's own API. They return false for a market that the API is not in.
func (f *fixture) payers() map[payments.Operator]func(m payments.MarketFacts, msisdn string) bool {
	mtn, airtel, orange, moov, mpesa := f.mtn(key), f.airtel(key), f.orange(key), f.moov(key), f.mpesa(key)
	accepted := func(got nativeAnswer, status int) bool {
		f.t.Helper()
		if got.status != status {
			f.t.Fatalf("answered %d %s (%s)", got.status, got.raw, got.header.Get("X-Cauri-Reason"))
		}
		return true
	}
	return map[payments.Operator]func(m payments.MarketFacts, msisdn string) bool{
		payments.MTN: func(m payments.MarketFacts, msisdn string) bool {
			if mtn.target = m.NameInAPI; mtn.target == "" {
				mtn.target = "sandbox"
			}
			return accepted(mtn.call("POST", "/collection/v1_0/requesttopay", fmt.Sprintf(
				`{"amount":"1000","currency":%q,"externalId":"1","payer":{"partyIdType":"MSISDN","partyId":%q},"payerMessage":"","payeeNote":""}`,
				m.Country.Facts().Currency, msisdn[1:]), "X-Reference-Id", newReference()), http.StatusAccepted)
		},
		payments.Airtel: func(m payments.MarketFacts, msisdn string) bool {
			country, currency, id := string(m.Country), string(m.Country.Facts().Currency), "n"+msisdn[1:]
			return accepted(airtel.call("POST", "/merchant/v2/payments/", fmt.Sprintf(
				`{"reference":"order","subscriber":{"country":%q,"currency":%q,"msisdn":%q},"transaction":{"amount":1000,"country":%[1]q,"currency":%[2]q,"id":%[4]q}}`,
				country, currency, strings.TrimPrefix(msisdn, "+"+m.Country.CallingCode()), id), "X-Country", country, "X-Currency", currency), http.StatusOK)
		},
		payments.Orange: func(m payments.MarketFacts, msisdn string) bool {
			id := "n" + msisdn[1:]
			got := orange.call("/orange-money-webpay/"+strings.ToLower(string(m.Country))+"/v1/webpayment",
				orange.order(id, object{"currency": m.Country.Facts().Currency}))
			accepted(got, http.StatusCreated)
			p := &placed{orange: orange, id: id, page: got.body["payment_url"].(string)}
			return p.confirm(msisdn, f.code(msisdn)).status < 400
		},
		payments.Moov: func(m payments.MarketFacts, msisdn string) bool {
			switch m.Country {
			case payments.Benin:
				return accepted(moov.push("PushWithPending", "n"+msisdn[1:], msisdn, 1000), http.StatusOK)
			case payments.Togo:
				return accepted(moov.post(moovDebit, moovPay("n"+msisdn[1:], msisdn, 1000)), http.StatusOK)
			}
			return false
		},
		payments.MPesa: func(_ payments.MarketFacts, msisdn string) bool {
			return accepted(mpesa.push("", msisdn, 1000), http.StatusOK)
		},
	}
}
