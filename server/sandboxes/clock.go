package sandboxes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// ErrClockAdvancing is returned by [Registry.ApplySandbox] for a new clock mode while the clock is being advanced.
// Everything else is applied. A call after the advance changes the mode.
var ErrClockAdvancing = errors.New("the clock is being advanced")

// ClockState is the time of a sandbox.
type ClockState struct {
	Mode  ClockMode
	Now   *time.Time    // the time of a manual clock; nil: the clock is real
	Ahead time.Duration // by how much a real clock is ahead of real time, in whole seconds
	// StartWaits reports whether the resource has another start than that of the manual clock. The new start takes
	// effect at the next reset.
	StartWaits bool
}

// FaultState says how often a fault applied.
type FaultState struct {
	Name  string
	Acts  int64
	Acted *time.Time // sandbox time at which the fault last applied
}

// clock sets the clock of an existing organization. A change of the mode keeps the sandbox's time. After a reset the
// clock begins anew.
func (c *sandboxChange) clock(ctx context.Context, row sqlc.Organization, wanted *sqlc.Organization) error {
	manual := ClockMode(wanted.ClockMode) == ManualClock
	switch {
	case c.former != 0:
		wanted.Clocked = manual
		return c.startClock(ctx, *wanted)
	case row.ClockMode == wanted.ClockMode:
		wanted.Clocked = row.Clocked || manual
		return nil
	}
	set := c.q.RunClock
	if manual {
		set = c.q.StopClock
	}
	rows, err := set(ctx, c.tenant)
	if rows == 0 {
		wanted.ClockMode, wanted.Clocked, c.clockAdvancing = row.ClockMode, row.Clocked, err == nil
		return err
	}
	wanted.Clocked = true
	return err
}

// startClock makes the clock of a new organization, or of one after a reset.
func (c *sandboxChange) startClock(ctx context.Context, row sqlc.Organization) error {
	if ClockMode(row.ClockMode) != ManualClock {
		return nil
	}
	return c.q.PutClock(ctx, row.Tenant, row.ClockStart)
}

// observeClock reads the state of the clock. If somebody removed a manual clock from the database, observeClock creates
// it again.
func (c *sandboxChange) observeClock(ctx context.Context, row sqlc.Organization) error {
	c.state.Clock = ClockState{Mode: ClockMode(row.ClockMode)}
	if !row.Clocked {
		return nil
	}
	shown, err := c.q.ShownClock(ctx, row.Tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return c.startClock(ctx, row)
	}
	if err != nil {
		return err
	}
	if c.state.Clock.Mode == ManualClock {
		c.state.Clock.Now = &shown.Present
		start, began := row.ClockStart, shown.BeganAt
		c.state.Clock.StartWaits = start != nil && (began == nil || !began.Equal(*start))
	} else {
		c.state.Clock.Ahead = time.Duration(shown.AheadSeconds) * time.Second
	}
	return nil
}

// observeFaults reads how often the faults of the resource applied, in the resource's order. It leaves out the counts
// of faults that were removed or changed.
func (c *sandboxChange) observeFaults(ctx context.Context, row sqlc.Organization) error {
	declared, err := faults.Parse(row.Faults)
	if len(declared) == 0 || err != nil {
		return err
	}
	counts, err := c.q.FaultCounts(ctx, row.Tenant)
	if err != nil {
		return err
	}
	for i := range declared {
		for _, count := range counts {
			if count.Name == declared[i].Name && bytes.Equal(count.Digest, declared[i].Digest()) {
				c.state.Faults = append(c.state.Faults, FaultState{Name: count.Name, Acts: count.Acts, Acted: count.LastAt})
			}
		}
	}
	return nil
}

// setClock sets the clock, the seed and the faults of the resource in a row. It keeps the JSON text of the row's faults
// if its value is the same.
func (c *sandboxChange) setClock(row *sqlc.Organization) {
	row.ClockMode, row.Seed = string(cmp.Or(c.want.Clock.Mode, RealClock)), c.want.Seed
	if start := c.want.Clock.Start; start == nil || row.ClockStart == nil || !start.Equal(*row.ClockStart) {
		row.ClockStart = start
	}
	if !sameJSON(row.Faults, c.want.Faults) {
		row.Faults = c.want.Faults
	}
}

// sameJSON reports whether two JSON texts have the same value, since the database stores JSON in another form.
func sameJSON(a, b []byte) bool {
	canonical := func(text []byte) []byte {
		var value any
		if json.Unmarshal(text, &value) != nil {
			return text
		}
		written, _ := json.Marshal(value) // encoding a decoded JSON value cannot fail
		return written
	}
	return bytes.Equal(canonical(a), canonical(b))
}
