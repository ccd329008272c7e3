package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// settle10k measures a rush at one merchant. It creates payments through the api and makes all due at one moment.
// Workers then settle them and deliver their events.
func settle10k(ctx context.Context, b *bench.Bench) error {
	const payers = 100
	count := b.Settings.Size(10_000)
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return err
	}
	// Later than the last create.
	m, err := b.AddMerchant(ctx, "hot", apis[0], system.Acknowledge, func(c *sandboxes.Config) { c.LatencyPercent = 1000 })
	if err != nil {
		return err
	}
	numbers, err := bench.AddPayers(ctx, []*system.Sandbox{m.Sandbox}, payers, payments.Approve)
	if err != nil {
		return err
	}
	begun := time.Now()
	err = bench.InParallel(ctx, count, 16, func(ctx context.Context, i int) error {
		_, err := m.Client.Insist(ctx, "/payments", system.NewPayment(fmt.Sprintf("p%d", i), numbers[i%payers], ""))
		return err
	})
	if err != nil {
		return err
	}
	b.Figure("payments made", float64(count)/time.Since(begun).Seconds(), "/s")
	if _, err := b.SQL.Exec(
		ctx,
		"update transactions set due_at = now() + interval '1 hour' where tenant = $1 and status = 'PENDING'",
		m.Tenant,
	); err != nil {
		return err
	}
	workers, err := b.Workers(ctx, 2)
	if err != nil {
		return err
	}
	if _, err := b.SQL.Exec(ctx, "update transactions set due_at = now() where tenant = $1 and status = 'PENDING'", m.Tenant); err != nil {
		return err
	}
	due := time.Now()
	if err := NoneDue(ctx, b, "transactions"); err != nil {
		return err
	}
	b.Target(report.Number(float64(count))+" payments, due to the last settled", time.Since(due).Seconds(), "s", 5)
	successes, err := b.Count(ctx, "select count(*) from transactions where tenant = $1 and status = 'SUCCESS'", m.Tenant)
	if err != nil {
		return err
	}
	if successes != int64(count) {
		b.Problem("%d payments succeeded, not %d", successes, count)
	}
	if err := b.Drained(ctx, time.Minute, m.Sandbox); err != nil {
		return err
	}
	b.Figure("due to the last delivered", time.Since(due).Seconds(), "s")
	b.Memory(apis[0].Process, workers[0].Process, workers[1].Process)
	return b.Delivered(ctx, m)
}
