package cases

import (
	"context"
	"fmt"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// list measures the first page of a sandbox's transactions.
func list(ctx context.Context, b *bench.Bench) error {
	rows := b.Settings.Size(10_000)
	models, api, err := eventModels(ctx, b, 1, bench.Nobody)
	if err != nil {
		return err
	}
	if err := b.EventBacklog(ctx, rows-1, models...); err != nil {
		return err
	}
	return lists(ctx, b, models[0].Sandbox, api, rows)
}

// lists measures the first page of a sandbox with n transactions, unfiltered and with each filter.
func lists(ctx context.Context, b *bench.Bench, s *system.Sandbox, api *system.API, rows int) error {
	const rate, p99 = 100, 25
	for _, filter := range []string{"", "order_ref=model", "status=INSUFFICIENT_FUNDS", "type=collection", "country=RW", "operator=mtn"} {
		path, name := "/v1/payments?limit=20", "unfiltered"
		if filter != "" {
			path, name = path+"&"+filter, "by "+filter
		}
		page := reads("GET "+path, []string{generator.Head("GET", path, s.Key)}, bench.AddressesOf(api))
		results, err := b.InTurns(ctx, b.Open(page, rate))
		if err != nil {
			return err
		}
		b.Add(report.Figure{Name: fmt.Sprintf("%s rows, %s, p99", report.Number(float64(rows)), name), Unit: "ms", Value: results[0].P99s()}).
			WantAtMost(p99)
	}
	return nil
}
