package cases

import (
	"context"
	"errors"
	"fmt"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// pooled measures the cost of PgBouncer in transaction mode: creates through an api behind it, compared with an api
// that connects to Postgres.
func pooled(ctx context.Context, b *bench.Bench) error {
	pooler, err := b.Postgres.StartPgBouncer(ctx, 8)
	if errors.Is(err, system.ErrNoPgBouncer) {
		return fmt.Errorf("%w: %w", report.ErrCannotMeasure, err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = pooler.Close() }()
	direct, err := b.StartAPI(ctx, "direct")
	if err != nil {
		return err
	}
	behind, err := b.StartAPI(ctx, "pooled", "--database-url="+b.URLThrough(pooler))
	if err != nil {
		return err
	}
	sandboxes, err := b.AddSandboxes(ctx, b.Settings.Size(100), bench.Nobody)
	if err != nil {
		return err
	}
	if err := bench.Known(ctx, sandboxes, direct, behind); err != nil {
		return err
	}
	ours := b.Writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", behind)
	theirs := b.Writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", direct)
	ours.Name, theirs.Name = "behind PgBouncer", "connected to Postgres"
	results, err := b.InTurns(ctx, b.Closed(ours, 16), b.Closed(theirs, 16))
	if err != nil {
		return err
	}
	b.Against("created behind PgBouncer in transaction mode, 16 connections", "/s", results[0].Rates(), results[1].Rates()).Show()
	b.Against("the same, p99", "ms", results[0].P99s(), results[1].P99s())
	return nil
}
