package main

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

const (
	// devFollow is the polling interval for new and deleted sandboxes.
	devFollow = 300 * time.Millisecond
	// devFollowTimeout bounds the wait for the streams at the start. They must be ready to print the first payment, also
	// on a machine that is busy with a build.
	devFollowTimeout = time.Minute
)

// devTails prints the changes in all sandboxes, like `cauri tail` for each sandbox.
type devTails struct {
	dev     *dev
	api     *url.URL
	running map[string]*devTail
	late    bool // whether the sandboxes of the start were announced
}

// devTail prints the changes in a sandbox.
type devTail struct {
	key   string
	stop  context.CancelFunc
	begun chan struct{} // closed when the stream is ready
	note  string        // note on the clock of the times; set before begun is closed
	ended chan struct{}
}

// follow starts to print the changes in the sandboxes. It returns when all streams are ready, or after
// devFollowTimeout. The returned function follows new sandboxes until ctx ends. notes has notes on the clocks of the
// sandboxes, by name.
func (d *dev) follow(ctx context.Context, api *url.URL) (follow func(), notes map[string]string) {
	tails := devTails{dev: d, api: api, running: map[string]*devTail{}}
	known := d.sandboxes()
	tails.match(ctx, known)
	soon, cancel := context.WithTimeout(ctx, devFollowTimeout)
	defer cancel()
	notes = map[string]string{}
	for name, one := range tails.running {
		select {
		case <-one.begun:
			notes[name] = one.note
		case <-one.ended:
		case <-soon.Done():
		}
	}
	tails.late = true
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
			d.sayVerdicts()
			if err := d.writeExpectations(); err != nil {
				d.console.say("--expectations-file: %v", err)
			}
			known = found
		}
	}, notes
}

// match starts and stops tails, so that each existing sandbox has one.
func (t *devTails) match(ctx context.Context, found []devSandbox) {
	if t.dev.options.quiet {
		return
	}
	there := map[string]bool{}
	for _, s := range found {
		name := s.String()
		there[name] = true
		if one := t.running[name]; one != nil && one.key == s.key && !one.hasEnded() || s.key == "" {
			continue
		} else if one != nil {
			one.stop()
		}
		t.running[name] = t.start(ctx, s, nameColumn(found))
	}
	for name, one := range t.running {
		if !there[name] {
			one.stop()
			delete(t.running, name)
		}
	}
}

// nameColumn returns the width of the column with the names of the sandboxes. It returns 0, for no column, if there is
// only one sandbox.
func nameColumn(found []devSandbox) (width int) {
	for _, s := range found {
		if len(found) > 1 {
			width = max(width, len(s.String()))
		}
	}
	return width
}

func (t *devTails) start(ctx context.Context, s devSandbox, column int) *devTail {
	ctx, stop := context.WithCancel(ctx)
	late := t.late
	one := &devTail{key: s.key, stop: stop, begun: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(one.ended)
		defer stop()
		ready := func(note string) {
			one.note = note
			close(one.begun)
			if late && note != "" {
				t.dev.console.say("Sandbox %s: %s", s, note)
			}
		}
		err := cli.Tail(ctx, sandboxAPI(t.api, s), ready, func(at time.Time, line cli.Line) {
			t.dev.console.event(at, line.Of(s.String(), column))
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
