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

// sandboxTime is the time of a sandbox, as far as this program knows it. It is safe for concurrent use.
type sandboxTime struct {
	real func() time.Time // of this machine

	mutex  sync.Mutex
	stands time.Time     // of a manual clock; zero: it runs
	ahead  time.Duration // of a clock that runs
}

// clockSkew is by how much the clocks of two machines may differ without a sandbox having its own time.
const clockSkew = 2 * time.Second

// readTime reads the time of a sandbox. A service without clocks has real time.
func (p *program) readTime(ctx context.Context, api *sandboxapi.Client) (*sandboxTime, error) {
	t := &sandboxTime{real: p.now}
	clock, err := api.Clock(ctx)
	if sandboxapi.IsNotFound(err) {
		return t, nil
	}
	t.set(&clock)
	return t, err
}

// set takes over what the API tells of the clock at this moment.
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

// at returns the sandbox's time at a moment of real time not long ago.
func (t *sandboxTime) at(moment time.Time) time.Time {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.stands.IsZero() {
		return t.stands
	}
	return moment.Add(t.ahead)
}

// now returns the sandbox's time.
func (t *sandboxTime) now() time.Time { return t.at(t.real()) }

// own reports whether the sandbox's time is not the real one.
func (t *sandboxTime) own() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return !t.stands.IsZero() || t.ahead != 0
}

// standing reports whether the clock is a manual one, which stands until it is advanced.
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

// note says once which clock the times of an output are of; empty if there is only one.
func (t *sandboxTime) note() string {
	if !t.own() {
		return ""
	}
	return fmt.Sprintf("Times are the sandbox's: %s.", t)
}

// tellTime tells people which clock the times are of, beside the output.
func (p *program) tellTime(ctx context.Context, api *sandboxapi.Client, progress io.Writer, o *output) error {
	if !o.people() {
		return nil
	}
	t, err := p.readTime(ctx, api)
	if err == nil && t.own() {
		sayOn(progress)("%s", t.note())
	}
	return err
}

// tellRealTime is [program.tellTime] for what has real times only.
func (p *program) tellRealTime(ctx context.Context, api *sandboxapi.Client, progress io.Writer, o *output) error {
	if !o.people() {
		return nil
	}
	t, err := p.readTime(ctx, api)
	if err == nil && t.own() {
		sayOn(progress)("Requests have real time. In the sandbox it is %s.", t)
	}
	return err
}
