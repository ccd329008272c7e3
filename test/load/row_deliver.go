package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// deliver measures how many events a worker delivers to an endpoint that acknowledges at once, beside a bare loop that takes a batch,
// posts each and marks the batch.
func deliver(ctx context.Context, b *bench) error {
	const sandboxes = 10
	s, err := openSink()
	if err != nil {
		return err
	}
	defer s.close()
	models, _, err := b.eventModels(ctx, sandboxes, s.url)
	if err != nil {
		return err
	}
	workers, err := b.workers(ctx, 1)
	if err != nil {
		return err
	}
	if err := b.noneDue(ctx, "events"); err != nil {
		return err
	}
	if err := b.openFloor(ctx); err != nil {
		return err
	}
	s.empty()
	events := b.settings.size(10_000)
	ours := func(ctx context.Context) (measured, error) {
		if err := b.EventBacklog(ctx, events/sandboxes, models...); err != nil {
			return measured{}, err
		}
		begun := time.Now()
		err := b.noneDue(ctx, "events")
		took := time.Since(begun).Seconds()
		return measured{rate: b.cameTo(s, "the worker", events) / took}, err
	}
	theirs := func(ctx context.Context) (measured, error) { return b.floorDelivers(ctx, s, events) }
	results, err := b.inTurns(ctx, side{"cauri", ours}, side{"the floor", theirs})
	if err != nil {
		return err
	}
	b.against(number(float64(events))+" due at one moment, 10 sandboxes", "/s", results[0].rates(), results[1].rates()).atLeast(0.6)
	b.memory(workers[0].Process)
	undelivered, err := b.Count(ctx, "select count(*) from events where state <> 'delivered'")
	if err == nil && undelivered > 0 {
		b.problem("%d events were not delivered", undelivered)
	}
	return err
}

// eventModels makes a payment that moves no money in each of some sandboxes, whose events go to a url.
func (b *bench) eventModels(ctx context.Context, count int, url string) (models []system.Model, api *system.API, err error) {
	apis, err := b.apis(ctx, 1)
	if err != nil {
		return nil, nil, err
	}
	sandboxes, err := b.addSandboxes(ctx, count, url)
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

// floorDelivers fills the floor's outbox and lets its loop empty it.
func (b *bench) floorDelivers(ctx context.Context, s *sink, events int) (measured, error) {
	_, err := b.floor.sql.Exec(ctx, `select pay_batch(1, array(select $1 || '-' || n from generate_series(1, $2::integer) n),
		array(select 1 + n % 100000 from generate_series(1, $2::bigint) n), 100)`, b.series("d"), events)
	if err != nil {
		return measured{}, fmt.Errorf("filling the floor's outbox: %w", err)
	}
	did, err := b.floor.run(ctx, "deliver", "-url="+s.url, "-batch=64")
	if err != nil {
		return measured{}, err
	}
	return measured{rate: b.cameTo(s, "the floor", events) / did.Seconds}, nil
}

// cameTo is how many events arrived at a sink, which is a problem if it is not how many were sent.
func (b *bench) cameTo(s *sink, from string, want int) float64 {
	came, again := s.empty()
	if came != want {
		b.problem("%d events of %s arrived, not %d", came, from, want)
	}
	if again > 0 {
		b.figure("events of "+from+" that came again", float64(again), "")
	}
	return float64(came)
}
