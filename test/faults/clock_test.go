package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// The database's clock decides what is due, leased and expired. A worker with a wrong clock does nothing early and
// takes no lease of another worker.
func TestWorkerWithAWrongClock(t *testing.T) {
	for _, offset := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		t.Run(offset.String(), func(t *testing.T) { wrongClock(t, offset) })
	}
}

func wrongClock(t *testing.T, offset time.Duration) {
	const count, firstDelay = 30, 3 * time.Second
	w := newFixture(t)
	api := w.api("api")
	w.worker("right")
	w.worker("wrong", "--test-clock-offset="+offset.String())

	slow := w.merchant("slow", api, system.AcknowledgeAfter(2*time.Second), func(c *sandboxes.Config) { c.LatencyPercent = 100 })
	failing := w.merchant("failing", api, system.FailFirst(1), func(c *sandboxes.Config) {
		c.Webhook.Retry.InitialDelay, c.Webhook.Retry.MaxDelay = firstDelay, firstDelay
	})
	waiting := w.merchant("waiting", api, system.Acknowledge, func(c *sandboxes.Config) { c.PendingTimeout = 4 * time.Minute })
	approves, err := slow.AddPayer(t.Context(), 1, payments.Approve, 1_000_000)
	w.must(err)
	ignores, err := waiting.AddPayer(t.Context(), 1, payments.Ignore, 1_000_000)
	w.must(err)
	for n := range count {
		reference := fmt.Sprintf("r%d", n)
		w.pay(slow, system.NewPayment(reference, approves.MSISDN, ""))
		w.pay(failing, system.NewPayment(reference, system.Unregistered, "success"))
		w.pay(waiting, system.NewPayment(reference, ignores.MSISDN, ""))
	}
	w.drained(slow, failing)

	early, err := w.Count(t.Context(), `select count(*) from transactions where tenant = $1 and
		completed_at < created_at + make_interval(secs => latency_ms / 1000.0)`, slow.Tenant)
	w.must(err)
	if early > 0 {
		t.Errorf("%d payments settled before they were due", early)
	}
	for id, arrivals := range slow.Receiver.Arrivals() {
		if len(arrivals) != 1 {
			t.Errorf("%s arrived %d times: one worker ignored the lease of the other", id, len(arrivals))
		}
	}
	for id, arrivals := range failing.Receiver.Arrivals() {
		if len(arrivals) != 2 {
			t.Errorf("%s arrived %d times, want 2", id, len(arrivals))
		} else if between := arrivals[1].At.Sub(arrivals[0].At); between < firstDelay*9/10 {
			t.Errorf("%s was sent again after %s, want %s at least", id, between, firstDelay*9/10)
		}
	}
	if pending, err := waiting.Pending(t.Context()); err != nil || pending != count {
		t.Errorf("%d of %d payments wait for their payer (%v): the others expired too early", pending, count, err)
	}
}
