package bench

import (
	"context"

	"github.com/cauri-dev/cauri/test/system"
)

// Assembly is the whole path from the request to the delivered event.
type Assembly struct {
	Bench     *Bench
	Apis      []*system.API
	Workers   []*system.Worker
	Sandboxes []*system.Sandbox
}

// Assemble starts apis, workers, and sandboxes whose events go to a URL.
func (b *Bench) Assemble(ctx context.Context, apis, workers int, url string, flags ...string) (l *Assembly, err error) {
	l = &Assembly{Bench: b}
	if l.Apis, err = b.Apis(ctx, apis, flags...); err != nil {
		return nil, err
	}
	if l.Sandboxes, err = b.AddSandboxes(ctx, b.Settings.Size(100), url); err != nil {
		return nil, err
	}
	if err = Known(ctx, l.Sandboxes, l.Apis...); err != nil {
		return nil, err
	}
	l.Workers, err = b.Workers(ctx, workers, flags...)
	return l, err
}

// Subject puts load on the first n apis.
func (l *Assembly) Subject(apis int) Subject {
	return l.Bench.Writes("/v1/payments", 201, l.Sandboxes, []string{system.Unregistered}, "success", l.Apis[:apis]...)
}
