package explain_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

const (
	apiKey = "cauri_sk_test_0123456789abcdefghijklmnopqrstuv"
	secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	made   = "2026-05-31T12:00:00Z"
	ended  = "2026-05-31T12:00:01Z"
	soon   = "2026-05-31T12:00:30Z"
	tx     = "TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE"
	evt    = "evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE"
	shop   = "+2250700000001"
)

// sandbox is what the API of a sandbox answers.
type sandbox struct {
	payments []wire.Payment
	events   []wire.EventDetail
	requests []wire.LoggedRequest
	clock    wire.Clock
	webhook  wire.Webhook
	payers   []wire.TestClient
	prompts  []wire.Prompt
	numbers  []wire.TestNumber
	check    *wire.ReceiverCheck
	compared wire.Comparison
	faults   []wire.Fault
	refusal  *wire.Error // of all requests; nil: none
}

// paid is a sandbox with a payment that ended with a status, without events.
func paid(status string) *sandbox {
	p := wire.Payment{
		ID: tx, Type: "collection", Status: status, Amount: 1500, CustomerTotal: 1500, Currency: "XOF", Operator: "orange", Country: "CI", MSISDN: shop,
		Reference: "r1", OrderRef: "o1", CreatedAt: made, CompletedAt: new(ended), LatencyMs: 1000,
	}
	if status == "PENDING" {
		p.CompletedAt = nil
	}
	return &sandbox{
		payments: []wire.Payment{p}, clock: wire.Clock{Mode: "Real", Now: "2026-05-31T12:00:02Z"},
		payers:  []wire.TestClient{{MSISDN: shop, Name: "awa", Source: "api", Operator: "orange", Country: "CI", Currency: "XOF", State: "Active", Behavior: "Approve"}},
		webhook: wire.Webhook{URL: new("http://shop:3000/"), Events: []string{"payment.completed"}},
	}
}

// sent adds the event of the payment with attempts.
func (s *sandbox) sent(state string, attempts ...wire.DeliveryAttempt) *sandbox {
	s.events = []wire.EventDetail{{
		EventSummary: wire.EventSummary{
			ID: evt, Event: "payment.completed", TxID: tx, Status: s.payments[0].Status, State: state, CreatedAt: ended, AttemptCount: len(attempts),
		},
		Body: `{"event":"payment.completed","tx_id":"` + tx + `", "raw":{}}`, Attempts: attempts,
	}}
	return s
}

// advised adds the advice of the API to the event.
func (s *sandbox) advised(a *wire.Advice) *sandbox {
	s.events[0].Advice = a
	return s
}

func attempt(status int, answer string) wire.DeliveryAttempt {
	a := wire.DeliveryAttempt{Number: 1, StartedAt: ended, RealStartedAt: ended, ResponseBody: answer}
	if status > 0 {
		a.ResponseStatus = &status
	}
	return a
}

// refused adds a refused request to the log.
func (s *sandbox) refused(id string, status int, code, sent, answer string) *sandbox {
	r := wire.LoggedRequest{ID: id, Time: soon, Method: "POST", Path: "/v1/payments", Status: &status, Error: &code}
	if code == "" {
		r.Error = nil
	}
	if sent != "" {
		r.RequestBody = json.RawMessage(sent)
	}
	if answer != "" {
		r.ResponseBody = json.RawMessage(answer)
	}
	s.requests = append([]wire.LoggedRequest{r}, s.requests...)
	return s
}

// start serves the sandbox, and returns who explains it.
func (s *sandbox) start(t *testing.T) *explain.Explainer {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &explain.Explainer{
		API: sandboxapi.New(server.URL, apiKey, nil), Secrets: map[string]string{explain.SigningSecret: secret, "CAURI_API_KEY": apiKey}, Now: time.Now,
	}
}

func (s *sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "/")
	q := r.URL.Query()
	switch {
	case s.refusal != nil:
		w.WriteHeader(s.refusal.Status)
		answer(w, s.refusal)
	case len(parts) == 3 && parts[0] == "events":
		answer(w, s.compared)
	case len(parts) == 3:
		answer(w, wire.PromptList{Data: s.prompts})
	case len(parts) == 2:
		s.serveOne(w, parts[0], parts[1])
	default:
		s.serveList(w, parts[0], q)
	}
}

func answer(w http.ResponseWriter, value any) { _ = json.NewEncoder(w).Encode(value) }

func (s *sandbox) serveOne(w http.ResponseWriter, kind, id string) {
	for i := range s.payments {
		if kind == "payments" && s.payments[i].ID == id {
			answer(w, s.payments[i])
			return
		}
	}
	for i := range s.events {
		if kind == "events" && s.events[i].ID == id {
			answer(w, s.events[i])
			return
		}
	}
	for i := range s.payers {
		if kind == "test_clients" && s.payers[i].MSISDN == id {
			answer(w, s.payers[i])
			return
		}
	}
	if kind == "receiver_checks" && s.check != nil && s.check.ID == id {
		answer(w, s.check)
		return
	}
	w.WriteHeader(http.StatusNotFound)
	answer(w, wire.Error{Code: "not_found", Message: "There is none."})
}

func (s *sandbox) serveList(w http.ResponseWriter, kind string, q url.Values) {
	switch kind {
	case "payments":
		found := []wire.Payment{}
		for _, p := range s.payments {
			fits := func(name, value string) bool { return !q.Has(name) || q.Get(name) == value }
			if fits("reference", p.Reference) && fits("order_ref", p.OrderRef) && fits("msisdn", p.MSISDN) {
				found = append(found, p)
			}
		}
		answer(w, map[string]any{"data": found})
	case "events":
		found := []wire.EventSummary{}
		for i := range s.events {
			found = append(found, s.events[i].EventSummary)
		}
		answer(w, wire.EventList{Data: found})
	case "requests":
		answer(w, wire.RequestList{Data: s.requests})
	case "faults":
		answer(w, wire.FaultList{Data: s.faults})
	case "clock":
		answer(w, s.clock)
	case "webhook":
		answer(w, s.webhook)
	case "test_numbers":
		answer(w, wire.TestNumberList{Data: s.numbers})
	}
}
