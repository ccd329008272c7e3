package cases

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// streamed measures how soon streams tell of payments that are made at a constant rate. The delay is from the time of the payment, which is
// before its commit.
func streamed(ctx context.Context, b *bench.Bench) error {
	const rate, merchantCount = 500, 10
	length := bench.Long(b.Settings, time.Minute)
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	var merchants []*system.Merchant
	listening, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var mu sync.Mutex
	var delays []time.Duration
	ready, failed := 0, error(nil)
	for n := range merchantCount {
		m, err := b.AddMerchant(ctx, fmt.Sprintf("m%d", n), api, system.Acknowledge)
		if err != nil {
			return err
		}
		merchants = append(merchants, m)
		group.Go(func() {
			_, err := m.Client.Stream(listening, "", func(e system.StreamEntry) {
				mu.Lock()
				defer mu.Unlock()
				switch e.Type {
				case "ready":
					ready++
				case "transaction":
					delays = append(delays, time.Since(e.Transaction.CreatedAt))
				}
			})
			if listening.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				failed = fmt.Errorf("a stream has ended: %w", err)
			}
		})
	}
	// waited waits for something that the streams bring about.
	waited := func(what string, so func() bool) error {
		return system.Until(ctx, time.Minute, what, func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			if failed == nil && !so() {
				return fmt.Errorf("%d streams are ready, %d payments were told", ready, len(delays))
			}
			return nil
		})
	}
	if err := waited("the streams are ready", func() bool { return ready == merchantCount }); err != nil {
		return err
	}
	result := bench.Stream{Rate: rate, Length: length, Send: func(ctx context.Context, i int) error {
		return bench.Pay(ctx, merchants[i%merchantCount], system.NewPayment(fmt.Sprintf("p%d", i), system.Unregistered, "success"))
	}}.Run(ctx)
	b.Sent(result)
	booked, err := b.Booked(ctx)
	if err != nil {
		return err
	}
	if err := waited(fmt.Sprintf("%d payments are told", booked), func() bool { return len(delays) >= int(booked) }); err != nil {
		return err
	}
	stop()
	group.Wait()
	if failed != nil {
		return failed
	}
	slices.Sort(delays)
	b.Figure("payments that were told", float64(len(delays)), "")
	b.Figure("told after the payment's time, p50", report.Milliseconds(report.Percentile(delays, 50)), "ms")
	b.Figure("told after the payment's time, p99", report.Milliseconds(report.Percentile(delays, 99)), "ms")
	b.Memory(api.Process)
	return nil
}
