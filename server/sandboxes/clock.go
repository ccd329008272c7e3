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

// ErrClockAdvancing is returned by [Store.ApplySandbox] where the mode of a clock is to change that is being advanced. Everything else is
// applied; the mode is by a call after the advance.
var ErrClockAdvancing = errors.New("the clock is being advanced")

// ClockState is the time of a sandbox.
type ClockState struct {
	Mode  ClockMode
	Now   *time.Time    // of a manual clock
	Ahead time.Duration // of a real clock, of the present time, in whole seconds
	// StartWaits says that a manual clock did not begin at the start that the resource has by now: the next reset does.
	StartWaits bool
}

// FaultState is how often a fault acted.
type FaultState struct {
	Name  string
	Acts  int64
	Acted *time.Time // the last one, in sandbox time
}

// clock sets the clock of an organization that is not a new one. A change of the mode keeps the sandbox's time; after a reset it begins
// anew.
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

// startClock makes the clock of an organization that begins, or begins anew.
func (c *sandboxChange) startClock(ctx context.Context, row sqlc.Organization) error {
	if ClockMode(row.ClockMode) != ManualClock {
		return nil
	}
	return c.q.PutClock(ctx, row.Tenant, row.ClockStart)
}

// observeClock tells how the clock stands. A manual one that somebody has removed by hand is made again.
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

// observeFaults tells how often the faults of the resource acted, in its order. The counts of those that were removed or changed since
// are not told.
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

// setClock gives a row the clock, the seed and the faults that the resource wants. What means the same stays as it stands in the row.
func (c *sandboxChange) setClock(row *sqlc.Organization) {
	row.ClockMode, row.Seed = string(cmp.Or(c.want.Clock.Mode, RealClock)), c.want.Seed
	if start := c.want.Clock.Start; start == nil || row.ClockStart == nil || !start.Equal(*row.ClockStart) {
		row.ClockStart = start
	}
	if !sameJSON(row.Faults, c.want.Faults) {
		row.Faults = c.want.Faults
	}
}

// sameJSON reports whether two texts are the same value: the database stores it in another form.
func sameJSON(a, b []byte) bool {
	canonical := func(text []byte) []byte {
		var value any
		if json.Unmarshal(text, &value) != nil {
			return text
		}
		written, _ := json.Marshal(value) // of what was just read
		return written
	}
	return bytes.Equal(canonical(a), canonical(b))
}
