package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Deliveries in a second to one receiver on loopback, beside what a bare loop makes of the same statements and the same sender:
// take a batch, send all of it side by side, write all of it down. The engine's shares, its surveys and its log may cost no more
// than the rest of 0.6; the loop waits for the slowest of each batch, so on a quiet machine the engine is usually the faster one.
func TestThroughput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds and both cores")
	}
	const events, rounds = 4_000, 3
	w := newWorldAlone(t)
	like := w.pay("like", payments.PINInvalid)
	// measure delivers a sandbox's events to a receiver of their own.
	measure := func(what string, start func(tenant int64) (stop func())) float64 {
		var came atomic.Int64
		all := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if came.Add(1) == events {
				close(all)
			}
		}))
		defer server.Close()
		tenant := w.beside(what, server.URL)
		w.queue(like, events, tenant)
		began := time.Now()
		stop := start(tenant)
		select {
		case <-all:
		case <-time.After(time.Minute):
			t.Fatalf("%s: not all came", what)
		}
		rate := events / time.Since(began).Seconds()
		t.Logf("%s: %.0f deliveries/s", what, rate)
		stop()
		return rate
	}
	var ratios []float64
	for i := range rounds {
		bare := measure(fmt.Sprint("bare-loop-", i), func(tenant int64) func() { w.bareLoop(tenant, 64); return func() {} })
		engine := measure(fmt.Sprint("engine-", i), func(int64) func() { return w.run() })
		ratios = append(ratios, engine/bare)
	}
	slices.Sort(ratios)
	t.Logf("ratios %.2f", ratios)
	if median := ratios[rounds/2]; median < 0.6 {
		t.Errorf("the engine makes %.2f of what the bare loop makes, want 0.6", median)
	}
}

// bareLoop delivers all that a sandbox has, in batches of so many.
func (w *world) bareLoop(tenant int64, batch int) {
	w.t.Helper()
	ctx := context.Background()
	sender := webhooks.NewSender(webhooks.Guard{AllowLoopback: true}, "test", time.Now)
	build := func(organization string, t *payments.Transaction) ([]byte, error) {
		return webhooks.Body(organization, t, operators.Raw(t))
	}
	for {
		taken, _, err := w.LeaseDueEvents(ctx, []store.Share{{Lane: store.Lane{Tenant: tenant}, Slots: batch}}, time.Minute, build)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(taken) == 0 {
			return
		}
		finished := make([]store.FinishedAttempt, len(taken))
		var sending sync.WaitGroup
		for i := range taken {
			sending.Go(func() {
				e := &taken[i]
				r := sender.Send(ctx, webhooks.Delivery{URL: e.URL, Secret: e.SigningSecret, ID: e.ID, Type: e.Transaction.Type, Body: e.Body})
				finished[i] = store.FinishedAttempt{Event: e, Attempt: store.Attempt{
					StartedAt: r.StartedAt, Duration: r.Duration, ResponseStatus: r.Status, State: store.EventDelivered,
				}}
			})
		}
		sending.Wait()
		if _, err := w.FinishAttempts(ctx, finished); err != nil {
			w.t.Fatal(err)
		}
	}
}
