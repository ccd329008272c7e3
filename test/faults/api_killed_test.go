package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// shopper makes payments of all kinds one after the other, and insists on each until it has a result.
type shopper struct {
	m     *system.Merchant
	name  string
	payer string
	ids   map[string]string // of the transactions that it was told of, by their references
}

// shop makes the n-th payment, and what goes with it.
func (s *shopper) shop(ctx context.Context, n int) error {
	reference := fmt.Sprintf("%s-%d", s.name, n)
	forced := system.NewPayment(reference, s.payer, "success")
	steps := []struct {
		path string
		body any
	}{
		{"/payments", forced},
		{"", map[string]any{"amount": 40, "reference": reference + "-refund"}}, // of that one
		{"/payments", system.NewPayment(reference+"-pending", s.payer, "")},
		{"/payments", system.NewPayment(reference+"-failed", system.Unregistered, "low_balance")},
		{"/disbursements", system.NewPayment(reference+"-payout", s.payer, "")},
	}
	references := []string{reference, reference + "-refund", reference + "-pending", reference + "-failed", reference + "-payout"}
	for i, step := range steps {
		if step.path == "" {
			step.path = "/payments/" + s.ids[reference] + "/refund"
		}
		answer, err := s.m.Client.Insist(ctx, step.path, step.body)
		if err != nil {
			return fmt.Errorf("%s: %w", references[i], err)
		}
		s.ids[references[i]] = answer.TransactionID()
	}
	return nil
}

// shopping lets shoppers shop until stop is called, which returns what they were told.
func (w *world) shopping(m *system.Merchant, shoppers int) (progress *atomic.Int64, stop func() map[string]string) {
	w.t.Helper()
	progress = new(atomic.Int64)
	stopped := make(chan struct{})
	var group sync.WaitGroup
	told := make([]*shopper, shoppers)
	for i := range told {
		payer, err := m.AddPayer(w.t.Context(), i, payments.Approve, 1_000_000_000)
		w.must(err)
		told[i] = &shopper{m: m, name: fmt.Sprintf("shopper-%d", i), payer: payer.MSISDN, ids: map[string]string{}}
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stopped:
					return
				default:
				}
				if err := told[i].shop(w.t.Context(), n); err != nil {
					w.t.Error(err)
					return
				}
				progress.Add(1)
			}
		})
	}
	return progress, sync.OnceValue(func() map[string]string {
		close(stopped)
		group.Wait()
		all := map[string]string{}
		for _, s := range told {
			for reference, id := range s.ids {
				all[reference] = id
			}
		}
		return all
	})
}

// progresses waits until shoppers have got on by n purchases.
func (w *world) progresses(progress *atomic.Int64, n int64) {
	w.t.Helper()
	from := progress.Load()
	w.until(time.Minute, fmt.Sprintf("%d more purchases", n), func(context.Context) error {
		if done := progress.Load() - from; done < n {
			return fmt.Errorf("%d are done", done)
		}
		return nil
	})
}

// booked checks that the database has each transaction that clients were told of, under its reference, and no other.
func (w *world) booked(m *system.Merchant, told map[string]string) {
	w.t.Helper()
	rows, err := w.SQL.Query(w.t.Context(), "select reference, id from transactions where tenant = $1", m.Tenant)
	w.must(err)
	defer rows.Close()
	found := 0
	for rows.Next() {
		var reference string
		var id [16]byte
		w.must(rows.Scan(&reference, &id))
		found++
		if want := told[reference]; want != payments.ID(id).String() {
			w.t.Errorf("%s is %s in the database; its client was told %q", reference, payments.ID(id), want)
		}
	}
	w.must(rows.Err())
	if found != len(told) {
		w.t.Errorf("there are %d transactions; clients were told of %d", found, len(told))
	}
}

func TestAPIKilledDuringPayments(t *testing.T) {
	const rounds = 5
	w := newWorld(t)
	api := w.api("api")
	w.worker("worker")
	m := w.merchant("paying", api, system.Acknowledge)
	var unanswered, replayed atomic.Int64
	m.Client.Observe = func(a system.Answer, err error) {
		switch {
		case err != nil:
			unanswered.Add(1)
		case a.Header.Get("Idempotent-Replayed") == "true":
			replayed.Add(1)
		}
	}
	progress, stop := w.shopping(m, 8)
	defer stop()
	for range rounds {
		w.progresses(progress, 5+rand.Int64N(20))
		api.Kill()
		w.audited()
		api = w.api("api")
	}
	w.progresses(progress, 8)
	told := stop()
	t.Logf("%d transactions; %d requests had no answer, and %d repeats found that the first one was booked", len(told), unanswered.Load(), replayed.Load())
	if unanswered.Load() == 0 {
		t.Error("no request was under way when the api was killed: the test tested nothing")
	}
	w.booked(m, told)
	w.drained(m)
}
