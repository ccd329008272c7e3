package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/system"
)

// get measures reading payments one by one.
func get(ctx context.Context, b *bench) error {
	apis, err := b.apis(ctx, 1)
	if err != nil {
		return err
	}
	sandboxes, err := b.addSandboxes(ctx, b.settings.size(100), nobody)
	if err != nil {
		return err
	}
	if err := known(ctx, sandboxes, apis...); err != nil {
		return err
	}
	address, err := b.startFloor(ctx)
	if err != nil {
		return err
	}
	for _, s := range []subject{
		b.writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", apis...), b.floorCreates(address, 100),
	} {
		if err := b.filled(ctx, s, b.settings.size(10_000)); err != nil {
			return err
		}
	}
	theirs, err := b.floorGets(ctx, address)
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
		ours, err := b.gets(ctx, of.sandboxes, apis...)
		if err != nil {
			return err
		}
		results, err := b.inTurns(ctx, b.closed(ours, of.connections), b.closed(theirs, of.connections))
		if err != nil {
			return err
		}
		b.against(of.name, "/s", results[0].rates(), results[1].rates()).atLeast(0.65)
		b.against(of.name+", p99 while as many as possible come", "ms", results[0].p99s(), results[1].p99s())
	}
	return nil
}

// filled books with a subject until it has so many rows.
func (b *bench) filled(ctx context.Context, s subject, rows int) error {
	g, err := generator.Dial(ctx, s.target, 8)
	if err != nil {
		return err
	}
	defer g.Close()
	for {
		if err := g.Closed(ctx, 500*time.Millisecond).Err(); err != nil {
			return fmt.Errorf("filling %s: %w", s.name, err)
		}
		if booked, err := s.booked(ctx); err != nil || booked >= int64(rows) {
			return err
		}
	}
}

// gets is a subject: GET of transactions that there are, each with the key of its sandbox.
func (b *bench) gets(ctx context.Context, sandboxes []*system.Sandbox, apis ...*system.API) (subject, error) {
	keys := map[int64]string{}
	for _, s := range sandboxes {
		keys[s.Tenant] = s.Key
	}
	rows, err := b.SQL.Query(ctx, "select tenant, id from transactions where tenant = any($1) limit 10000", slices.Collect(maps.Keys(keys)))
	if err != nil {
		return subject{}, err
	}
	var requests []string
	var tenant int64
	var id [16]byte
	_, err = pgx.ForEachRow(rows, []any{&tenant, &id}, func() error {
		requests = append(requests, generator.Head("GET", "/v1/payments/"+payments.ID(id).String(), keys[tenant]))
		return nil
	})
	return reads("cauri GET /v1/payments/{id}", requests, addressesOf(apis...)), err
}

// floorGets is the same for the floor.
func (b *bench) floorGets(ctx context.Context, address string) (subject, error) {
	rows, err := b.floor.sql.Query(ctx, "select id from payments limit 10000")
	if err != nil {
		return subject{}, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	var requests []string
	for _, id := range ids {
		requests = append(requests, generator.Head("GET", "/v1/payments/"+strconv.FormatInt(id, 10), ""))
	}
	return reads("the floor's GET", requests, []string{address}), err
}

// reads is a subject that answers each of some requests with 200; they are drawn by chance.
func reads(name string, requests, addresses []string) subject {
	return subject{name: name, target: generator.Target{
		Addresses: addresses, Status: 200, Append: func(buffer []byte, n int64) []byte {
			return generator.End(append(buffer, requests[drawn(n, 0)%uint64(len(requests))]...))
		},
	}}
}
