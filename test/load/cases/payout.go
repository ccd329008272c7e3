package cases

import (
	"context"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/load/bench"
)

// payout measures disbursements from one float, which must not become negative. The baseline is a database function
// that eight clients call directly.
func payout(ctx context.Context, b *bench.Bench) error {
	const connections = 8
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return err
	}
	sandboxes, err := b.AddSandboxes(ctx, 1, bench.Nobody)
	if err != nil {
		return err
	}
	numbers, err := bench.AddPayers(ctx, sandboxes, b.Settings.Size(100), payments.Approve)
	if err != nil {
		return err
	}
	if err := bench.Known(ctx, sandboxes, apis...); err != nil {
		return err
	}
	if err := b.OpenBaseline(ctx); err != nil {
		return err
	}
	ours := b.Writes("/v1/disbursements", 200, sandboxes, numbers, "", apis...)
	results, err := b.InTurns(ctx, b.Closed(ours, connections), b.Baseline.Books("payout", "-clients=8"))
	if err != nil {
		return err
	}
	b.Against("8 connections", "/s", results[0].Rates(), results[1].Rates()).WantAtLeast(0.6)
	failed, err := b.Count(ctx, "select count(*) from transactions where status <> 'SUCCESS'")
	if err == nil && failed > 0 {
		b.Problem("%d disbursements did not succeed", failed)
	}
	return err
}
