package cases

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// settle measures how fast two workers settle the due payments of one merchant from a hundred payers. The baseline is
// two clients that book payments 50 in each commit.
func settle(ctx context.Context, b *bench.Bench) error {
	const payers = 100
	models, err := registryModels(ctx, b, payers)
	if err != nil {
		return err
	}
	workers, err := b.Workers(ctx, 2)
	if err != nil {
		return err
	}
	costs := b.CostsOf(map[string]*system.Process{"worker-0": workers[0].Process, "worker-1": workers[1].Process})
	if err := NoneDue(ctx, b, "transactions"); err != nil {
		return err
	}
	if err := b.OpenBaseline(ctx); err != nil {
		return err
	}
	each := b.Settings.Size(100)
	ours := func(ctx context.Context) (report.Measured, error) {
		if err := b.PendingBacklog(ctx, each, models...); err != nil {
			return report.Measured{}, err
		}
		begun := time.Now()
		err := costs.During(func() (float64, error) { return float64(each * payers), NoneDue(ctx, b, "transactions") })
		return report.Measured{Rate: float64(each*payers) / time.Since(begun).Seconds()}, err
	}
	results, err := b.InTurns(ctx, bench.Side{Name: "cauri", Measure: ours}, b.Baseline.Books("batch", "-clients=2", "-batch=50"))
	if err != nil {
		return err
	}
	b.Against(fmt.Sprintf("%s due at one moment", report.Number(float64(each*payers))), "/s", results[0].Rates(), results[1].Rates()).
		WantAtLeast(0.4)
	costs.Tell(&b.Report, "processor time of a payment")
	want := int64((each*b.Settings.Rounds + 1) * payers)
	succeeded, err := b.Count(ctx, "select count(*) from transactions where status = 'SUCCESS'")
	if err == nil && succeeded != want {
		b.Problem("%d payments succeeded, not %d", succeeded, want)
	}
	return err
}

// registryModels makes one payment for each of n payers in one sandbox without an endpoint.
func registryModels(ctx context.Context, b *bench.Bench, payers int) (models []system.Model, err error) {
	apis, err := b.Apis(ctx, 1)
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

// NoneDue waits until no transaction or event is due.
func NoneDue(ctx context.Context, b *bench.Bench, table string) error {
	return system.Until(ctx, 5*time.Minute, "nothing is due", func(ctx context.Context) error {
		due, err := b.Count(ctx, "select count(*) from (select from "+table+" where due_at is not null limit 1) due")
		if err == nil && due > 0 {
			err = errors.New("some " + table + " are due")
		}
		return err
	})
}
