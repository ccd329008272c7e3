// Package clocks has the clocks of sandboxes: what advances them, and their leases for the workers that do.
package clocks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// MaxAdvance is how far one call may advance a clock.
const MaxAdvance = 400 * 24 * time.Hour

// End is the exclusive limit of all targets. Ids sort by time until long after it.
var End = time.Date(2201, time.January, 1, 0, 0, 0, 0, time.UTC)

// Clock is a sandbox's time, and what is due in it.
type Clock struct {
	Now             time.Time
	Target          *time.Time // the target of the current advance; nil for none
	NextDueAt       *time.Time // when the next row is due; at or before Now if it is due already; nil for none
	DueTransactions int        // due and not yet settled
	DueEvents       int        // due and not yet sent, callbacks of the operators' own APIs included
}

// Control reads the clocks of sandboxes, and starts their advances, for the api.
type Control struct{ core ledgerdb.Core }

// NewControl returns the control of all clocks in a database.
func NewControl(core ledgerdb.Core) *Control { return &Control{core} }

// Clock returns the clock of a sandbox.
func (c *Control) Clock(ctx context.Context, tenant int64) (Clock, error) {
	clock, err := ReadClock(ctx, c.core.Tenant(tenant), tenant)
	return clock, postgres.Classify(err, "reading the clock")
}

// ReadClock returns the clock of a sandbox, or [postgres.ErrConfigChanged] if the sandbox is gone.
func ReadClock(ctx context.Context, q *sqlc.Queries, tenant int64) (Clock, error) {
	row, err := q.ReadClock(ctx, tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return Clock{}, postgres.ErrConfigChanged
	}
	return Clock{
		Now: row.Present.UTC(), Target: row.Target, DueTransactions: int(row.Transactions), DueEvents: int(row.Events),
		NextDueAt: earliest(row.SettleAt, row.ForwardAt, deliverAt(row.DeliverAt, row.ProbeAt), row.CallBackAt),
	}, err
}

// isDueBefore reports whether an advance to a target has something to do.
func (c *Clock) isDueBefore(target time.Time) bool {
	return target.After(c.Now) || target.Equal(c.Now) && c.DueTransactions+c.DueEvents > 0
}

// deliverAt returns the time at which an event that is due can be sent. If its endpoint is paused, it is the time of
// the next probe.
func deliverAt(due, probe *time.Time) *time.Time {
	if due != nil && probe != nil && probe.After(*due) {
		return probe
	}
	return due
}

// earliest returns the earliest time, nil if all are nil.
func earliest(times ...*time.Time) *time.Time {
	var first *time.Time
	for _, t := range times {
		if t != nil && (first == nil || t.Before(*first)) {
			first = t
		}
	}
	return first
}

// AdvanceTarget is the target of an advance: exactly one of By, To and NextDue is set.
type AdvanceTarget struct {
	By      *time.Duration
	To      *time.Time
	NextDue bool // whether the target is the time at which the next row is due; the present time if no row is due later
	// Shown is for NextDue: the time of the next row that was shown to a person; nil for no check. If the next row is due
	// at another time, the result is [ErrNotNextDue].
	Shown *time.Time
}

// from returns the target as a time, or an error if the clock cannot be set to it.
func (t AdvanceTarget) from(c Clock) (time.Time, error) {
	target := c.Now
	switch {
	case t.Shown != nil && (c.NextDueAt == nil || !c.NextDueAt.Equal(*t.Shown)):
		return *t.Shown, ErrNotNextDue
	case t.By != nil:
		target = c.Now.Add(*t.By)
	case t.To != nil:
		target = *t.To
	case c.NextDueAt != nil && c.NextDueAt.After(c.Now):
		target = *c.NextDueAt
	}
	target = target.Truncate(time.Microsecond) // the resolution of the database
	switch {
	case target.Before(c.Now):
		return target, ErrClockBackwards{c.Now}
	case !target.Before(End):
		return target, ErrClockEnd{t.By != nil}
	case target.Sub(c.Now) > MaxAdvance:
		return target, ErrAdvanceTooFar{c.Now, t.By != nil}
	}
	return target, nil
}

// Advance is an advance of a clock.
type Advance struct {
	Number int64 // distinguishes the advances of a clock
	Target time.Time
}

// ErrClockBackwards is returned for a target before the sandbox's present time.
type ErrClockBackwards struct{ Now time.Time }

func (e ErrClockBackwards) Error() string { return "the clock is at " + e.Now.String() + " already" }

// ErrAdvanceTooFar is returned for a target that is more than [MaxAdvance] ahead.
type ErrAdvanceTooFar struct {
	Now time.Time
	By  bool // whether the target was [AdvanceTarget.By]
}

