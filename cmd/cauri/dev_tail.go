package main

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

const (
	// devFollow is the time between two looks at which sandboxes there are.
	devFollow = 300 * time.Millisecond
	// devFollowTimeout bounds how long the start waits until the lines of the first payment would be printed.
	devFollowTimeout = 5 * time.Second
)

// devTails print what happens in the sandboxes, each by the stream of its API, like `cauri tail`.
type devTails struct {
	dev     *dev
	api     *url.URL
	running map[string]*devTail
}

// devTail prints what happens in a sandbox.
type devTail struct {
	key   string
	stop  context.CancelFunc
	begun chan struct{} // is closed when it has begun
	ended chan struct{}
}

// follow begins to print what happens in the sandboxes, and returns when what happens from now on is printed. The function that it returns
// goes on until ctx ends, also with sandboxes that come and go.
func (d *dev) follow(ctx context.Context, api *url.URL) func() {
	tails := devTails{dev: d, api: api, running: map[string]*devTail{}}
	known := d.sandboxes()
	tails.match(ctx, known)
	soon, cancel := context.WithTimeout(ctx, devFollowTimeout)
	defer cancel()
	for _, one := range tails.running {
		select {
		case <-one.begun:
		case <-one.ended:
		case <-soon.Done():
		}
	}
	return func() {
		ticker := time.NewTicker(devFollow)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			found := d.sandboxes()
			tails.match(ctx, found)
			d.sayGone(known, found)
			known = found
		}
	}
}

// match starts and stops what prints, so that it fits the sandboxes that there are.
func (t *devTails) match(ctx context.Context, found []devSandbox) {
	if t.dev.options.quiet {
		return
	}
	present := map[string]bool{}
	for _, s := range found {
		name := s.String()
		present[name] = true
		if one := t.running[name]; one != nil && one.key == s.key && !one.hasEnded() || s.key == "" {
			continue
		} else if one != nil {
			one.stop()
		}
		prefix := ""
		if len(found) > 1 {
			prefix = name + "  "
		}
		t.running[name] = t.start(ctx, s, prefix)
	}
	for name, one := range t.running {
		if !present[name] {
			one.stop()
			delete(t.running, name)
		}
	}
}

func (t *devTails) start(ctx context.Context, s devSandbox, prefix string) *devTail {
	ctx, stop := context.WithCancel(ctx)
	one := &devTail{key: s.key, stop: stop, begun: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(one.ended)
		defer stop()
		api := sandboxapi.New(t.api.JoinPath("sandboxes", s.Namespace, s.Name).String(), s.key, nil)
		err := cli.Tail(ctx, api, func() { close(one.begun) }, func(at time.Time, line string) {
			t.dev.console.event(at, prefix+line)
		})
		if err != nil {
			slog.Debug("what happens in a sandbox is not printed", "sandbox", s.String(), "error", err)
		}
	}()
	return one
}

func (t *devTail) hasEnded() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}
