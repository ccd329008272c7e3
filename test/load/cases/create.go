package cases

import (
	"context"
	"fmt"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/system"
)

// create measures payments with a forced outcome in many sandboxes: the rate, and the latency at a fixed rate.
func create(ctx context.Context, b *bench.Bench) error {
	ours, theirs, err := creates(ctx, b, b.Settings.Size(100), "success")
	if err != nil {
		return err
	}
	limit := 0.0
	for _, connections := range []int{8, 32} {
		results, err := b.InTurns(ctx, b.Closed(ours, connections), b.Closed(theirs, connections))
		if err != nil {
			return err
		}
		mine, baseline := results[0], results[1]
		name := fmt.Sprintf("%d connections", connections)
		b.Against(name, "/s", mine.Rates(), baseline.Rates()).WantAtLeast(0.6).In("creates", "100 sandboxes", float64(connections))
		b.Against(name+", p99 while as many as possible come", "ms", mine.P99s(), baseline.P99s())
		if connections == 8 {
			limit = min(mine.Rates().Median, baseline.Rates().Median)
		}
	}
	return atRates(ctx, b, ours, theirs, limit)
}

// atRates measures latencies of creates at shares of a limit, the same for both sides.
func atRates(ctx context.Context, b *bench.Bench, ours, theirs bench.Subject, limit float64) error {
	for _, share := range []float64{0.25, 0.5, 0.75} {
		if b.Settings.Small && share != 0.5 {
			continue
		}
		rate := limit * share
		results, err := b.InTurns(ctx, b.Open(ours, rate), b.Open(theirs, rate))
		if err != nil {
			return err
		}
		mine, baseline := results[0], results[1]
		name := fmt.Sprintf("%.0f %% of the slower one's limit arrives", 100*share)
		b.Figure(name+", requests", rate, "/s")
		b.Against(name+", p50", "ms", mine.P50s(), baseline.P50s())
		p99 := b.Against(name+", p99", "ms", mine.P99s(), baseline.P99s()).In("create-latency", "100 sandboxes", rate)
		if share == 0.5 {
			p99.WantAtMost(2)
		}
	}
	return nil
}

// hot is create with one sandbox.
func hot(ctx context.Context, b *bench.Bench) error {
	ours, theirs, err := creates(ctx, b, 1, "success")
	if err != nil {
		return err
	}
	for _, connections := range []int{32, 128} {
		results, err := b.InTurns(ctx, b.Closed(ours, connections), b.Closed(theirs, connections))
		if err != nil {
			return err
		}
		mine, baseline := results[0], results[1]
		name := fmt.Sprintf("%d connections", connections)
		b.Against(name, "/s", mine.Rates(), baseline.Rates()).WantAtLeast(2).In("creates", "one hot sandbox", float64(connections))
		b.Against(name+", p99 while as many as possible come", "ms", mine.P99s(), baseline.P99s())
	}
	return nil
}

// pending measures payments whose payer has a SIM and decides later.
func pending(ctx context.Context, b *bench.Bench) error {
	ours, theirs, err := creates(ctx, b, b.Settings.Size(100), "")
	if err != nil {
		return err
	}
	for _, connections := range []int{8, 32} {
		results, err := b.InTurns(ctx, b.Closed(ours, connections), b.Closed(theirs, connections))
		if err != nil {
			return err
		}
		mine, baseline := results[0], results[1]
		name := fmt.Sprintf("%d connections", connections)
		b.Against(name, "/s", mine.Rates(), baseline.Rates()).WantAtLeast(0.8).In("creates", "100 sandboxes, PENDING", float64(connections))
		b.Against(name+", p99 while as many as possible come", "ms", mine.P99s(), baseline.P99s())
	}
	settled, err := b.Count(ctx, "select count(*) from transactions where status <> 'PENDING'")
	if err == nil && settled > 0 {
		b.Problem("%d payments were not PENDING", settled)
	}
	return err
}

// creates starts an api with n sandboxes, and the baseline with n merchants. Without a scenario it registers payers.
func creates(ctx context.Context, b *bench.Bench, count int, scenario string) (ours, theirs bench.Subject, err error) {
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return ours, theirs, err
	}
	sandboxes, err := b.AddSandboxes(ctx, count, bench.Nobody)
	if err != nil {
		return ours, theirs, err
	}
	numbers := []string{system.Unregistered}
	if scenario == "" {
		if numbers, err = bench.AddPayers(ctx, sandboxes, b.Settings.Size(10), payments.Approve); err != nil {
			return ours, theirs, err
		}
	}
	if err := bench.Known(ctx, sandboxes, apis...); err != nil {
		return ours, theirs, err
	}
	address, err := startBaseline(ctx, b)
	if err != nil {
		return ours, theirs, err
	}
	return b.Writes("/v1/payments", 201, sandboxes, numbers, scenario, apis...), b.BaselineCreates(address, uint64(count)), nil
}

// startBaseline creates the baseline and starts its server.
func startBaseline(ctx context.Context, b *bench.Bench) (address string, err error) {
	if err := b.OpenBaseline(ctx); err != nil {
		return "", err
	}
	return b.Baseline.Serve(ctx, "serve")
}
