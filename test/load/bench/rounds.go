package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
)

// Side is one side of a comparison.
type Side struct {
	Name    string
	Measure func(ctx context.Context) (report.Measured, error) // for one round
}

// InTurns measures the sides in rounds and rotates the order, so that changes of the machine's speed affect all sides.
// Before each measurement, it runs vacuum, analyze and a checkpoint on the databases.
func (b *Bench) InTurns(ctx context.Context, sides ...Side) ([]report.Measurements, error) {
	return b.InTurnsAfter(ctx, b.Rested, sides...)
}

// InTurnsAfter is [Bench.InTurns] with something else before each measurement.
func (b *Bench) InTurnsAfter(ctx context.Context, prepare func(context.Context) error, sides ...Side) ([]report.Measurements, error) {
	all := make([]report.Measurements, len(sides))
	for round := range b.Settings.Rounds {
		for i := range sides {
			n := (i + round) % len(sides)
			if err := prepare(ctx); err != nil {
				return nil, err
			}
			m, err := sides[n].Measure(ctx)
			if err != nil {
				return nil, fmt.Errorf("round %d of %s: %w", round+1, sides[n].Name, err)
			}
			fmt.Fprintf(b.Progress, "  round %d, %s: %s\n", round+1, sides[n].Name, m)
			all[n] = append(all[n], m)
		}
	}
	return all, nil
}

// Rested vacuums, analyzes and checkpoints the databases.
func (b *Bench) Rested(ctx context.Context) error {
	pools := []*pgxpool.Pool{b.SQL}
	if b.Baseline != nil {
		pools = append(pools, b.Baseline.SQL)
	}
	for _, pool := range pools {
		if _, err := pool.Exec(ctx, "vacuum analyze"); err != nil {
			return fmt.Errorf("preparing the database for a round: %w", err)
		}
	}
	_, err := b.SQL.Exec(ctx, "checkpoint")
	return err
}

// Subject is a server to put load on.
type Subject struct {
	Name   string // for messages
	Target generator.Target
	Booked func(context.Context) (int64, error) // counts the rows that the requests make; nil: they make none
	Costs  *Costs                               // of the requests; nil: they are not measured
}

// Closed is a side with a closed loop: a number of connections that wait for their answers. Its result counts what is
// booked.
func (b *Bench) Closed(s Subject, connections int) Side {
	return b.Loaded(s, connections, func(ctx context.Context, g *generator.Generator) generator.Result {
		return g.Closed(ctx, time.Duration(b.Settings.Length))
	})
}

// OpenConnections limits the number of concurrent requests of an open loop.
const OpenConnections = 64

// Open is a side with an open loop: requests at a fixed rate.
func (b *Bench) Open(s Subject, rate float64) Side {
	return b.Loaded(s, OpenConnections, func(ctx context.Context, g *generator.Generator) generator.Result {
		return g.Open(ctx, rate, time.Duration(b.Settings.Length))
	})
}

// Loaded is a side that puts load on a subject after a warm-up with the same load.
func (b *Bench) Loaded(s Subject, connections int, load func(context.Context, *generator.Generator) generator.Result) Side {
	return Side{s.Name, func(ctx context.Context) (report.Measured, error) {
		g, err := generator.Dial(ctx, s.Target, connections)
		if err != nil {
			return report.Measured{}, err
		}
		defer g.Close()
		if err := g.Closed(ctx, min(time.Second, time.Duration(b.Settings.Length)/5)).Err(); err != nil {
			return report.Measured{}, fmt.Errorf("warming up %s: %w", s.Name, err)
		}
		before, err := s.count(ctx)
		if err != nil {
			return report.Measured{}, err
		}
		var result generator.Result
		err = s.Costs.During(func() (float64, error) {
			result = load(ctx, g)
			return float64(result.Accepted), context.Cause(ctx)
		})
		if err != nil {
			return report.Measured{}, err
		}
		if err := result.Err(); err != nil {
			b.Problem("%s: %v", s.Name, err)
		}
		b.Shed(s.Name, result)
		after, err := s.count(ctx)
		if err != nil {
			return report.Measured{}, err
		}
		counted := result.Accepted
		if s.Booked != nil {
			if counted = after - before; counted != result.Accepted && result.Failed == 0 {
				b.Problem("%s accepted %d requests and booked %d", s.Name, result.Accepted, counted)
			}
		}
		return report.MeasuredOf(float64(counted)/result.Took.Seconds(), &result.Latency), nil
	}}
}

// shedAtMost is the highest share of 503 answers, in percent, for a valid figure.
const shedAtMost = 1

// Shed reports the requests that a server shed, if there were any.
func (b *Bench) Shed(name string, results ...generator.Result) {
	var all generator.Result
	for _, r := range results {
		all.Accepted, all.Shed = all.Accepted+r.Accepted, all.Shed+r.Shed
	}
	if all.Shed > 0 {
		b.Target(name+": too busy for", all.ShedPercent(), "%", shedAtMost)
	}
}

func (s Subject) count(ctx context.Context) (int64, error) {
	if s.Booked == nil {
		return 0, nil
	}
	return s.Booked(ctx)
}
