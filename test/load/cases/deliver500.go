package cases

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/system"
)

// deliver500 measures the delay of events that become due at a constant rate. It writes the events and their
// transactions directly to the database, so that it does not measure the api.
func deliver500(ctx context.Context, b *bench.Bench) error {
	const rate, merchantCount, atOnce = 500, 10, 10
	length := bench.Long(b.Settings, time.Minute)
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	workers, err := b.Workers(ctx, 2)
	if err != nil {
		return err
	}
	var merchants []*system.Merchant
	var all []*system.Sandbox
	for n := range merchantCount {
		// A tenth of the operators' latency, so that the events are due later than they are written.
		m, err := b.AddMerchant(ctx, fmt.Sprintf("m%d", n), api, system.Acknowledge, func(c *sandboxes.Config) { c.LatencyPercent = 10 })
		if err != nil {
			return err
		}
		if _, err := m.Client.Insist(ctx, "/payments", system.NewPayment("model", system.Unregistered, "low_balance")); err != nil {
			return err
		}
		merchants, all = append(merchants, m), append(all, m.Sandbox)
	}
	var written atomic.Int64
	b.Sent(bench.Stream{Rate: rate / atOnce, Length: length, Send: func(ctx context.Context, i int) error {
		err := merchants[i%merchantCount].EventBacklog(ctx, "model", atOnce)
		if err == nil {
			written.Add(atOnce)
		}
		return err
	}}.Run(ctx))
	if err := b.Drained(ctx, time.Minute, all...); err != nil {
		return err
	}
	if err := b.Arrived(ctx, int(written.Load())+merchantCount, merchants); err != nil {
		return err
	}
	b.Memory(workers[0].Process, workers[1].Process)
	return b.Delivered(ctx, merchants...)
}
