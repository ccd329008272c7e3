package worker_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators/operatorstest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	stranger       = "+250788000009" // whom the sandbox does not know
	airtelStranger = "+250730000009"
)

// operatorsOf are the operators that the sandbox's store names, or what stands in their way, with a count of what reached them.
type operatorsOf struct {
	*httptest.Server
	*operatorstest.Operators
	mu    sync.Mutex
	asked []string // method and path
}

// newOperators serves operators behind a handler that may answer in their place, and has the store name them.
func newOperators(w *fixture, before func(rw http.ResponseWriter, r *http.Request) (answered bool)) *operatorsOf {
	w.t.Helper()
	o := &operatorsOf{Operators: &operatorstest.Operators{}}
	o.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.asked = append(o.asked, r.Method+" "+r.URL.Path)
		o.mu.Unlock()
		if before == nil || !before(rw, r) {
			o.Operators.ServeHTTP(rw, r)
		}
	}))
	w.t.Cleanup(o.Close)
	w.configure(named(o.URL, known))
	return o
}

// count is how many requests began so.
func (o *operatorsOf) count(prefix string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.asked {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

const (
	mtnPay    = "POST /mtn/collection/v1_0/requesttopay"
	airtelPay = "POST /airtel/merchant/v1/payments"
)

// markets are where the sandbox takes payments.
var markets = []struct {
	operator payments.Operator
	country  payments.Country
}{{payments.MTN, "RW"}, {payments.Airtel, "RW"}, {payments.Orange, "CI"}, {payments.Moov, "TG"}, {payments.MPesa, "KE"}}

// newPassthrough is a fixture without a latency, whose operators decide on numbers that the sandbox does not know.
func newPassthrough(t *testing.T, change ...func(*sandboxes.Config)) *fixture {
	t.Helper()
	w := newFixture(t, nil)
	w.config.LatencyPercent = 0
	w.config.Environments = nil
	for _, market := range markets {
		w.config.Environments = append(w.config.Environments, sandboxes.EnvironmentConfig{
			Operator: market.operator, Country: market.country, Enabled: true, UnknownPolicy: payments.Passthrough,
		})
	}
	w.configure(change...)
	return w
}

// configure changes the sandbox.
func (w *fixture) configure(change ...func(*sandboxes.Config)) {
	w.t.Helper()
	for _, f := range change {
		f(&w.config)
	}
	if _, err := w.ApplySandbox(w.t.Context(), w.config); err != nil {
		w.t.Fatal(err)
	}
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.sandbox, _ = directory.ByKey(sandboxes.KeyHash{1})
}

// named has the store name the operators of a server, or none at all for an empty URL, with its credentials for them.
func named(server string, c *sandboxes.OperatorCredentials) func(*sandboxes.Config) {
	return func(config *sandboxes.Config) {
		config.Operators = nil
		for _, market := range markets {
			access := sandboxes.OperatorAccess{Store: "shop", Operator: market.operator, Country: market.country, Credentials: c}
			if server != "" {
				access.BaseURL = operatorstest.BaseURL(server, market.operator)
			}
			config.Operators = append(config.Operators, access)
		}
	}
}

var known = &sandboxes.OperatorCredentials{ClientID: "shop", ClientSecret: "hush", MerchantKey: "mk",
	ShortCode: operatorstest.MPesaShortCode, Passkey: operatorstest.MPesaPasskey}

// collect makes a collection of 1000, of which the merchant gets 985, from a number that the sandbox does not know.
func (w *fixture) collect(reference string, operator payments.Operator, change ...func(*ledger.NewCollection)) payments.ID {
	w.t.Helper()
	id, err := payments.NewID(time.Now(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	number := map[payments.Operator]string{payments.MTN: stranger, payments.Airtel: airtelStranger, payments.Orange: "+2250700000009",
		payments.Moov: "+22878000009", payments.MPesa: "+254712000009"}
	country := map[payments.Operator]payments.Country{payments.MTN: "RW", payments.Airtel: "RW", payments.Orange: "CI",
		payments.Moov: "TG", payments.MPesa: "KE"}[operator]
	currency, _ := country.Currency()
	n := &ledger.NewCollection{ExpireAfter: time.Hour, Transaction: payments.Transaction{
		Details: payments.Details{Reference: reference, Currency: string(currency), MSISDN: number[operator]},
		ID:      id, Type: payments.Collection, Status: payments.Pending, OrderRef: reference, Store: "shop",
		EnvironmentID: "env_1", Operator: operator, Country: country, Amount: 1000, Commission: 15,
		NetAmount: 985, AbsorptionPct: 100, Latency: time.Second,
	}}
	n.RequestHash, n.ConfigVersion = []byte(reference), w.sandbox.ConfigVersion
	for _, f := range change {
		f(n)
	}
	if err := w.CreateCollection(w.t.Context(), w.sandbox.Tenant, n); err != nil {
		w.t.Fatal(err)
	}
	return id
}

// ended waits for a transaction's outcome.
func (w *fixture) ended(id payments.ID) (ended *payments.Transaction) {
	w.t.Helper()
	eventually(w.t, func() string {
		t, err := w.GetTransaction(w.t.Context(), w.sandbox.Tenant, id)
		if err != nil {
			w.t.Fatal(err)
		}
		ended = t
		if !t.Status.Terminal() {
			return "the transaction is still " + string(t.Status)
		}
		return ""
	})
	return ended
}

func (w *fixture) float(currency string) int64 {
	w.t.Helper()
	return read[int64](w, "select balance from floats where currency = $1", currency)
}

// once fails unless the transaction was settled once, for the merchant's net amount or for nothing.
func (w *fixture) once(t *payments.Transaction) {
	w.t.Helper()
	var earned, before int64
	if t.Currency == "RWF" {
		before = 1000
	}
	if t.Status == payments.Success {
		earned = t.NetAmount
	}
	if got := w.float(t.Currency); got != before+earned {
		w.t.Errorf("the merchant has %d, want %d", got, before+earned)
	}
	if got := read[int](w, "select count(*)::int from events"); got != 1 {
		w.t.Errorf("there are %d events", got)
	}
	want := fmt.Sprintf("%d 0 %t", earned, earned != 0)
	if got := read[string](w,
		"select merchant_delta || ' ' || sim_delta || ' ' || (merchant_balance_after is not null) from transactions"); got != want {
		w.t.Errorf("it moved %s, want %s", got, want)
	}
}
