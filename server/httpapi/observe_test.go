package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Requests are counted by the pattern of their route under every form of their path, never by the path itself.
func TestRequestsAreCountedByRoute(t *testing.T) {
	f := newFixture(t)
	registry := prometheus.NewRegistry()
	asAPI := ledgertest.OpenAs(t, f.db, ledgertest.API)
	o := frontstest.Options(asAPI)
	o.Metrics = telemetry.NewAPI(registry)
	server := httptest.NewServer(fronts.New(o))
	t.Cleanup(server.Close)
	f.url = server.URL

	made := f.call(http.MethodPost, "/v1/payments", blockedPayment("r1"))
	f.call(http.MethodPost, "/v1/payments", blockedPayment("r1")) // a repeat
	id := made.body["id"].(string)
	f.call(http.MethodGet, "/v1/payments/"+id, nil)
	f.call(http.MethodGet, "/sandboxes/team/checkout/api/v1/payments/"+id, nil)
	f.call(http.MethodGet, "/v1/nothing/"+id, nil)
	f.call(http.MethodDelete, "/v1/payments", nil)
	if answer, err := http.Get(server.URL + "/sandboxes/team/checkout/operators/mtn/collection/" + id); err != nil {
		t.Fatal(err)
	} else {
		_ = answer.Body.Close()
	}
	f.call(http.MethodGet, "/v1/payments", nil, func(r *http.Request) { r.Header.Del("Authorization") })
	f.call(http.MethodGet, "/v1/payments", nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer wrong") })

	want := `
# HELP cauri_api_auth_failures_total Requests refused because of their API key: missing or malformed, or invalid.
# TYPE cauri_api_auth_failures_total counter
cauri_api_auth_failures_total{reason="invalid"} 1
cauri_api_auth_failures_total{reason="missing"} 2
# HELP cauri_api_payments_total Transactions recorded, without repeated requests, by type and initial status.
# TYPE cauri_api_payments_total counter
cauri_api_payments_total{status="ACCOUNT_BLOCKED",type="collection"} 1
# HELP cauri_api_requests_in_flight Requests that are not answered yet, including those whose answer is held.
# TYPE cauri_api_requests_in_flight gauge
cauri_api_requests_in_flight 0
# HELP cauri_api_requests_total Requests answered, by route pattern, method and HTTP status.
# TYPE cauri_api_requests_total counter
cauri_api_requests_total{code="200",method="GET",route="/v1/payments/{id}"} 2
cauri_api_requests_total{code="200",method="POST",route="/v1/payments"} 1
cauri_api_requests_total{code="201",method="POST",route="/v1/payments"} 1
cauri_api_requests_total{code="401",method="GET",route="/v1/payments"} 2
cauri_api_requests_total{code="401",method="GET",route="/operators/mtn/*"} 1
cauri_api_requests_total{code="404",method="GET",route="unmatched"} 1
cauri_api_requests_total{code="405",method="DELETE",route="unmatched"} 1
`
	err := testutil.GatherAndCompare(registry, strings.NewReader(want), "cauri_api_requests_total", "cauri_api_requests_in_flight",
		"cauri_api_auth_failures_total", "cauri_api_payments_total")
	if err != nil {
		t.Error(err)
	}
}

// blockedPayment is a collection that ends at once.
func blockedPayment(reference string) object {
	return object{"amount": 1000, "currency": "RWF", "operator": "mtn", "country": "RW", "msisdn": alice, "reference": reference,
		"application": "shop", "scenario": "blocked"}
}

// BenchmarkObserving measures what following a request costs, on one that does next to nothing.
func BenchmarkObserving(b *testing.B) {
	for name, metrics := range map[string]*telemetry.API{"off": nil, "metrics": telemetry.NewAPI(prometheus.NewRegistry())} {
		b.Run(name, func(b *testing.B) {
			server := fronts.New(fronts.Options{Version: "test", Metrics: metrics})
			request := httptest.NewRequest(http.MethodGet, "/v1/nothing", nil)
			b.ReportAllocs()
			for b.Loop() {
				server.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
	}
}
