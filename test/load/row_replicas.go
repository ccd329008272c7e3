package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/test/load/generator"
)

// replicas measures what a second api and a second worker add on one database. On one machine all share its processors, so that this
// tells what they cost each other, not what further machines would bring.
func replicas(ctx context.Context, b *bench) error {
	s, err := openSink()
	if err != nil {
		return err
	}
	defer s.close()
	l, err := b.assemble(ctx, 2, 0, s.url)
	if err != nil {
		return err
	}
	through := make([][]float64, 3)
	with := func(count int) side {
		return side{fmt.Sprintf("%d of each", count), func(ctx context.Context) (measured, error) {
			m, all, err := l.through(ctx, count, s)
			through[count] = append(through[count], all)
			return m, err
		}}
	}
	results, err := b.inTurns(ctx, with(2), with(1))
	if err != nil {
		return err
	}
	b.against("two of each beside one, 32 connections, created", "/s", results[0].rates(), results[1].rates()).shown()
	b.against("two of each beside one, created and delivered", "/s", sampleOf(through[2]...), sampleOf(through[1]...)).shown()
	b.against("two of each beside one, p99 of a create while as many as possible come", "ms", results[0].p99s(), results[1].p99s())
	return nil
}

// through puts load on so many apis and workers: how much is created, and, with the time until the last event is delivered, how much goes
// through all.
func (l *assembly) through(ctx context.Context, count int, s *sink) (created measured, all float64, err error) {
	b, load := l.bench, l.subject(count)
	if l.workers, err = b.workers(ctx, count); err != nil {
		return created, 0, err
	}
	g, err := generator.Dial(ctx, load.target, 32)
	if err != nil {
		return created, 0, err
	}
	defer g.Close()
	begun := time.Now()
	result := g.Closed(ctx, time.Duration(b.settings.Length))
	if err := result.Err(); err != nil {
		b.problem("%v", err)
	}
	b.shed(load.name, result)
	if err := b.noneDue(ctx, "events"); err != nil {
		return created, 0, err
	}
	came := b.cameTo(s, fmt.Sprintf("%d workers", count), int(result.Accepted))
	all = came / time.Since(begun).Seconds()
	for _, w := range l.workers {
		if _, err := w.Terminate(time.Minute); err != nil {
			return created, 0, err
		}
	}
	return measuredOf(result.Rate(), &result.Latency), all, context.Cause(ctx)
}
