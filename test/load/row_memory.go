package main

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/test/load/generator"
)

// memory measures how much api and workers have while as many payments come as they book, and all events are delivered.
func memory(ctx context.Context, b *bench) error {
	s, err := openSink()
	if err != nil {
		return err
	}
	defer s.close()
	l, err := b.assemble(ctx, 1, 1, s.url)
	if err != nil {
		return err
	}
	g, err := generator.Dial(ctx, l.subject(1).target, 32)
	if err != nil {
		return err
	}
	defer g.Close()
	result := g.Closed(ctx, 4*time.Duration(b.settings.Length))
	if err := result.Err(); err != nil {
		b.problem("%v", err)
	}
	b.shed("the api", result)
	b.figure("payments made", result.Rate(), "/s")
	if err := b.noneDue(ctx, "events"); err != nil {
		return err
	}
	b.cameTo(s, "the worker", int(result.Accepted))
	b.memory(l.apis[0].Process, l.workers[0].Process)
	return nil
}
