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
	w := newWorld(t)
	m := w.merchant("settling", w.api("api"), system.Acknowledge)
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1_000_000_000)
	w.must(err)
	w.pay(m, system.NewPayment("model", payer.MSISDN, ""))
	workers := []*system.Worker{w.worker("worker-0"), w.worker("worker-1")}
	interrupted := 0
	for round := range rounds {
		w.must(m.PendingBacklog(t.Context(), "model", backlog))
		settled := int64(1+round*backlog) + rand.Int64N(backlog*2/3)
		w.reaches(settled, "are settled", "select count(*) from transactions where tenant = $1 and status <> 'PENDING'", m.Tenant)
		victim := rand.IntN(len(workers))
		workers[victim].Kill()
		w.audited()
		pending, err := m.Pending(t.Context())
		w.must(err)
		if pending > 0 {
			interrupted++
		}
		w.until(time.Minute, "the other worker settles the rest", func(ctx context.Context) error {
			pending, err := m.Pending(ctx)
			if err == nil && pending > 0 {
				err = fmt.Errorf("%d are pending", pending)
			}
			return err
		})
		workers[victim] = w.worker(fmt.Sprintf("worker-%d", victim))
	}
	if interrupted == 0 {
		t.Error("no worker was killed while there was something to settle: the test tested nothing")
	}
	w.drained(m)
	successes, err := w.Count(t.Context(), "select count(*) from transactions where tenant = $1 and status = 'SUCCESS' and merchant_delta > 0 and sim_delta < 0", m.Tenant)
	w.must(err)
	if want := int64(1 + rounds*backlog); successes != want {
		t.Errorf("%d payments moved money from the payer to the merchant, want %d", successes, want)
	}
}

func TestWorkerKilledDuringDelivery(t *testing.T) {
	const backlog = 600
	w := newWorld(t)
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
		if len(arrivals) > 2 || arrivals[0].At.After(killed) {
			t.Errorf("%s arrived %d times, first %s after the worker was killed: only what that one had on its way may come again",
				id, len(arrivals), arrivals[0].At.Sub(killed))
		}
	}
	if repeated == 0 {
		t.Error("no event was on its way when the worker was killed: the test tested nothing")
	}
}
