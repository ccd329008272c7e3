package httpapi_test

import (
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// sentBeforeAnswer makes a request whose answer is to wait for its event, and fails unless it comes after the first attempt.
func (f *fixture) sentBeforeAnswer(request object, status string) {
	f.t.Helper()
	reference := request["reference"].(string)
	before := f.transactions()
	done := make(chan response, 1)
	go func() { done <- f.call("POST", "/v1/payments", request) }()
	soon(f.t, "it is recorded", func() bool { return f.transactions() == before+1 })
	f.exec("update transactions set due_at = now() where status = 'PENDING' and passthrough is false")
	f.settle()
	select {
	case got := <-done:
		f.t.Fatalf("%s is answered before its event was sent: %s", reference, got.raw)
	default:
	}
	id := read[string](f, "select id::text from transactions where reference = $1", reference)
	f.exec("update events set attempts = 1, state = 'delivered', due_at = null, delivered_at = now() where id = $1::uuid", id)
	select {
	case got := <-done:
		got.is(f.t, 201, status)
	case <-time.After(time.Minute):
		f.t.Fatalf("%s is not answered", reference)
	}
}

// An answer waits for its event, which a fault sends before it. A pending payment is settled meanwhile, and its answer still says so.
func TestAnswerWaitsForTheEventThatIsToldFirst(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 1_000_000)
	f.heard()
	f.faulty(`[{"name":"first","when":{"reference":"told-*","status":"SUCCESS"},"webhook":{"beforeAnswer":true}}]`)
	f.sentBeforeAnswer(payment("told-final", object{"scenario": "success"}), "SUCCESS")
	f.sentBeforeAnswer(payment("told-pending"), "PENDING")
	f = f.standing()
	for _, request := range []object{
		payment("other", object{"scenario": "success"}),         // another reference
		payment("told-failed", object{"scenario": "cancelled"}), // another status
	} {
		f.atOnceAnswered(request)
	}
	f.faulty(`[{"name":"first","when":{"first":1},"webhook":{"beforeAnswer":true}}]`)
	f.exec(`insert into fault_counts (tenant, name, digest, acts) select tenant, 'first', '', 1 from organizations where name = 'checkout'`)
	f.atOnceAnswered(payment("used-up", object{"scenario": "success"}))
	f.config.Webhook = nil
	f.faulty(`[{"name":"first","webhook":{"beforeAnswer":true}}]`)
	f.atOnceAnswered(payment("nobody-hears", object{"scenario": "success"}))
	f.conserved()
}

func TestAnswerOfTheTestNumberThatIsToldFirst(t *testing.T) {
	f := newFixture(t)
	f.heard()
	f.withTestNumbers()
	for _, n := range operators.TestNumbersOf(payments.MTN, payments.Rwanda) {
		if n.Behavior == payments.ApproveCallbackFirst {
			f.sentBeforeAnswer(payment("r1", object{"msisdn": n.MSISDN}), "PENDING")
		}
	}
	f.conserved()
}

// With a clock that stands, no answer waits.
func TestNoAnswerWaitsForAClockThatStands(t *testing.T) {
	f := newFixture(t)
	f.heard()
	f.config.Clock = sandboxes.ClockConfig{Mode: sandboxes.ManualClock}
	f.config.LatencyPercent = 60_000
	f.faulty(`[{"name":"first","webhook":{"beforeAnswer":true}}]`)
	got := f.standing().atOnceAnswered(payment("r1", object{"scenario": "timeout"}))
	got.is(t, 201, "TIMEOUT")
	if got.body["latencyMs"] != 25_000.0 {
		t.Errorf("answered %s", got.raw)
	}
}

// standing is the same system behind an api whose own clock stands: an answer that waits there waits for ever.
func (f *fixture) standing() *fixture {
	now := time.Now()
	return f.serve(func(o *fronts.Options) { o.Now = func() time.Time { return now } })
}

// atOnceAnswered makes a request whose answer waits for nothing.
func (f *fixture) atOnceAnswered(request object) (got response) {
	f.t.Helper()
	done := make(chan response, 1)
	go func() { done <- f.call("POST", "/v1/payments", request) }()
	select {
	case got = <-done:
	case <-time.After(time.Minute):
		f.t.Fatalf("%s waits", request["reference"])
	}
	return got
}
