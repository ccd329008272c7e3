package cases

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/system"
)

// fair measures how much a sandbox suffers from other sandboxes in trouble.
func fair(ctx context.Context, b *bench.Bench) error {
	const flood, hanging, dead, ofDead, rate, length = 100_000, 1000, 50, 100, 20, 30 * time.Second
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	healthy, err := b.AddMerchant(ctx, "healthy", api, system.Acknowledge)
	if err != nil {
		return err
	}
	flooded, err := b.AddMerchant(ctx, "flooded", api, system.Acknowledge)
	if err != nil {
		return err
	}
	hangs, err := b.AddMerchant(ctx, "hanging", api, system.Hang)
	if err != nil {
		return err
	}
	if err := backlog(ctx, flooded.Sandbox, api, flood); err != nil {
		return err
	}
	if err := backlog(ctx, hangs.Sandbox, api, hanging); err != nil {
		return err
	}
	for n := range dead {
		if err := deadSandbox(ctx, b, n, api, ofDead); err != nil {
			return err
		}
	}
	workers, err := b.Workers(ctx, 2)
	if err != nil {
		return err
	}
	started := time.Now()
	b.Sent(bench.Stream{Rate: rate, Length: length, Send: func(ctx context.Context, i int) error {
		return bench.Pay(ctx, healthy, system.NewPayment(fmt.Sprintf("p%d", i), system.Unregistered, "success"))
	}}.Run(ctx))
	if err := b.Drained(ctx, time.Minute, healthy.Sandbox); err != nil {
		return err
	}
	delays, err := healthy.Delays(ctx, healthy.Receiver)
	if err != nil {
		return err
	}
	b.Delays("healthy", delays, 1000, 1000)
	b.Figure("flooded: delivered meanwhile", float64(flooded.Receiver.Events()), "")
	if err := b.Drained(ctx, time.Minute, flooded.Sandbox); err != nil {
		return err
	}
	b.Figure("flooded: delivered in all", float64(flooded.Receiver.Events())/time.Since(started).Seconds(), "/s")
	if err := waiting(ctx, b, hangs.Tenant, hanging+1); err != nil {
		return err
	}
	b.Memory(api.Process, workers[0].Process, workers[1].Process)
	return b.Delivered(ctx, healthy, flooded)
}

// backlog queues events for a sandbox.
func backlog(ctx context.Context, s *system.Sandbox, api *system.API, events int) error {
	client, err := s.Client(ctx, api)
	if err != nil {
		return err
	}
	if _, err := client.Insist(ctx, "/payments", system.NewPayment("model", system.Unregistered, "cancelled")); err != nil {
		return err
	}
	return s.EventBacklog(ctx, "model", events)
}

// deadSandbox creates a sandbox with events for an address where nothing listens.
func deadSandbox(ctx context.Context, b *bench.Bench, n int, api *system.API, events int) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("choosing an unused port: %w", err)
	}
	url := "http://" + listener.Addr().String() + "/hook"
	if err := listener.Close(); err != nil {
		return err
	}
	s, err := b.AddSandbox(ctx, fmt.Sprintf("dead-%d", n), url)
	if err != nil {
		return err
	}
	return backlog(ctx, s, api, events)
}

// waiting checks that the worker gave up no event of a sandbox.
func waiting(ctx context.Context, b *bench.Bench, tenant, events int64) error {
	queued, err := b.Count(ctx, "select count(*) from events where tenant = $1 and state = 'queued'", tenant)
	if err == nil && queued != events {
		b.Problem("%d events of the sandbox with the hanging endpoint are queued, want %d", queued, events)
	}
	return err
}
