package cases

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
)

// memory measures the memory of api and worker while they book and deliver as fast as possible.
func memory(ctx context.Context, b *bench.Bench) error {
	s, err := bench.OpenReceiver()
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := b.Assemble(ctx, 1, 1, s.URL)
	if err != nil {
		return err
	}
	g, err := generator.Dial(ctx, l.Subject(1).Target, 32)
	if err != nil {
		return err
	}
	defer g.Close()
	result := g.Closed(ctx, 4*time.Duration(b.Settings.Length))
	if err := result.Err(); err != nil {
		b.Problem("%v", err)
	}
	b.Shed("the api", result)
	b.Figure("payments made", result.Rate(), "/s")
	if err := NoneDue(ctx, b, "events"); err != nil {
		return err
	}
	cameTo(b, s, "the worker", int(result.Accepted))
	b.Memory(l.Apis[0].Process, l.Workers[0].Process)
	return nil
}
