package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// deliver measures the delivery rate of a worker to an endpoint that acknowledges at once. The baseline is a minimal
// loop that takes a batch, posts each event and marks the batch.
func deliver(ctx context.Context, b *bench.Bench) error {
	const sandboxes = 10
	s, err := bench.OpenReceiver()
	if err != nil {
		return err
	}
	defer s.Close()
	models, _, err := eventModels(ctx, b, sandboxes, s.URL)
	if err != nil {
		return err
	}
	workers, err := b.Workers(ctx, 1)
	if err != nil {
		return err
	}
	if err := NoneDue(ctx, b, "events"); err != nil {
		return err
	}
	if err := b.OpenBaseline(ctx); err != nil {
		return err
	}
	s.Empty()
	events := b.Settings.Size(10_000)
	costs := b.CostsOf(map[string]*system.Process{"worker": workers[0].Process})
	ours := func(ctx context.Context) (report.Measured, error) {
		if err := b.EventBacklog(ctx, events/sandboxes, models...); err != nil {
			return report.Measured{}, err
		}
		begun := time.Now()
		err := costs.During(func() (float64, error) { return float64(events), NoneDue(ctx, b, "events") })
		took := time.Since(begun).Seconds()
		return report.Measured{Rate: cameTo(b, s, "the worker", events) / took}, err
	}
	theirs := func(ctx context.Context) (report.Measured, error) { return baselineDelivers(ctx, b, s, events) }
	results, err := b.InTurns(ctx, bench.Side{Name: "cauri", Measure: ours}, bench.Side{Name: "the baseline", Measure: theirs})
	if err != nil {
		return err
	}
	b.Against(report.Number(float64(events))+" due at one moment, 10 sandboxes", "/s", results[0].Rates(), results[1].Rates()).WantAtLeast(0.6)
	costs.Tell(&b.Report, "processor time of a delivery")
	b.Memory(workers[0].Process)
	undelivered, err := b.Count(ctx, "select count(*) from events where state <> 'delivered'")
	if err == nil && undelivered > 0 {
		b.Problem("%d events were not delivered", undelivered)
	}
	return err
}

// eventModels makes one payment that moves no money in each of n sandboxes, whose events go to a URL.
func eventModels(ctx context.Context, b *bench.Bench, count int, url string) (models []system.Model, api *system.API, err error) {
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return nil, nil, err
	}
	sandboxes, err := b.AddSandboxes(ctx, count, url)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sandboxes {
		client, err := s.Client(ctx, apis[0])
		if err != nil {
			return nil, nil, err
		}
		if _, err := client.Insist(ctx, "/payments", system.NewPayment("model", system.Unregistered, "low_balance")); err != nil {
			return nil, nil, err
		}
		models = append(models, system.Model{Sandbox: s, Reference: "model"})
	}
	return models, apis[0], nil
}

// baselineDelivers fills the baseline's outbox and runs its delivery loop.
func baselineDelivers(ctx context.Context, b *bench.Bench, s *bench.Receiver, events int) (report.Measured, error) {
	_, err := b.Baseline.SQL.Exec(ctx, `select pay_batch(1, array(select $1 || '-' || n from generate_series(1, $2::integer) n),
		array(select 1 + n % 100000 from generate_series(1, $2::bigint) n), 100)`, b.Series("d"), events)
	if err != nil {
		return report.Measured{}, fmt.Errorf("filling the baseline's outbox: %w", err)
	}
	did, err := b.Baseline.Run(ctx, "deliver", "-url="+s.URL, "-batch=64")
	if err != nil {
		return report.Measured{}, err
	}
	return report.Measured{Rate: cameTo(b, s, "the baseline", events) / did.Seconds}, nil
}

// cameTo reports how many events arrived at a receiver. A wrong number is a problem.
func cameTo(b *bench.Bench, s *bench.Receiver, from string, want int) float64 {
	came, again := s.Empty()
	if came != want {
		b.Problem("%d events of %s arrived, not %d", came, from, want)
	}
	if again > 0 {
		b.Figure("events of "+from+" that came again", float64(again), "")
	}
	return float64(came)
}
