package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

func TestWorkerKilledDuringSettlement(t *testing.T) {
	const rounds, backlog = 4, 2000
	w := newFixture(t)
	m := w.merchant("settling", w.api("api"), system.Acknowledge)
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1_000_000_000)
	w.must(err)
	w.pay(m, system.NewPayment("model", payer.MSISDN, ""))
	made := int64(1)
	workers := []*system.Worker{w.worker("worker-0"), w.worker("worker-1")}
	for range rounds {
		made += w.frozenDuringSettlement(m, workers, backlog)
		victim := rand.IntN(len(workers))
		workers[victim].Kill()
		w.audited()
		w.must(workers[1-victim].Resume())
		w.until(time.Minute, "the other worker settles the rest", func(ctx context.Context) error {
			pending, err := m.Pending(ctx)
			if err == nil && pending > 0 {
				err = fmt.Errorf("%d are pending", pending)
			}
			return err
		})
		workers[victim] = w.worker(fmt.Sprintf("worker-%d", victim))
	}
	w.drained(m)
	successes, err := w.Count(
		t.Context(),
		"select count(*) from transactions where tenant = $1 and status = 'SUCCESS' and merchant_delta > 0 and sim_delta < 0",
		m.Tenant,
	)
	w.must(err)
	if successes != made {
		t.Errorf("%d payments moved money from the payer to the merchant, want %d", successes, made)
	}
}

// frozenDuringSettlement gives payments to the workers and freezes the workers at a random moment before all payments
// are settled. It returns the number of payments. On a busy machine the workers may finish too early and get more
// payments.
func (w *fixture) frozenDuringSettlement(m *system.Merchant, workers []*system.Worker, backlog int) (made int64) {
	w.t.Helper()
	const attempts = 10
	for range attempts {
		before, err := w.Count(w.t.Context(), "select count(*) from transactions where tenant = $1", m.Tenant)
		w.must(err)
		w.must(m.PendingBacklog(w.t.Context(), "model", backlog))
		made += int64(backlog)
		w.reaches(
			before+rand.Int64N(int64(backlog)*2/3),
			"are settled",
			"select count(*) from transactions where tenant = $1 and status <> 'PENDING'",
			m.Tenant,
		)
		for _, worker := range workers {
			w.must(worker.Pause())
		}
		pending, err := m.Pending(w.t.Context())
		w.must(err)
		if pending > 0 {
			return made
		}
		for _, worker := range workers {
			w.must(worker.Resume())
		}
	}
	w.t.Fatalf("%d times the workers settled %d payments before they could be stopped", attempts, backlog)
	return 0
}

func TestWorkerKilledDuringDelivery(t *testing.T) {
	const backlog = 600
	w := newFixture(t)
	m := w.merchant("delivering", w.api("api"), system.AcknowledgeAfter(300*time.Millisecond))
	w.pay(m, system.NewPayment("model", system.Unregistered, "cancelled"))
	w.must(m.EventBacklog(t.Context(), "model", backlog))
	victim := w.worker("victim")
	w.worker("survivor")
	w.arrived(m, backlog/4)
	victim.Kill()
	killed := time.Now()
	w.audited()
	w.drained(m)
	t.Logf("all was delivered %s after the worker was killed", time.Since(killed).Round(time.Second))
	if events := m.Receiver.Events(); events != 1+backlog {
		t.Errorf("%d events arrived, want %d", events, 1+backlog)
	}
	repeated := 0
	for id, arrivals := range m.Receiver.Arrivals() {
		if len(arrivals) == 1 {
			continue
		}
		repeated++
		// On a busy machine the receiver reads what the killed worker had sent later than that.
		if len(arrivals) > 2 || arrivals[0].At.After(killed.Add(5*time.Second)) {
			t.Errorf("%s arrived %d times, first %s after the worker was killed: only attempts in progress may be repeated",
				id, len(arrivals), arrivals[0].At.Sub(killed))
		}
	}
	if repeated == 0 {
		t.Error("no attempt was in progress when the worker was killed: the test tested nothing")
	}
}
