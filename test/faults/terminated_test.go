package faults

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	// held is the number of answers that the api delays when it gets the stop signal.
	held = 50
	// heldFor is the minimum delay without a stop: the shortest latency of the scenario timeout.
	heldFor = 25 * time.Second
)

func TestTerminatedUnderLoad(t *testing.T) {
	const backlog, events = 1000, 500
	w := newFixture(t)
	api, worker := w.api("api"), w.worker("worker")
	// Each attempt takes a while, so that some are always in progress.
	m := w.merchant(
		"stopping",
		api,
		system.AcknowledgeAfter(200*time.Millisecond),
		func(c *sandboxes.Config) { c.LatencyPercent = 100 },
	)
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1_000_000_000)
	w.must(err)
	w.pay(m, system.NewPayment("pending", payer.MSISDN, ""))
	w.pay(m, system.NewPayment("model", system.Unregistered, "maintenance"))
	w.must(m.EventBacklog(t.Context(), "model", events))
	w.arrived(m, events/10)
	w.must(m.PendingBacklog(t.Context(), "pending", backlog))
	answers := w.holdAnswers(m)

	var group sync.WaitGroup
	for _, p := range []*system.Process{api.Process, worker.Process} {
		group.Go(func() {
			took, err := p.Terminate(time.Minute)
			t.Logf("%s ended after %s", p.Name, took.Round(time.Millisecond))
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for range held {
		if a := <-answers; a.err != nil {
			t.Errorf("a delayed answer never came: %v", a.err)
		} else if a.answer.Status != http.StatusCreated || a.answer.Took > heldFor {
			t.Errorf("an answer with a delay of at least %s came after %s: %d %s", heldFor, a.answer.Took, a.answer.Status, a.answer.Body)
		}
	}
	w.audited()
	before := m.Receiver.Total()
	if events := m.Receiver.Events(); before != events {
		t.Errorf("%d events arrived %d times before anything failed", events, before)
	}
	m.Receiver.Behave(system.Acknowledge)
	w.api("api")
	w.worker("worker")
	// The first worker finished its attempts. The events of released answers are due at the time of the answers.
	w.drained(m)
	if total, events := m.Receiver.Total(), m.Receiver.Events(); total != events {
		t.Errorf("%d events arrived %d times: an orderly shutdown of a worker must not send events twice", events, total)
	}
	if events, want := m.Receiver.Events(), held+1+events+1+backlog; events != want {
		t.Errorf("%d events arrived, want %d", events, want)
	}
}

// late is an answer that comes later.
type late struct {
	answer system.Answer
	err    error
}

// holdAnswers makes payments with delayed answers, and returns when all are booked.
func (w *fixture) holdAnswers(m *system.Merchant) <-chan late {
	w.t.Helper()
	answers := make(chan late, held)
	for n := range held {
		go func() {
			answer, err := m.Client.Post(w.t.Context(), "/payments", system.NewPayment(fmt.Sprintf("held-%d", n), system.Unregistered, "timeout"))
			answers <- late{answer, err}
		}()
	}
	w.reaches(held, "payments whose answers are held", "select count(*) from transactions where tenant = $1 and status = 'TIMEOUT'", m.Tenant)
	return answers
}
