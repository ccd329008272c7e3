package main

import (
	"context"

	"github.com/cauri-dev/cauri/test/system"
)

// assembly is everything from the request to the delivered event.
type assembly struct {
	bench     *bench
	apis      []*system.API
	workers   []*system.Worker
	sandboxes []*system.Sandbox
}

// assemble starts so many apis and workers with sandboxes whose events go to a url.
func (b *bench) assemble(ctx context.Context, apis, workers int, url string, flags ...string) (l *assembly, err error) {
	l = &assembly{bench: b}
	if l.apis, err = b.apis(ctx, apis, flags...); err != nil {
		return nil, err
	}
	if l.sandboxes, err = b.addSandboxes(ctx, b.settings.size(100), url); err != nil {
		return nil, err
	}
	if err = known(ctx, l.sandboxes, l.apis...); err != nil {
		return nil, err
	}
	l.workers, err = b.workers(ctx, workers, flags...)
	return l, err
}

// subject is load on the first so many apis.
func (l *assembly) subject(apis int) subject {
	return l.bench.writes("/v1/payments", 201, l.sandboxes, []string{system.Unregistered}, "success", l.apis[:apis]...)
}
