package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A payment leaves spans and counts in the api and in the worker, and nothing secret in either.
func TestAPaymentIsFollowedThroughTheProcesses(t *testing.T) {
	var mu sync.Mutex
	var traces strings.Builder // texts stand in a message as they are
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		traces.Write(body)
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
	var told []http.Header
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, r.Header)
	}))
	defer hook.Close()

	database := ledgertest.URL(t)
	sandbox(t, database, hook.URL)
	_, err := ledgertest.Open(t, database).ApplyTestClient(t.Context(), "11111111-1111-1111-1111-111111111111", sandboxes.TestClientConfig{
		UID: "22222222-2222-2222-2222-222222222222", Name: "alice", MSISDN: "+250788000001", Operator: payments.MTN, Country: payments.Rwanda,
		Behavior: payments.Approve, Balance: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	api, address, _ := startAPI(t, database)
	worker := startWorker(t, database)
	if status, body, err := pay(t.Context(), address, "forced"); status != http.StatusCreated {
		t.Fatal(status, body, err)
	}
	const free = `{"amount":100,"currency":"RWF","msisdn":"+250788000001","reference":"free","application":"shop"}`
	if status, body, err := payBy(t.Context(), address, free); status != http.StatusCreated || !strings.Contains(body, "PENDING") {
		t.Fatal(status, body, err)
	}
	var metrics string
	eventually(t, "the payment settled, both events were delivered, and the queues were looked at", func() bool {
		_, metrics = get(worker.addresses["worker's probes and metrics"], "/metrics")
		return strings.Contains(metrics, `cauri_worker_deliveries_total{result="delivered"} 2`) && strings.Contains(metrics, "cauri_worker_queue_due{")
	})
	for _, want := range []string{
		`cauri_worker_settled_total{status="SUCCESS"} 1`, "cauri_worker_settle_lag_seconds_count 1", "cauri_worker_settlement_batches_total 1",
		"cauri_worker_delivery_duration_seconds_count 2", "cauri_worker_delivery_retries_total 0", `cauri_worker_queue_due{queue="events"}`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is missing in\n%s", want, metrics)
		}
	}
	api.terminate()
	worker.terminate()

	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{
		"cauri-api", "POST /v1/payments", "cauri.organization", "RecordCollection",
		"cauri-worker", "settlement", "ClaimDueTransactions", "SettleTransactions", "delivery attempt", "cauri.event_state",
	} {
		if !strings.Contains(traces.String(), want) {
			t.Errorf("nothing in the traces is called %s", want)
		}
	}
	for _, secret := range []string{apiKey, "788000001", "whsec_", hook.URL, "cauri_tenant", "DATABASE_URL", "postgres://"} {
		if strings.Contains(traces.String(), secret) || strings.Contains(metrics, secret) {
			t.Errorf("%q is in the traces or in the metrics", secret)
		}
	}
	for _, header := range told {
		if header.Get("Traceparent") != "" {
			t.Error("the trace was sent to a merchant")
		}
	}
}
