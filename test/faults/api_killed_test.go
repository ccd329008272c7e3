package faults

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// shopping runs shoppers until stop is called. stop returns what they were told.
func (w *fixture) shopping(m *system.Merchant, shoppers int) (progress *atomic.Int64, stop func() map[string]system.Transaction) {
	w.t.Helper()
	progress = new(atomic.Int64)
	stopped := make(chan struct{})
	var group sync.WaitGroup
	all := make([]*system.Shopper, shoppers)
	for i := range all {
		payer, err := m.AddPayer(w.t.Context(), i, payments.Approve, 1_000_000_000)
		w.must(err)
		payers := map[payments.Behavior]string{payments.Approve: payer.MSISDN}
		all[i] = &system.Shopper{Client: m.Client, Name: fmt.Sprintf("shopper-%d", i), Payers: payers}
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stopped:
					return
				default:
				}
				if err := all[i].Shop(w.t.Context(), n); err != nil {
					w.t.Error(err)
					return
				}
				progress.Add(1)
			}
		})
	}
	return progress, sync.OnceValue(func() map[string]system.Transaction {
		close(stopped)
		group.Wait()
		told := map[string]system.Transaction{}
		for _, s := range all {
			maps.Copy(told, s.Told())
		}
		return told
	})
}

// progresses waits until the shoppers have made n more purchases.
func (w *fixture) progresses(progress *atomic.Int64, n int64) {
	w.t.Helper()
	from := progress.Load()
	w.until(time.Minute, fmt.Sprintf("%d more purchases", n), func(context.Context) error {
		if done := progress.Load() - from; done < n {
			return fmt.Errorf("%d are done", done)
		}
		return nil
	})
}

// booked checks that the database has exactly the transactions that clients were told about, with the same content.
func (w *fixture) booked(m *system.Merchant, told map[string]system.Transaction) {
	w.t.Helper()
	problems, err := m.AuditTold(w.t.Context(), told)
	w.must(err)
	w.report(problems)
}

func TestAPIKilledDuringPayments(t *testing.T) {
	const rounds = 5
	w := newFixture(t)
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
	t.Logf(
		"%d transactions; %d requests had no answer, and %d repetitions found the first request booked",
		len(told),
		unanswered.Load(),
		replayed.Load(),
	)
	if unanswered.Load() == 0 {
		t.Error("no request was in progress when the api was killed: the test tested nothing")
	}
	w.booked(m, told)
	w.drained(m)
}
