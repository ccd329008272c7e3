package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// settle measures how fast two workers settle what is due of one merchant, from a hundred payers, beside two clients that book the
// floor's payments 50 a commit.
func settle(ctx context.Context, b *bench) error {
	const payers = 100
	models, err := b.registryModels(ctx, payers)
	if err != nil {
		return err
	}
	if _, err := b.workers(ctx, 2); err != nil {
		return err
	}
	if err := b.noneDue(ctx, "transactions"); err != nil {
		return err
	}
	if err := b.openFloor(ctx); err != nil {
		return err
	}
	each := b.settings.size(100)
	ours := func(ctx context.Context) (measured, error) {
		if err := b.PendingBacklog(ctx, each, models...); err != nil {
			return measured{}, err
		}
		begun := time.Now()
		err := b.noneDue(ctx, "transactions")
		return measured{rate: float64(each*payers) / time.Since(begun).Seconds()}, err
	}
	results, err := b.inTurns(ctx, side{"cauri", ours}, b.floor.books("batch", "-clients=2", "-batch=50"))
	if err != nil {
		return err
	}
	b.against(fmt.Sprintf("%s due at one moment", number(float64(each*payers))), "/s", results[0].rates(), results[1].rates()).atLeast(0.4)
	want := int64((each*b.settings.Rounds + 1) * payers)
	succeeded, err := b.Count(ctx, "select count(*) from transactions where status = 'SUCCESS'")
	if err == nil && succeeded != want {
		b.problem("%d payments succeeded, not %d", succeeded, want)
	}
	return err
}

// registryModels makes a payment of each of so many payers in one sandbox, which has no endpoint.
func (b *bench) registryModels(ctx context.Context, payers int) (models []system.Model, err error) {
	apis, err := b.apis(ctx, 1)
	if err != nil {
		return nil, err
	}
	s, err := b.AddSandbox(ctx, "hot", "")
	if err != nil {
		return nil, err
	}
	client, err := s.Client(ctx, apis[0])
	if err != nil {
		return nil, err
	}
	for n := range payers {
		payer, err := s.AddPayer(ctx, n, payments.Approve, 1_000_000_000)
		if err != nil {
			return nil, err
		}
		reference := fmt.Sprintf("model-%d", n)
		if _, err := client.Insist(ctx, "/payments", system.NewPayment(reference, payer.MSISDN, "")); err != nil {
			return nil, err
		}
		models = append(models, system.Model{Sandbox: s, Reference: reference})
	}
	return models, nil
}

// noneDue waits until no row of transactions or events is due.
func (b *bench) noneDue(ctx context.Context, table string) error {
	return system.Until(ctx, 5*time.Minute, "nothing is due", func(ctx context.Context) error {
		due, err := b.Count(ctx, "select count(*) from (select from "+table+" where due_at is not null limit 1) due")
		if err == nil && due > 0 {
			err = errors.New("some " + table + " are due")
		}
		return err
	})
}
