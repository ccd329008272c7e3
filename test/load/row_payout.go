package main

import (
	"context"

	"github.com/cauri-dev/cauri/server/payments"
)

// payout measures disbursements from one float, which may not go below zero, beside a function of the database that does the same for
// eight clients without a server before it.
func payout(ctx context.Context, b *bench) error {
	const connections = 8
	apis, err := b.apis(ctx, 1)
	if err != nil {
		return err
	}
	sandboxes, err := b.addSandboxes(ctx, 1, nobody)
	if err != nil {
		return err
	}
	numbers, err := addPayers(ctx, sandboxes, b.settings.size(100), payments.Approve)
	if err != nil {
		return err
	}
	if err := known(ctx, sandboxes, apis...); err != nil {
		return err
	}
	if err := b.openFloor(ctx); err != nil {
		return err
	}
	ours := b.writes("/v1/disbursements", 200, sandboxes, numbers, "", apis...)
	results, err := b.inTurns(ctx, b.closed(ours, connections), b.floor.books("payout", "-clients=8"))
	if err != nil {
		return err
	}
	b.against("8 connections", "/s", results[0].rates(), results[1].rates()).atLeast(0.6)
	failed, err := b.Count(ctx, "select count(*) from transactions where status <> 'SUCCESS'")
	if err == nil && failed > 0 {
		b.problem("%d disbursements did not succeed", failed)
	}
	return err
}
