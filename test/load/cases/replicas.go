package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
)

// replicas measures a second api and a second worker on one database. All share the processors of one machine. The
// result thus shows the cost of coordination, not the gain from more machines.
func replicas(ctx context.Context, b *bench.Bench) error {
	s, err := bench.OpenReceiver()
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := b.Assemble(ctx, 2, 0, s.URL)
	if err != nil {
		return err
	}
	through := make([][]float64, 3)
	with := func(count int) bench.Side {
		return bench.Side{Name: fmt.Sprintf("%d of each", count), Measure: func(ctx context.Context) (report.Measured, error) {
			m, all, err := carried(ctx, l, count, s)
			through[count] = append(through[count], all)
			return m, err
		}}
	}
	results, err := b.InTurns(ctx, with(2), with(1))
	if err != nil {
		return err
	}
	b.Against("two of each beside one, 32 connections, created", "/s", results[0].Rates(), results[1].Rates()).Show()
	b.Against("two of each beside one, created and delivered", "/s", report.SampleOf(through[2]...), report.SampleOf(through[1]...)).Show()
	b.Against("two of each beside one, p99 of a create while as many as possible come", "ms", results[0].P99s(), results[1].P99s())
	return nil
}

// carried puts load on n apis and n workers. It measures the rate of creates, and the rate up to the last delivered
// event.
func carried(ctx context.Context, l *bench.Assembly, count int, s *bench.Receiver) (created report.Measured, all float64, err error) {
	b, load := l.Bench, l.Subject(count)
	if l.Workers, err = b.Workers(ctx, count); err != nil {
		return created, 0, err
	}
	g, err := generator.Dial(ctx, load.Target, 32)
	if err != nil {
		return created, 0, err
	}
	defer g.Close()
	begun := time.Now()
	result := g.Closed(ctx, time.Duration(b.Settings.Length))
	if err := result.Err(); err != nil {
		b.Problem("%v", err)
	}
	b.Shed(load.Name, result)
	if err := NoneDue(ctx, b, "events"); err != nil {
		return created, 0, err
	}
	came := cameTo(b, s, fmt.Sprintf("%d workers", count), int(result.Accepted))
	all = came / time.Since(begun).Seconds()
	for _, w := range l.Workers {
		if _, err := w.Terminate(time.Minute); err != nil {
			return created, 0, err
		}
	}
	return report.MeasuredOf(result.Rate(), &result.Latency), all, context.Cause(ctx)
}
