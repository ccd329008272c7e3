package faults

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/test/system"
)

// trouble is a receiver that does not do what it should.
type trouble struct {
	behave system.Behavior
	takes  bool // whether an event that arrives is acknowledged in the end
}

// troubles are the ways in which a receiver can go wrong.
var troubles = map[string]trouble{
	"hangs":                 {system.Hang, false},
	"resets":                {system.Reset, false},
	"fails-first":           {system.FailFirst(2), true},
	"slow-header":           {system.SlowHeader, false},
	"slow-body":             {system.SlowBody, true},
	"floods":                {system.Flood(10 << 20), true},
	"answers-in-one-second": {system.AcknowledgeAfter(time.Second), true},
}

// memoryLimit is what a worker may take at full load.
const memoryLimit = 150 << 20

func TestReceiversThatMisbehave(t *testing.T) {
	const (
		backlog = 60
		steady  = 12 * time.Second // longer than an attempt may take
		every   = 100 * time.Millisecond
	)
	w := newFixture(t)
	api := w.api("api")
	healthy := w.merchant("healthy", api, system.Acknowledge)
	retrySoon := func(c *sandboxes.Config) {
		c.Webhook.Retry = sandboxes.RetryPolicy{MaxRetries: 100, InitialDelay: 500 * time.Millisecond, Factor: 1, MaxDelay: time.Second}
	}
	all := []*system.Merchant{healthy}
	for name, trouble := range troubles {
		m := w.merchant(name, api, trouble.behave, retrySoon)
		w.pay(m, system.NewPayment("model", system.Unregistered, "cancelled"))
		w.must(m.EventBacklog(t.Context(), "model", backlog))
		all = append(all, m)
	}
	worker := w.worker("worker")
	for n := range int(steady / every) {
		w.pay(healthy, system.NewPayment(fmt.Sprintf("r%d", n), system.Unregistered, "success"))
		system.Rest(t.Context(), every)
	}
	w.arrivedSoon(healthy, int(steady/every))
	for _, m := range all[1:] {
		w.judged(m, troubles[m.Config.Name])
		m.Receiver.Behave(system.Acknowledge) // it was fixed
	}
	w.drained(all...)
	w.keptLittle()
	peak, err := worker.PeakMemory()
	w.must(err)
	t.Logf("the worker took %d MiB", peak>>20)
	if peak > memoryLimit {
		t.Errorf("the worker took %d MiB", peak>>20)
	}
}

// arrivedSoon checks that a sandbox's events waited for nobody else. An attempt at an endpoint that hangs takes 10 s, so that waiting for
// one would show in most of them, whatever the machine is busy with. The row `fair` of the bench says how long they take.
func (w *fixture) arrivedSoon(m *system.Merchant, events int) {
	w.t.Helper()
	w.arrived(m, events)
	delays, err := m.Delays(w.t.Context(), m.Receiver)
	w.must(err)
	slices.Sort(delays)
	median, most, slowest := delays[len(delays)/2], delays[len(delays)*9/10], delays[len(delays)-1]
	w.t.Logf("%s: from due to arrival %s in the middle, %s for nine of ten, %s at most", m.Config.Name,
		median.Round(time.Millisecond), most.Round(time.Millisecond), slowest.Round(time.Millisecond))
	if median > webhooks.AttemptTimeout/2 {
		w.t.Errorf("every second event of %s took %s or longer, as if it waited for an attempt that hangs", m.Config.Name, median)
	}
	if delays[0] < 0 {
		w.t.Errorf("an event of %s arrived %s before it was due", m.Config.Name, -delays[0])
	}
}

// judged checks what became of the events at a receiver that makes trouble: those that it takes are delivered, the others wait
// for another attempt, and the sender has written down why.
func (w *fixture) judged(m *system.Merchant, trouble trouble) {
	w.t.Helper()
	delivered, err := w.Count(w.t.Context(), "select count(*) from events where tenant = $1 and state = 'delivered'", m.Tenant)
	w.must(err)
	attempts, err := w.Count(w.t.Context(), "select count(*) from delivery_attempts where tenant = $1 and error is not null", m.Tenant)
	w.must(err)
	w.t.Logf("%s: %d arrived, %d delivered, %d attempts failed", m.Config.Name, m.Receiver.Total(), delivered, attempts)
	if (delivered > 0) != trouble.takes {
		w.t.Errorf("%s: %d events count as delivered", m.Config.Name, delivered)
	}
	if !trouble.takes && attempts == 0 {
		w.t.Errorf("%s: no failed attempt was written down", m.Config.Name)
	}
}

// keptLittle checks that no more than the beginning of an answer is kept.
func (w *fixture) keptLittle() {
	w.t.Helper()
	longest, err := w.Count(w.t.Context(), "select coalesce(max(length(response_body)), 0) from delivery_attempts")
	w.must(err)
	if longest != 4<<10 {
		w.t.Errorf("the longest answer that was kept has %d bytes, want 4096", longest)
	}
}
