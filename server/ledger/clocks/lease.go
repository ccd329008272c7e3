package clocks

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Leases leases the clocks of sandboxes to the workers that advance them.
type Leases struct{ core ledgerdb.Core }

// NewLeases returns the clocks of all sandboxes in a database.
func NewLeases(db *postgres.DB, configured *sandboxes.Registry) *Leases {
	return &Leases{ledgerdb.Core{DB: db, Sandboxes: configured}}
}

// Lease is the lease of a clock. Until it ends, only its holder moves the clock.
type Lease struct {
	Tenant int64
	Fence  int64
	Target time.Time
	Now    time.Time // sandbox time
}

// ErrClockLeaseLost is returned when the lease of a clock has expired, its advance has ended, or its sandbox is gone.
var ErrClockLeaseLost = errors.New("the lease of the clock is lost")

// ClocksToAdvance returns up to batch sandboxes whose clocks are to be advanced and are not leased.
func (s *Leases) ClocksToAdvance(ctx context.Context, batch int) ([]queues.DueTenant, error) {
	rows, err := s.core.Polling().ClocksToAdvance(ctx, int32(batch))
	if err != nil {
		return nil, postgres.Classify(err, "looking for clocks to advance")
	}
	due := make([]queues.DueTenant, len(rows))
	for i, row := range rows {
		due[i] = queues.DueTenant{Tenant: row.Tenant, SweepFailed: row.SweepFailed}
	}
	return due, nil
}

// LeaseClock leases the clock of a sandbox. It returns [ErrClockLeaseLost] if another worker holds it.
func (s *Leases) LeaseClock(ctx context.Context, tenant int64, lease time.Duration) (Lease, error) {
	row, err := s.core.Unscoped().LeaseClock(ctx, postgres.Milliseconds(lease), tenant)
	if err != nil {
		return Lease{}, lostOr(err, "leasing a clock")
	}
	return Lease{Tenant: tenant, Fence: row.Fence, Target: row.Target, Now: row.Present}, nil
}

// RenewClockLease sets the lease to expire after this duration from now. It returns [ErrClockLeaseLost] if another
// worker has leased the clock, or if the advance has ended.
func (s *Leases) RenewClockLease(ctx context.Context, c Lease, lease time.Duration) error {
	rows, err := s.core.Unscoped().RenewClockLease(ctx, postgres.Milliseconds(lease), c.Tenant, c.Fence)
	if err == nil && rows == 0 {
		return ErrClockLeaseLost
	}
	return postgres.Classify(err, "renewing the lease of a clock")
}

// ReleaseClock ends a lease early, so that another worker can lease the clock at once, and adds the counts in done to
// those of the advance. It does nothing if the lease has expired.
func (s *Leases) ReleaseClock(ctx context.Context, c Lease, done AdvanceCounts) error {
	return postgres.Classify(s.core.Unscoped().ReleaseClock(ctx, sqlc.ReleaseClockParams{
		Settled: done.Settled, Expired: done.Expired, Delivered: done.Delivered, FailedAttempts: done.FailedAttempts,
		Tenant: c.Tenant, Fence: c.Fence,
	}), "releasing a clock")
}

// Due has, by kind, the times at which the next rows are due under a clock that a worker advances.
type Due struct {
	SettleAt, ForwardAt, DeliverAt, CallBackAt *time.Time // nil for never
	Held                                       bool       // another worker may still work on a due row
}

// At returns the earliest of the times, nil if all are nil.
func (d Due) At() *time.Time { return earliest(d.SettleAt, d.ForwardAt, d.DeliverAt, d.CallBackAt) }

// View is the state of a clock's sandbox as its holder sees it: the clock's time, and when recorded rows are due.
type View struct {
	Now               time.Time // sandbox time
	Suspended         bool
	Paused            bool // the endpoint is paused: the next attempt is a probe
	RecordedByStart   Due  // of rows recorded before the holder's advance began
	RecordedByArrival Due  // of rows recorded before the clock was moved to its present time
	Recorded          Due  // of all recorded rows
}

// ViewClock reads the time of a leased clock, and when rows are due. The parameters started and arrived are sandbox
// times. RecordedByStart has the rows whose stamp is not after started; RecordedByArrival has those whose stamp is not
// after arrived. ViewClock returns [ErrClockLeaseLost] if the lease is lost.
func (s *Leases) ViewClock(ctx context.Context, c Lease, started, arrived time.Time) (View, error) {
	upTo := func(t time.Time) pgtype.UUID { return postgres.UUID(payments.FirstID(t.Add(time.Microsecond))) }
	bounds := []pgtype.UUID{upTo(started), upTo(arrived), postgres.UUID(payments.LastID)}
	rows, err := s.core.Unscoped().DueUnderClock(ctx, c.Tenant, c.Fence, bounds)
	if err != nil {
		return View{}, postgres.Classify(err, "looking for what is due under a clock")
	}
	if len(rows) == 0 {
		return View{}, ErrClockLeaseLost
	}
	view := View{Now: rows[0].Present, Suspended: rows[0].Suspended, Paused: rows[0].ProbeAt != nil}
	for i, due := range []*Due{&view.RecordedByStart, &view.RecordedByArrival, &view.Recorded} {
		row := &rows[i]
		*due = Due{
			SettleAt: row.SettleAt, ForwardAt: row.ForwardAt, DeliverAt: deliverAt(row.DeliverAt, row.ProbeAt), CallBackAt: row.CallBackAt,
			Held: row.Held,
		}
		if row.ForwardedAt != nil {
			due.ForwardAt = row.ExpiresAt
		}
	}
	return view, nil
}

// MoveClock sets a leased clock to the parameter moment, where it stands still. It never sets a clock back. It returns
// the sandbox time. All later records have later stamps. It adds the counts in done to those of the advance. It returns
// [ErrClockLeaseLost] if the lease is lost.
func (s *Leases) MoveClock(ctx context.Context, c Lease, moment time.Time, done AdvanceCounts) (now time.Time, err error) {
	now, err = s.core.Unscoped().MoveClock(ctx, sqlc.MoveClockParams{
		Moment: moment, Settled: done.Settled, Expired: done.Expired, Delivered: done.Delivered, FailedAttempts: done.FailedAttempts,
		Tenant: c.Tenant, Fence: c.Fence,
	})
	if err != nil {
		return time.Time{}, lostOr(err, "moving a clock")
	}
	return now, nil
}

// EndAdvance ends an advance and its lease. A clock in mode Real runs again, from its present time. If the advance has
// reached its target, its counts are kept for the callers of [Control.AdvanceState]. It returns [ErrClockLeaseLost] if
// the lease is lost.
func (s *Leases) EndAdvance(ctx context.Context, c Lease, reached bool, done AdvanceCounts) error {
	rows, err := s.core.Unscoped().EndAdvance(ctx, sqlc.EndAdvanceParams{
		Reached: reached, Settled: done.Settled, Expired: done.Expired, Delivered: done.Delivered, FailedAttempts: done.FailedAttempts,
		Tenant: c.Tenant, Fence: c.Fence,
	})
	if err == nil && rows == 0 {
		return ErrClockLeaseLost
	}
	s.core.Sandboxes.NoteActivity(c.Tenant) // also after an error: the answer of the statement may be lost
	return postgres.Classify(err, "ending the advance of a clock")
}

// lostOr returns [ErrClockLeaseLost] for [pgx.ErrNoRows], else the result of [postgres.Classify].
func lostOr(err error, doing string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrClockLeaseLost
	}
	return postgres.Classify(err, doing)
}
