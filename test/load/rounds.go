package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/test/load/generator"
)

// side is one of those that are compared.
type side struct {
	name    string
	measure func(ctx context.Context) (measured, error) // for one round
}

// inTurns measures sides round by round, each of them first in its turn, so that whatever happens on the machine happens to all. The
// databases begin each time with their last changes written and their statistics made.
func (b *bench) inTurns(ctx context.Context, sides ...side) ([]measurements, error) {
	all := make([]measurements, len(sides))
	for round := range b.settings.Rounds {
		for i := range sides {
			n := (i + round) % len(sides)
			if err := b.rested(ctx); err != nil {
				return nil, err
			}
			m, err := sides[n].measure(ctx)
			if err != nil {
				return nil, fmt.Errorf("round %d of %s: %w", round+1, sides[n].name, err)
			}
			fmt.Fprintf(b.progress, "  round %d, %s: %s\n", round+1, sides[n].name, m)
			all[n] = append(all[n], m)
		}
	}
	return all, nil
}

// rested brings the databases to rest.
func (b *bench) rested(ctx context.Context) error {
	pools := []*pgxpool.Pool{b.SQL}
	if b.floor != nil {
		pools = append(pools, b.floor.sql)
	}
	for _, pool := range pools {
		if _, err := pool.Exec(ctx, "vacuum analyze"); err != nil {
			return fmt.Errorf("bringing the database to rest: %w", err)
		}
	}
	_, err := b.SQL.Exec(ctx, "checkpoint")
	return err
}

// subject is a server with a load that can be put on it.
type subject struct {
	name   string // for messages
	target generator.Target
	booked func(context.Context) (int64, error) // rows that the requests make; nil: they make none
}

// closed is a side that puts load on a subject by so many connections that wait for their answers. What counts is what is booked.
func (b *bench) closed(s subject, connections int) side {
	return b.loaded(s, connections, func(ctx context.Context, g *generator.Generator) generator.Result {
		return g.Closed(ctx, time.Duration(b.settings.Length))
	})
}

// openConnections is how many requests of an open loop may be under way.
const openConnections = 64

// open is a side that puts load on a subject at a rate.
func (b *bench) open(s subject, rate float64) side {
	return b.loaded(s, openConnections, func(ctx context.Context, g *generator.Generator) generator.Result {
		return g.Open(ctx, rate, time.Duration(b.settings.Length))
	})
}

// loaded is a side that puts load on a subject, after a while of the same load that does not count.
func (b *bench) loaded(s subject, connections int, load func(context.Context, *generator.Generator) generator.Result) side {
	return side{s.name, func(ctx context.Context) (measured, error) {
		g, err := generator.Dial(ctx, s.target, connections)
		if err != nil {
			return measured{}, err
		}
		defer g.Close()
		if err := g.Closed(ctx, min(time.Second, time.Duration(b.settings.Length)/5)).Err(); err != nil {
			return measured{}, fmt.Errorf("warming up %s: %w", s.name, err)
		}
		before, err := s.count(ctx)
		if err != nil {
			return measured{}, err
		}
		result := load(ctx, g)
		if err := context.Cause(ctx); err != nil {
			return measured{}, err
		}
		if err := result.Err(); err != nil {
			b.problem("%s: %v", s.name, err)
		}
		b.shed(s.name, result)
		after, err := s.count(ctx)
		if err != nil {
			return measured{}, err
		}
		counted := result.Accepted
		if s.booked != nil {
			if counted = after - before; counted != result.Accepted && result.Failed == 0 {
				b.problem("%s accepted %d requests and booked %d", s.name, result.Accepted, counted)
			}
		}
		return measuredOf(float64(counted)/result.Took.Seconds(), &result.Latency), nil
	}}
}

// shedAtMost is how many of a hundred requests may be answered with 503 before a figure says nothing.
const shedAtMost = 1

// shed adds the requests that a server was too busy for, if there were any.
func (b *bench) shed(name string, results ...generator.Result) {
	var all generator.Result
	for _, r := range results {
		all.Accepted, all.Shed = all.Accepted+r.Accepted, all.Shed+r.Shed
	}
	if all.Shed > 0 {
		b.target(name+": too busy for", all.ShedPercent(), "%", shedAtMost)
	}
}

func (s subject) count(ctx context.Context) (int64, error) {
	if s.booked == nil {
		return 0, nil
	}
	return s.booked(ctx)
}
