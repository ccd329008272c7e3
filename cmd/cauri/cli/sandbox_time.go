package cli

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// sandboxTime computes the time of a sandbox from the last known state of its clock. It is safe for concurrent use.
type sandboxTime struct {
	real func() time.Time // clock of this machine

	mutex  sync.Mutex
	stands time.Time     // time of a manual clock; zero: the clock runs
	ahead  time.Duration // offset of a running clock
}

// clockSkew limits the clock skew between machines. A larger offset means that the sandbox has its own time.
const clockSkew = 2 * time.Second

// readTime reads the time of a sandbox. For a service without clocks, it returns real time.
func (p *program) readTime(ctx context.Context, api *sandboxapi.Client) (*sandboxTime, error) {
	t := &sandboxTime{real: p.now}
	clock, err := api.Clock(ctx)
	if sandboxapi.IsNotFound(err) {
		return t, nil
	}
	t.set(&clock)
	return t, err
}

// set updates the time from the current state of the clock.
func (t *sandboxTime) set(c *wire.Clock) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := moment(c.Now)
	t.stands, t.ahead = time.Time{}, now.Sub(t.real())
	switch {
	case now.IsZero():
		t.ahead = 0
	case c.Mode == clockManual:
		t.stands = now
	case t.ahead.Abs() < clockSkew:
		t.ahead = 0
	}
}

const clockManual = "Manual"

// at returns the sandbox time at a recent moment of real time.
func (t *sandboxTime) at(moment time.Time) time.Time {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.stands.IsZero() {
		return t.stands
	}
	return moment.Add(t.ahead)
}

// now returns the current sandbox time.
func (t *sandboxTime) now() time.Time { return t.at(t.real()) }

// own reports whether the sandbox time differs from real time.
func (t *sandboxTime) own() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return !t.stands.IsZero() || t.ahead != 0
}

// standing reports whether the clock has the mode Manual.
func (t *sandboxTime) standing() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return !t.stands.IsZero()
}

// String returns the time, and its distance from real time.
func (t *sandboxTime) String() string {
	now := t.now()
	text := TimeText(now)
	if !t.own() {
		return text
	}
	away := now.Sub(t.real()).Round(time.Second)
	switch {
	case away > 0:
		text += ", " + payments.FormatDuration(away) + " ahead of real time"
	case away < 0:
		text += ", " + payments.FormatDuration(away) + " behind real time"
	}
	if t.standing() {
		text += ", where it stands"
	}
	return text
}

// note returns a sentence for output with sandbox times; "" if sandbox time is real time.
func (t *sandboxTime) note() string {
	if !t.own() {
		return ""
	}
	return fmt.Sprintf("Times are the sandbox's: %s.", t)
}

// tellTime prints the sentence of note to progress, not to the output.
func (p *program) tellTime(ctx context.Context, api *sandboxapi.Client, progress io.Writer, o *output) error {
	if !o.people() {
		return nil
	}
	t, err := p.readTime(ctx, api)
	if err == nil && t.own() {
		printerTo(progress)("%s", t.note())
	}
	return err
}

// tellRealTime is like tellTime, for output with only real times.
func (p *program) tellRealTime(ctx context.Context, api *sandboxapi.Client, progress io.Writer, o *output) error {
	if !o.people() {
		return nil
	}
	t, err := p.readTime(ctx, api)
	if err == nil && t.own() {
		printerTo(progress)("Requests have real time. In the sandbox it is %s.", t)
	}
	return err
}
