package cases

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	// startRounds is how long each number of connections pays after a start, in rounds of -length: a minute, unless it
	// is set. The first autovacuum comes in this time.
	startRounds = 12
	// startsApart is the maximum of the most expensive start, as a multiple of the cheapest.
	startsApart = 1.3
)

// starts measures whether starts on a new database are alike. Ten times, it starts everything that `make up` runs. It
// measures the processor time that Postgres takes for a payment, second by second, with 8 connections and then with 32.
func starts(ctx context.Context, b *bench.Bench) error {
	connections := []int{8, 32}
	costs := make([][]float64, len(connections))
	for n := range b.Settings.Size(10) {
		fmt.Fprintf(b.Progress, "  start %d\n", n+1)
		each, err := oneStart(ctx, b, connections)
		if err != nil {
			return fmt.Errorf("start %d: %w", n+1, err)
		}
		for i, cost := range each {
			costs[i] = append(costs[i], cost)
		}
	}
	for i, n := range connections {
		all := report.SampleOf(costs[i]...)
		label := fmt.Sprintf("%d connections, Postgres' processor time of a payment", n)
		b.Add(report.Figure{Name: label, Value: all, Unit: "µs"}).Show()
		b.Target(label+": most expensive start to the cheapest", all.High/all.Low, "", startsApart)
	}
	return nil
}

// oneStart installs everything on a new Postgres. It returns the processor time of a payment in microseconds, for each
// number of connections.
func oneStart(ctx context.Context, outer *bench.Bench, connections []int) (costs []float64, err error) {
	inner, end, err := bench.Open(ctx, outer.Programs, outer.Settings, outer.Progress, untuned...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	s := &installation{Bench: inner}
	defer func() {
		if s.cluster != nil {
			s.cluster.stop()
		}
	}()
	if err := s.install(ctx, outer.Settings.Size(100)); err != nil {
		return nil, err
	}
	payments := inner.Writes("/v1/payments", 201, s.sandboxes, []string{system.Unregistered}, "success", s.api)
	for _, n := range connections {
		cost, err := s.eachSecond(ctx, payments.Target, n)
		if err != nil {
			return nil, err
		}
		costs = append(costs, cost)
	}
	if err := inner.Audit(ctx); err != nil {
		return nil, err
	}
	outer.Problems = append(outer.Problems, inner.Problems...)
	return costs, nil
}

// eachSecond prints the cost of a payment of each second, and returns that of all.
func (s *installation) eachSecond(ctx context.Context, target generator.Target, connections int) (micros float64, err error) {
	g, err := generator.Dial(ctx, target, connections)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	fmt.Fprintf(s.Progress, "    %d connections, µs a payment:", connections)
	defer func() { fmt.Fprintf(s.Progress, "; of all %.0f\n", micros) }()
	var used time.Duration
	var paid int64
	for range int(startRounds * time.Duration(s.Settings.Length) / time.Second) {
		before, err := s.Postgres.CPU()
		if err != nil {
			return 0, err
		}
		result := g.Closed(ctx, time.Second)
		if err := errors.Join(result.Err(), context.Cause(ctx)); err != nil {
			return 0, err
		}
		after, err := s.Postgres.CPU()
		if err != nil {
			return 0, err
		}
		used, paid = used+after-before, paid+result.Accepted
		fmt.Fprintf(s.Progress, " %d", (after-before).Microseconds()/max(1, result.Accepted))
	}
	return float64(used.Microseconds()) / float64(max(1, paid)), nil
}
