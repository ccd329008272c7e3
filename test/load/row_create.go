package main

import (
	"context"
	"fmt"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// create measures payments whose outcome is forced, of many sandboxes: how many, and how long they take at a rate.
func create(ctx context.Context, b *bench) error {
	ours, theirs, err := b.creates(ctx, b.settings.size(100), "success")
	if err != nil {
		return err
	}
	limit := 0.0
	for _, connections := range []int{8, 32} {
		results, err := b.inTurns(ctx, b.closed(ours, connections), b.closed(theirs, connections))
		if err != nil {
			return err
		}
		mine, floor := results[0], results[1]
		name := fmt.Sprintf("%d connections", connections)
		b.against(name, "/s", mine.rates(), floor.rates()).atLeast(0.6).in("creates", "100 sandboxes", float64(connections))
		b.against(name+", p99 while as many as possible come", "ms", mine.p99s(), floor.p99s())
		if connections == 8 {
			limit = min(mine.rates().Median, floor.rates().Median)
		}
	}
	return b.atRates(ctx, ours, theirs, limit)
}

// atRates measures how long creates take when they come at shares of a limit, the same for both sides.
func (b *bench) atRates(ctx context.Context, ours, theirs subject, limit float64) error {
	for _, share := range []float64{0.25, 0.5, 0.75} {
		if b.settings.Small && share != 0.5 {
			continue
		}
		rate := limit * share
		results, err := b.inTurns(ctx, b.open(ours, rate), b.open(theirs, rate))
		if err != nil {
			return err
		}
		mine, floor := results[0], results[1]
		name := fmt.Sprintf("%.0f %% of the slower one's limit arrives", 100*share)
		b.figure(name+", requests", rate, "/s")
		b.against(name+", p50", "ms", mine.p50s(), floor.p50s())
		p99 := b.against(name+", p99", "ms", mine.p99s(), floor.p99s()).in("create-latency", "100 sandboxes", rate)
		if share == 0.5 {
			p99.atMost(2)
		}
	}
	return nil
}

// hot measures the same of one sandbox.
func hot(ctx context.Context, b *bench) error {
	ours, theirs, err := b.creates(ctx, 1, "success")
	if err != nil {
		return err
	}
	for _, connections := range []int{32, 128} {
		results, err := b.inTurns(ctx, b.closed(ours, connections), b.closed(theirs, connections))
		if err != nil {
			return err
		}
		mine, floor := results[0], results[1]
		name := fmt.Sprintf("%d connections", connections)
		b.against(name, "/s", mine.rates(), floor.rates()).atLeast(2).in("creates", "one hot sandbox", float64(connections))
		b.against(name+", p99 while as many as possible come", "ms", mine.p99s(), floor.p99s())
	}
	return nil
}

// pending measures payments whose payer is in the registry and decides later.
func pending(ctx context.Context, b *bench) error {
	ours, theirs, err := b.creates(ctx, b.settings.size(100), "")
	if err != nil {
		return err
	}
	for _, connections := range []int{8, 32} {
		results, err := b.inTurns(ctx, b.closed(ours, connections), b.closed(theirs, connections))
		if err != nil {
			return err
		}
		mine, floor := results[0], results[1]
		name := fmt.Sprintf("%d connections", connections)
		b.against(name, "/s", mine.rates(), floor.rates()).atLeast(0.8).in("creates", "100 sandboxes, PENDING", float64(connections))
		b.against(name+", p99 while as many as possible come", "ms", mine.p99s(), floor.p99s())
	}
	settled, err := b.Count(ctx, "select count(*) from transactions where status <> 'PENDING'")
	if err == nil && settled > 0 {
		b.problem("%d payments were not PENDING", settled)
	}
	return err
}

// creates starts an api with so many sandboxes, and the floor with as many merchants. Without a scenario payers are registered.
func (b *bench) creates(ctx context.Context, count int, scenario string) (ours, theirs subject, err error) {
	apis, err := b.apis(ctx, 1)
	if err != nil {
		return ours, theirs, err
	}
	sandboxes, err := b.addSandboxes(ctx, count, nobody)
	if err != nil {
		return ours, theirs, err
	}
	numbers := []string{system.Unregistered}
	if scenario == "" {
		if numbers, err = addPayers(ctx, sandboxes, b.settings.size(10), payments.Approve); err != nil {
			return ours, theirs, err
		}
	}
	if err := known(ctx, sandboxes, apis...); err != nil {
		return ours, theirs, err
	}
	address, err := b.startFloor(ctx)
	if err != nil {
		return ours, theirs, err
	}
	return b.writes("/v1/payments", 201, sandboxes, numbers, scenario, apis...), b.floorCreates(address, uint64(count)), nil
}

// startFloor makes the floor and starts its server.
func (b *bench) startFloor(ctx context.Context) (address string, err error) {
	if err := b.openFloor(ctx); err != nil {
		return "", err
	}
	return b.floor.serve(ctx, "serve")
}
