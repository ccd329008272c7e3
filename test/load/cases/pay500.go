package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/system"
)

// pay500 measures a constant load through the api, which delays its answers: the delays of the answers and of the
// events.
func pay500(ctx context.Context, b *bench.Bench) error {
	const rate, merchantCount = 500, 10
	length := bench.Long(b.Settings, time.Minute)
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	var merchants []*system.Merchant
	var all []*system.Sandbox
	for n := range merchantCount {
		// A tenth of the operators' latency: 80 to 180 ms.
		m, err := b.AddMerchant(ctx, fmt.Sprintf("m%d", n), api, system.Acknowledge, func(c *sandboxes.Config) { c.LatencyPercent = 10 })
		if err != nil {
			return err
		}
		merchants, all = append(merchants, m), append(all, m.Sandbox)
	}
	workers, err := b.Workers(ctx, 2)
	if err != nil {
		return err
	}
	result := bench.Stream{Rate: rate, Length: length, Send: func(ctx context.Context, i int) error {
		return bench.Pay(ctx, merchants[i%merchantCount], system.NewPayment(fmt.Sprintf("p%d", i), system.Unregistered, "success"))
	}}.Run(ctx)
	b.Sent(result)
	if err := b.Drained(ctx, time.Minute, all...); err != nil {
		return err
	}
	if err := b.Arrived(ctx, result.Requests, merchants); err != nil {
		return err
	}
	b.Memory(api.Process, workers[0].Process, workers[1].Process)
	return b.Delivered(ctx, merchants...)
}
