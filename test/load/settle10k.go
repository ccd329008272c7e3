package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/test/system"
)

// settle10k measures the rush at one merchant: its payments are made through the api, then all become due at one moment.
func settle10k(ctx context.Context, b *bench) error {
	const count, payers = 10_000, 100
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	// Not due before all are made.
	m, err := b.AddMerchant(ctx, "hot", api, system.Acknowledge, func(c *store.SandboxConfig) { c.LatencyPercent = 1000 })
	if err != nil {
		return err
	}
	var numbers []string
	for n := range payers {
		payer, err := m.AddPayer(ctx, n, payments.Approve, 1_000_000)
		if err != nil {
			return err
		}
		numbers = append(numbers, payer.MSISDN)
	}
	begun := time.Now()
	err = inParallel(ctx, count, 16, func(ctx context.Context, i int) error {
		_, err := m.Client.Insist(ctx, "/payments", system.NewPayment(fmt.Sprintf("p%d", i), numbers[i%payers], ""))
		return err
	})
	if err != nil {
		return err
	}
	b.figure("payments made", count/time.Since(begun).Seconds(), "/s")
	due := time.Now().Add(3 * time.Second)
	if _, err := b.SQL.Exec(ctx, "update transactions set due_at = $2 where tenant = $1 and status = 'PENDING'", m.Tenant, due); err != nil {
		return err
	}
	workers, err := b.workers(ctx, 2)
	if err != nil {
		return err
	}
	if late := time.Since(due); late > 0 {
		return fmt.Errorf("the workers were ready %s after the payments were due: the machine is too busy to measure", late)
	}
	err = system.Until(ctx, 2*time.Minute, "all is settled", func(ctx context.Context) error {
		pending, err := m.Pending(ctx)
		if err == nil && pending > 0 {
			err = fmt.Errorf("%d payments are pending", pending)
		}
		return err
	})
	if err != nil {
		return err
	}
	b.target("due to the last settled", time.Since(due).Seconds(), "s", 5)
	successes, err := b.Count(ctx, "select count(*) from transactions where tenant = $1 and status = 'SUCCESS'", m.Tenant)
	if err != nil {
		return err
	}
	if successes != count {
		b.problem("%d payments succeeded, not %d", successes, count)
	}
	if err := b.Drained(ctx, time.Minute, m.Sandbox); err != nil {
		return err
	}
	b.figure("due to the last delivered", time.Since(due).Seconds(), "s")
	b.memory(api.Process, workers[0].Process, workers[1].Process)
	return b.delivered(ctx, m)
}
