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

// trouble is a receiver that misbehaves.
type trouble struct {
	behave system.Behavior
	takes  bool // whether arrived events are finally acknowledged
}

// troubles are the ways in which a receiver can misbehave.
var troubles = map[string]trouble{
	"hangs":                 {system.Hang, false},
	"resets":                {system.Reset, false},
	"fails-first":           {system.FailFirst(2), true},
	"slow-header":           {system.SlowHeader, false},
	"slow-body":             {system.SlowBody, true},
	"floods":                {system.Flood(10 << 20), true},
	"answers-in-one-second": {system.AcknowledgeAfter(time.Second), true},
}

// memoryLimit is the memory limit of a worker at full load.
const memoryLimit = 150 << 20

func TestReceiversThatMisbehave(t *testing.T) {
	const (
		backlog = 60
		steady  = 12 * time.Second // longer than the timeout of an attempt
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
		m.Receiver.Behave(system.Acknowledge) // the receiver was fixed
	}
	w.drained(all...)
	w.keptLittle()
	peak, err := worker.PeakMemory()
	w.must(err)
	t.Logf("the worker used %d MiB", peak>>20)
	if peak > memoryLimit {
		t.Errorf("the worker used %d MiB", peak>>20)
	}
}

// arrivedSoon checks that a sandbox's events did not wait for other sandboxes. An attempt at an endpoint that hangs
// takes 10 s, so such waits would show in most delays even on a busy machine. The case `fair` of the benchmark measures
// the delays.
func (w *fixture) arrivedSoon(m *system.Merchant, events int) {
	w.t.Helper()
	w.arrived(m, events)
	delays, err := m.Delays(w.t.Context(), m.Receiver)
	w.must(err)
	slices.Sort(delays)
	median, most, slowest := delays[len(delays)/2], delays[len(delays)*9/10], delays[len(delays)-1]
	w.t.Logf("%s: from due to arrival: median %s, 90th percentile %s, maximum %s", m.Config.Name,
		median.Round(time.Millisecond), most.Round(time.Millisecond), slowest.Round(time.Millisecond))
	if median > webhooks.AttemptTimeout/2 {
		w.t.Errorf("every second event of %s took %s or longer, as if it waited for an attempt that hangs", m.Config.Name, median)
	}
	if delays[0] < 0 {
		w.t.Errorf("an event of %s arrived %s before it was due", m.Config.Name, -delays[0])
	}
}

// judged checks the events at a misbehaving receiver. Accepted events are delivered. The others wait for another
// attempt, and the reason is recorded.
func (w *fixture) judged(m *system.Merchant, trouble trouble) {
	w.t.Helper()
	const accepted, failed = "select count(*) from events where tenant = $1 and state = 'delivered'",
		"select count(*) from delivery_attempts where tenant = $1 and error is not null"
	if trouble.takes {
		w.reaches(1, "events are delivered", accepted, m.Tenant)
	} else {
		w.reaches(1, "attempts have failed", failed, m.Tenant)
	}
	delivered, err := w.Count(w.t.Context(), accepted, m.Tenant)
	w.must(err)
	attempts, err := w.Count(w.t.Context(), failed, m.Tenant)
	w.must(err)
	w.t.Logf("%s: %d arrived, %d delivered, %d attempts failed", m.Config.Name, m.Receiver.Total(), delivered, attempts)
	if !trouble.takes && delivered > 0 {
		w.t.Errorf("%s: %d events count as delivered", m.Config.Name, delivered)
	}
}

// keptLittle checks that only the beginning of an answer is stored.
func (w *fixture) keptLittle() {
	w.t.Helper()
	longest, err := w.Count(w.t.Context(), "select coalesce(max(length(response_body)), 0) from delivery_attempts")
	w.must(err)
	if longest != 4<<10 {
		w.t.Errorf("the longest stored answer has %d bytes, want 4096", longest)
	}
}
