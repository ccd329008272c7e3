package httpapi_test

import (
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// toldFirst makes a request whose answer is to wait for its event, and fails unless it comes after the first attempt.
func (w *fixture) toldFirst(request object, status string) {
	w.t.Helper()
	reference := request["reference"].(string)
	before := w.transactions()
	done := make(chan response, 1)
	go func() { done <- w.call("POST", "/v1/payments", request) }()
	soon(w.t, "it is recorded", func() bool { return w.transactions() == before+1 })
	w.exec("update transactions set due_at = now() where status = 'PENDING' and passthrough is false")
	w.settle()
	select {
	case got := <-done:
		w.t.Fatalf("%s is answered before its event was sent: %s", reference, got.raw)
	default:
	}
	id := read[string](w, "select id::text from transactions where reference = $1", reference)
	w.exec("update events set attempts = 1, state = 'delivered', due_at = null, delivered_at = now() where id = $1::uuid", id)
	select {
	case got := <-done:
		got.is(w.t, 201, status)
	case <-time.After(time.Minute):
		w.t.Fatalf("%s is not answered", reference)
	}
}

// An answer waits for its event, which a fault sends before it. A pending payment is settled meanwhile, and its answer still says so.
func TestAnswerWaitsForTheEventThatIsToldFirst(t *testing.T) {
	w := newFixture(t)
	w.client("alice", alice, 1_000_000)
	w.heard()
	w.faulty(`[{"name":"first","when":{"reference":"told-*","status":"SUCCESS"},"webhook":{"beforeAnswer":true}}]`)
	w.toldFirst(payment("told-final", object{"scenario": "success"}), "SUCCESS")
	w.toldFirst(payment("told-pending"), "PENDING")
	w = w.standing()
	for _, request := range []object{
		payment("other", object{"scenario": "success"}),         // another reference
		payment("told-failed", object{"scenario": "cancelled"}), // another status
	} {
		w.atOnceAnswered(request)
	}
	w.faulty(`[{"name":"first","when":{"first":1},"webhook":{"beforeAnswer":true}}]`)
	w.exec(`insert into fault_counts (tenant, name, digest, acts) select tenant, 'first', '', 1 from organizations where name = 'checkout'`)
	w.atOnceAnswered(payment("used-up", object{"scenario": "success"}))
	w.config.Webhook = nil
	w.faulty(`[{"name":"first","webhook":{"beforeAnswer":true}}]`)
	w.atOnceAnswered(payment("nobody-hears", object{"scenario": "success"}))
	w.conserved()
}

func TestAnswerOfTheTestNumberThatIsToldFirst(t *testing.T) {
	w := newFixture(t)
	w.heard()
	w.withTestNumbers()
	for _, n := range operators.TestNumbersOf(payments.MTN, payments.Rwanda) {
		if n.Behavior == payments.ApproveCallbackFirst {
			w.toldFirst(payment("r1", object{"msisdn": n.MSISDN}), "PENDING")
		}
	}
	w.conserved()
}

// With a clock that stands, no answer waits.
func TestNoAnswerWaitsForAClockThatStands(t *testing.T) {
	w := newFixture(t)
	w.heard()
	w.config.Clock = sandboxes.ClockConfig{Mode: sandboxes.ManualClock}
	w.config.LatencyPercent = 60_000
	w.faulty(`[{"name":"first","webhook":{"beforeAnswer":true}}]`)
	got := w.standing().atOnceAnswered(payment("r1", object{"scenario": "timeout"}))
	got.is(t, 201, "TIMEOUT")
	if got.body["latencyMs"] != 25_000.0 {
		t.Errorf("answered %s", got.raw)
	}
}

// standing is the same system behind an api whose own clock stands: an answer that waits there waits for ever.
func (w *fixture) standing() *fixture {
	now := time.Now()
	return w.serve(func(o *fronts.Options) { o.Now = func() time.Time { return now } })
}

// atOnceAnswered makes a request whose answer waits for nothing.
func (w *fixture) atOnceAnswered(request object) (got response) {
	w.t.Helper()
	done := make(chan response, 1)
	go func() { done <- w.call("POST", "/v1/payments", request) }()
	select {
	case got = <-done:
	case <-time.After(time.Minute):
		w.t.Fatalf("%s waits", request["reference"])
	}
	return got
}
