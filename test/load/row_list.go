package main

import (
	"context"
	"fmt"

	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/system"
)

// list measures the first page of a sandbox's transactions.
func list(ctx context.Context, b *bench) error {
	rows := b.settings.size(10_000)
	models, api, err := b.eventModels(ctx, 1, nobody)
	if err != nil {
		return err
	}
	if err := b.EventBacklog(ctx, rows-1, models...); err != nil {
		return err
	}
	return b.lists(ctx, models[0].Sandbox, api, rows)
}

// lists measures the first page of a sandbox that has so many transactions, without a filter and with each.
func (b *bench) lists(ctx context.Context, s *system.Sandbox, api *system.API, rows int) error {
	const rate, p99 = 100, 25
	for _, filter := range []string{"", "order_ref=model", "status=INSUFFICIENT_FUNDS", "type=collection", "country=RW", "operator=mtn"} {
		path, name := "/v1/payments?limit=20", "unfiltered"
		if filter != "" {
			path, name = path+"&"+filter, "by "+filter
		}
		page := reads("GET "+path, []string{generator.Head("GET", path, s.Key)}, addressesOf(api))
		results, err := b.inTurns(ctx, b.open(page, rate))
		if err != nil {
			return err
		}
		b.add(figure{Name: fmt.Sprintf("%s rows, %s, p99", number(float64(rows)), name), Unit: "ms", Value: results[0].p99s()}).
			atMost(p99)
	}
	return nil
}