func (e ErrAdvanceTooFar) Error() string {
	return fmt.Sprintf("more than %s after %s", MaxAdvance, e.Now)
}

// ErrClockEnd is returned for a target that is not before [End].
type ErrClockEnd struct {
	By bool // whether the target was [AdvanceTarget.By]
}

func (ErrClockEnd) Error() string { return "clocks end with the year 2200" }

// ErrClockBusy is returned while the clock is being advanced to another target.
type ErrClockBusy struct{ Target time.Time }

func (e ErrClockBusy) Error() string { return "the clock is being advanced to " + e.Target.String() }

// ErrNotNextDue is returned if the next row is not due at [AdvanceTarget.Shown] any more.
var ErrNotNextDue = errors.New("something else is due next")

// ErrClockReset is returned when the sandbox was reset while its clock was being advanced.
var ErrClockReset = errors.New("the sandbox was reset while its clock was being advanced")

// Advance starts an advance of a sandbox's clock. A worker carries it out. A sandbox without a clock gets one. If an
// advance to the same target is under way or has just ended, Advance returns that one, so that a caller who repeats the
// call can wait for it. If an advance to another target is under way, it returns [ErrClockBusy].
func (c *Control) Advance(ctx context.Context, tenant int64, to AdvanceTarget) (Advance, error) {
	advance, err := c.setClockTarget(ctx, tenant, to)
	if errors.Is(err, pgx.ErrNoRows) {
		if err = c.startClock(ctx, tenant, to); err == nil {
			advance, err = c.setClockTarget(ctx, tenant, to)
		}
	}
	return advance, postgres.ClassifyWrite(err, "advancing the clock")
}

// startClock gives a sandbox a clock, if the clock can go to the target. It commits the clock before the target is set,
// so that every later record takes its stamp from the clock.
func (c *Control) startClock(ctx context.Context, tenant int64, to AdvanceTarget) error {
	clock, err := ReadClock(ctx, c.core.Tenant(tenant), tenant)
	if err == nil {
		_, err = to.from(clock)
	}
	if err != nil {
		return err
	}
	return c.core.Tenant(tenant).StartClock(ctx)
}

// setClockTarget returns [pgx.ErrNoRows] for a sandbox without a clock.
func (c *Control) setClockTarget(ctx context.Context, tenant int64, to AdvanceTarget) (a Advance, err error) {
	err = c.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		locked, err := q.LockClock(ctx, tenant)
		if err != nil {
			return err
		}
		clock, err := ReadClock(ctx, q, tenant)
		if err != nil {
			return err
		}
		a.Number = locked.Advance
		a.Target, err = to.from(clock)
		switch {
		case locked.Target != nil && locked.Target.Equal(a.Target):
			return nil
		case locked.Target != nil:
			return ErrClockBusy{*locked.Target}
		case locked.LastTarget != nil && locked.LastTarget.Equal(a.Target) &&
			(errors.Is(err, ErrNotNextDue) || !clock.isDueBefore(a.Target)): // somebody asked twice for what is done
			return nil
		case err != nil:
			return err
		}
		a.Number, err = q.SetClockTarget(ctx, a.Target, tenant)
		return err
	})
	return a, err
}

// AdvanceCounts count the work of an advance.
type AdvanceCounts struct {
	Settled        int64 // transactions that got their outcome before they expired
	Expired        int64 // transactions that expired
	Delivered      int64 // events and callbacks that were acknowledged
	FailedAttempts int64 // attempts that were not acknowledged
}

// AdvanceState is the progress of an advance.
type AdvanceState struct {
	Now      time.Time
	UnderWay bool
	Ended    *AdvanceCounts // nil: it is under way, or the suspension of the sandbox has stopped it
}

// AdvanceState returns the progress of an advance. It returns [ErrClockReset] if the sandbox was reset since the
// advance began.
func (c *Control) AdvanceState(ctx context.Context, tenant int64, a Advance) (AdvanceState, error) {
	row, err := c.core.Tenant(tenant).AdvanceState(ctx, a.Number, tenant)
	if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, postgres.ErrConfigChanged) {
		return AdvanceState{}, ErrClockReset
	}
	if err != nil {
		return AdvanceState{}, postgres.Classify(err, "reading the clock")
	}
	state := AdvanceState{Now: row.Present.UTC(), UnderWay: row.UnderWay}
	for of := range slices.Chunk(row.Ended, 5) {
		if of[0] == a.Number {
			state.Ended = &AdvanceCounts{Settled: of[1], Expired: of[2], Delivered: of[3], FailedAttempts: of[4]}
		}
	}
	return state, nil
}
