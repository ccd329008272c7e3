package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cauri-dev/cauri/test/system"
)

// pooled measures what a PgBouncer in transaction mode costs: creates through an api behind one, beside an api that is connected to
// Postgres.
func pooled(ctx context.Context, b *bench) error {
	pooler, err := b.Postgres.StartPgBouncer(ctx, 8)
	if errors.Is(err, system.ErrNoPgBouncer) {
		return fmt.Errorf("%w: %w", errCannotMeasure, err)
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
	sandboxes, err := b.addSandboxes(ctx, b.settings.size(100), nobody)
	if err != nil {
		return err
	}
	if err := known(ctx, sandboxes, direct, behind); err != nil {
		return err
	}
	ours := b.writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", behind)
	theirs := b.writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", direct)
	ours.name, theirs.name = "behind PgBouncer", "connected to Postgres"
	results, err := b.inTurns(ctx, b.closed(ours, 16), b.closed(theirs, 16))
	if err != nil {
		return err
	}
	b.against("created behind PgBouncer in transaction mode, 16 connections", "/s", results[0].rates(), results[1].rates()).shown()
	b.against("the same, p99", "ms", results[0].p99s(), results[1].p99s())
	return nil
}
