package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

type object = map[string]any

// merchant is the backend in a namespace, which is told what to do and asked what it saw.
type merchant struct {
	cluster   *cluster
	namespace string
}

func (c *cluster) merchant(namespace string) merchant { return merchant{c, namespace} }

// ask reaches the merchant's Service through the Kubernetes API.
func (m merchant) ask(t *testing.T, method, path string, body, into any) {
	t.Helper()
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	text, err := m.cluster.ask(
		t.Context(),
		method,
		fmt.Sprintf("/api/v1/namespaces/%s/services/merchant:8080/proxy%s", m.namespace, path),
		encoded,
	)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("asking the merchant in %s: %v", m.namespace, err)
	}
}

// call has the merchant call Cauri, and again while Cauri is overloaded: other tests share the machine. It returns the status
// and the body of the answer.
func (m merchant) call(t *testing.T, call merchantapi.Call, body any) (int, object) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(time.Second) {
		status, answer := m.callOnce(t, call, body)
		if answer["error"] != "overloaded" || time.Since(begun) > time.Minute {
			return status, answer
		}
	}
}

func (m merchant) callOnce(t *testing.T, call merchantapi.Call, body any) (int, object) {
	t.Helper()
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		call.Body = encoded
	}
	var answer merchantapi.Answer
	m.ask(t, http.MethodPost, "/calls", call, &answer)
	var fields object
	if err := json.Unmarshal(answer.Body, &fields); err != nil {
		t.Fatalf("%s %s was answered %d %s", call.Method, call.Path, answer.Status, answer.Body)
	}
	return answer.Status, fields
}

func (m merchant) get(t *testing.T, binding, path string) (int, object) {
	t.Helper()
	return m.call(t, merchantapi.Call{Binding: binding, Method: http.MethodGet, Path: path}, nil)
}

func (m merchant) post(t *testing.T, binding, path string, body any) (int, object) {
	t.Helper()
	return m.call(t, merchantapi.Call{Binding: binding, Method: http.MethodPost, Path: path}, body)
}

// pay makes a payment of 1000 francs and returns it.
func (m merchant) pay(t *testing.T, binding, reference, msisdn, scenario string) object {
	t.Helper()
	body := object{"amount": 1000, "currency": "RWF", "msisdn": msisdn, "reference": reference, "application": "shop"}
	if scenario != "" {
		body["scenario"] = scenario
	}
	status, payment := m.post(t, binding, "/payments", body)
	if status != http.StatusCreated {
		t.Fatalf("the payment %s was answered %d %v", reference, status, payment)
	}
	return payment
}

// settled waits until a payment has its outcome, and returns it.
func (m merchant) settled(t *testing.T, binding, id string) (payment object) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		var status int
		if status, payment = m.get(t, binding, "/payments/"+id); status != http.StatusOK || payment["status"] == "PENDING" {
			return fmt.Errorf("the payment %s is answered %d %v", id, status, payment["status"])
		}
		return nil
	})
	return payment
}

func (m merchant) arrivals(t *testing.T, binding string) (arrivals merchantapi.Arrivals) {
	t.Helper()
	m.ask(t, http.MethodGet, "/arrivals/"+binding, nil, &arrivals)
	return arrivals
}

// told waits until the event of a transaction has arrived, and checks what it says.
func (m merchant) told(t *testing.T, binding, id, event, status string) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		for _, e := range m.arrivals(t, binding).Events {
			if e.TransactionID != id {
				continue
			}
			if e.Event != event || e.Status != status {
				t.Fatalf("the event of %s is %s with %s, not %s with %s", id, e.Event, e.Status, event, status)
			}
			return nil
		}
		return fmt.Errorf("the event %s of %s has not arrived; refused were %v", event, id, m.arrivals(t, binding).Refused)
	})
}

// begin starts a load, which is ended with the test at the latest.
func (m merchant) begin(t *testing.T, name string, plan merchantapi.Plan) {
	t.Helper()
	m.ask(t, http.MethodPost, "/loads/"+name, plan, nil)
}

func (m merchant) report(t *testing.T, name string) (report merchantapi.Report) {
	t.Helper()
	m.ask(t, http.MethodGet, "/loads/"+name, nil, &report)
	return report
}

// answered waits until so many requests of a load are answered.
func (m merchant) answered(t *testing.T, name string, n int) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		if report := m.report(t, name); report.Answered < n {
			return fmt.Errorf("%d requests of the load %s are answered, not %d: %v", report.Answered, name, n, report.Failures)
		}
		return nil
	})
}

// end ends a load and returns what became of it when all is answered.
func (m merchant) end(t *testing.T, name string) merchantapi.Report {
	t.Helper()
	m.ask(t, http.MethodDelete, "/loads/"+name, nil, nil)
	return m.ended(t, name, 90*time.Second)
}

// ended waits for the end of a load.
func (m merchant) ended(t *testing.T, name string, within time.Duration) (report merchantapi.Report) {
	t.Helper()
	eventually(t, within, func() error {
		if report = m.report(t, name); report.Running {
			return fmt.Errorf("%d of %d requests are answered", report.Answered, report.Requests)
		}
		return nil
	})
	t.Logf(
		"the load %s: %d requests, %d failed, %d sent again, %d connections, %d answers asked for another one; answers took %s (p50), %s (p99), %s at most; at most %s late",
		name,
		report.Requests,
		report.Failed,
		report.Resent,
		report.Connections,
		report.Closing,
		report.Took.P50.Round(
			time.Millisecond,
		),
		report.Took.P99.Round(time.Millisecond),
		report.Took.Max.Round(time.Millisecond),
		report.Late.Round(time.Millisecond),
	)
	return report
}

// unharmed checks that every request of a load was answered by its result, without the HTTP client's help.
func unharmed(t *testing.T, report merchantapi.Report) {
	t.Helper()
	if report.Failed > 0 || report.Resent > 0 || report.DialFailures > 0 {
		t.Errorf("of %d requests %d failed, %d were sent again by the client, and %d connections could not be opened: %v",
			report.Requests, report.Failed, report.Resent, report.DialFailures, report.Failures)
	}
}

// pollEvery is how often something that is waited for is looked at.
const pollEvery = 200 * time.Millisecond

// eventually fails the test unless a condition, which says what is missing, holds in time.
func eventually(t *testing.T, within time.Duration, condition func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		missing := condition()
		if missing == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %v", within, missing)
		}
		time.Sleep(pollEvery)
	}
}
