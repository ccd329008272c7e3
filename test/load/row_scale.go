package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/growth"
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

// grown measures lists in a database that has become large, and creates beside an empty one (-transactions says how large).
func grown(ctx context.Context, b *bench) error {
	total := int64(b.settings.size(b.settings.Transactions))
	size := growth.Size{Transactions: total, Sandboxes: max(2, total/10_000), Large: total / 10}
	conn, err := b.SQL.Acquire(ctx)
	if err != nil {
		return err
	}
	_, err = growth.Fill(ctx, conn.Conn(), size, func(string) {})
	conn.Release()
	if err != nil {
		return err
	}
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	for _, l := range growth.Lists {
		if err := b.page(ctx, l, size, api); err != nil {
			return err
		}
	}
	return b.grownCreates(ctx, total, api)
}

// page measures one list, of the large sandbox and of all others.
func (b *bench) page(ctx context.Context, l growth.List, size growth.Size, api *system.API) error {
	for _, of := range []struct {
		name     string
		from, to int64
		limit    float64
	}{{fmt.Sprintf("of one that has %s", number(float64(size.Large))), 1, 1, 100}, {fmt.Sprintf("of %d others", size.Sandboxes-1), 2, size.Sandboxes, 25}} {
		var heads []string
		for n := of.from; n <= min(of.to, of.from+1000); n++ {
			heads = append(heads, generator.Head("GET", "/v1"+l.Path, growth.Key(n)))
		}
		results, err := b.inTurns(ctx, b.open(reads(l.Name, heads, addressesOf(api)), 50))
		if err != nil {
			return err
		}
		b.add(figure{Name: fmt.Sprintf("%s transactions, %s, %s, p99", number(float64(size.Transactions)), of.name, l.Name), Unit: "ms", Value: results[0].p99s()}).
			atMost(of.limit)
	}
	return nil
}

// grownCreates measures creates in the large database and in an empty one on the same server, in turns.
func (b *bench) grownCreates(ctx context.Context, total int64, api *system.API) error {
	empty, err := system.Open(ctx, b.Postgres, b.programs.cauri)
	if err != nil {
		return err
	}
	defer func() { _ = empty.Close() }()
	other := &bench{System: empty, settings: b.settings, programs: b.programs, progress: b.progress}
	beside, err := other.StartAPI(ctx, "api-empty")
	if err != nil {
		return err
	}
	var sides []side
	for _, s := range []struct {
		of   *bench
		name string
		api  *system.API
	}{{b, "in the large database", api}, {other, "in the empty one", beside}} {
		sandboxes, err := s.of.addSandboxes(ctx, b.settings.size(100), nobody)
		if err != nil {
			return err
		}
		if err := known(ctx, sandboxes, s.api); err != nil {
			return err
		}
		creates := s.of.writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", s.api)
		creates.name = s.name
		creates.booked = func(ctx context.Context) (int64, error) { // along the key: the others stay as they are
			return s.of.Count(ctx, "select count(*) from transactions where tenant >= $1", sandboxes[0].Tenant)
		}
		sides = append(sides, s.of.closed(creates, 8))
	}
	results, err := b.inTurns(ctx, sides...)
	if err != nil {
		return err
	}
	b.report.Problems = append(b.report.Problems, other.report.Problems...)
	b.against(fmt.Sprintf("created beside %s transactions, 8 connections; floor: an empty database", number(float64(total))), "/s", results[0].rates(), results[1].rates()).
		atLeast(0.85)
	return nil
}
