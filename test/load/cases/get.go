package cases

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/system"
)

// get measures reads of single payments.
func get(ctx context.Context, b *bench.Bench) error {
	apis, err := b.Apis(ctx, 1)
	if err != nil {
		return err
	}
	sandboxes, err := b.AddSandboxes(ctx, b.Settings.Size(100), bench.Nobody)
	if err != nil {
		return err
	}
	if err := bench.Known(ctx, sandboxes, apis...); err != nil {
		return err
	}
	address, err := startBaseline(ctx, b)
	if err != nil {
		return err
	}
	for _, s := range []bench.Subject{
		b.Writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", apis...), b.BaselineCreates(address, 100),
	} {
		if err := Filled(ctx, s, b.Settings.Size(10_000)); err != nil {
			return err
		}
	}
	theirs, err := baselineGets(ctx, b, address)
	if err != nil {
		return err
	}
	for _, of := range []struct {
		name        string
		sandboxes   []*system.Sandbox
		connections int
	}{
		{"8 connections", sandboxes, 8},
		{"32 connections", sandboxes, 32},
		{"one sandbox, 32 connections", sandboxes[:1], 32},
	} {
		ours, err := Gets(ctx, b, of.sandboxes, apis...)
		if err != nil {
			return err
		}
		ours.Costs = b.CostsOf(map[string]*system.Process{"api": apis[0].Process})
		results, err := b.InTurns(ctx, b.Closed(ours, of.connections), b.Closed(theirs, of.connections))
		if err != nil {
			return err
		}
		b.Against(of.name, "/s", results[0].Rates(), results[1].Rates()).WantAtLeast(0.65)
		ours.Costs.Tell(&b.Report, of.name+", processor time of a look-up")
		b.Against(of.name+", p99 while as many as possible come", "ms", results[0].P99s(), results[1].P99s())
	}
	return nil
}

// Filled fills the books through a subject until they have n rows.
func Filled(ctx context.Context, s bench.Subject, rows int) error {
	g, err := generator.Dial(ctx, s.Target, 8)
	if err != nil {
		return err
	}
	defer g.Close()
	for {
		if err := g.Closed(ctx, 500*time.Millisecond).Err(); err != nil {
			return fmt.Errorf("filling %s: %w", s.Name, err)
		}
		if booked, err := s.Booked(ctx); err != nil || booked >= int64(rows) {
			return err
		}
	}
}

// Gets is a subject: GET of existing transactions, each with the key of its sandbox.
func Gets(ctx context.Context, b *bench.Bench, sandboxes []*system.Sandbox, apis ...*system.API) (bench.Subject, error) {
	keys := map[int64]string{}
	for _, s := range sandboxes {
		keys[s.Tenant] = s.Key
	}
	rows, err := b.SQL.Query(ctx, "select tenant, id from transactions where tenant = any($1) limit 10000", slices.Collect(maps.Keys(keys)))
	if err != nil {
		return bench.Subject{}, err
	}
	var requests []string
	var tenant int64
	var id [16]byte
	_, err = pgx.ForEachRow(rows, []any{&tenant, &id}, func() error {
		requests = append(requests, generator.Head("GET", "/v1/payments/"+payments.ID(id).String(), keys[tenant]))
		return nil
	})
	return reads("cauri GET /v1/payments/{id}", requests, bench.AddressesOf(apis...)), err
}

// baselineGets is the same for the baseline.
func baselineGets(ctx context.Context, b *bench.Bench, address string) (bench.Subject, error) {
	rows, err := b.Baseline.SQL.Query(ctx, "select id from payments limit 10000")
	if err != nil {
		return bench.Subject{}, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	var requests []string
	for _, id := range ids {
		requests = append(requests, generator.Head("GET", "/v1/payments/"+strconv.FormatInt(id, 10), ""))
	}
	return reads("the baseline's GET", requests, []string{address}), err
}

// reads is a subject that sends pseudo-random choices of some requests and expects 200.
func reads(name string, requests, addresses []string) bench.Subject {
	return bench.Subject{Name: name, Target: generator.Target{
		Addresses: addresses, Status: 200, Append: func(buffer []byte, n int64) []byte {
			return generator.End(append(buffer, requests[bench.Drawn(n, 0)%uint64(len(requests))]...))
		},
	}}
}
