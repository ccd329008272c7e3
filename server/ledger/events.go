package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Event is an event, or a callback of an operator's own API, as its sandbox sees it.
type Event struct {
	ID            payments.ID // of its transaction, or of the callback
	Callback      bool
	Transaction   *payments.ID    // nil: the callback belongs to none
	Kind          string          // of the callback, see [payments.Callback]
	Type          payments.Type   // of the transaction; empty: there is none
	Status        payments.Status // of the transaction; empty: there is none
	State         EventState
	Attempts      int // made so far
	CreatedAt     time.Time
	NextAttemptAt *time.Time // nil: no attempt follows, or one is being made now
	DeliveredAt   *time.Time
	LastStatus    *int     // HTTP status of the last attempt; nil: no attempt, or no answer
	LastError     *string  // error of the last attempt; nil: no attempt, or acknowledged
	LastFaults    []string // names of the faults that applied to the last attempt
}

// EventID returns the id under which the API shows the event.
func (e *Event) EventID() payments.EventID {
	return payments.EventID{ID: e.ID, Callback: e.Callback}
}

// Name returns the event's name.
func (e *Event) Name() string {
	if e.Callback {
		return payments.CallbackEvent
	}
	return e.Type.Event()
}

// EventFilter says which events are listed. A zero field filters nothing.
type EventFilter struct {
	Type        payments.Type // of the transaction; no callback is listed
	Callback    *bool         // true: only callbacks; false: only events
	State       EventState
	Transaction *payments.ID
	// Both bounds are exclusive. They are compared with the time of creation in whole milliseconds, as callers see it.
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
}

// AttemptRecord is a delivery attempt as it is stored.
type AttemptRecord struct {
	Number         int       // counts from 1, and continues after a resend
	StartedAt      time.Time // sandbox time
	RealStartedAt  time.Time // the same in real time, by the database's clock
	Duration       time.Duration
	ResponseStatus *int       // nil: no answer came
	ResponseBody   []byte     // the beginning of the body
	Error          *string    // nil: acknowledged
	Faults         []string   // names of the faults that applied
	Signed         *Signature // nil: nothing was sent, or it is a callback
	Copies         []AttemptCopy
}

// EventDetail is an event with its body and its attempts.
type EventDetail struct {
	Event
	Body    []byte          // the bytes that every attempt sends
	History []AttemptRecord // the latest [MaxHistory], oldest first
	Counted int             // attempts so far, except those that used up no retry
}

// MaxHistory is the maximum number of attempts that [EventDetail] has.
const MaxHistory = 100

// GetEvent returns an event, or [ErrNotFound] if the tenant has none with this id. It builds and stores the body of an
// event that has none, so that a worker sends the same bytes later.
func (l *Ledger) GetEvent(ctx context.Context, tenant int64, organizationID string, id payments.ID, build BuildBody) (*EventDetail, error) {
	q := l.core.Tenant(tenant)
	row, err := q.GetEvent(ctx, tenant, postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading the event")
	}
	attempts, err := q.ListAttempts(ctx, tenant, row.Event.ID, row.Event.Attempts, MaxHistory)
	if err != nil {
		return nil, postgres.Classify(err, "reading the attempts of the event")
	}
	detail := eventDetailOf(&row, attempts)
	if detail.Body == nil {
		t := ledgerdb.TransactionOf(&row.Transaction)
		if err := ledgerdb.AddSent(ctx, q, tenant, t); err != nil {
			return nil, err
		}
		detail.Body, err = storeBody(ctx, q, tenant, organizationID, t, build)
	}
	return detail, err
}

// storeBody builds and stores the body of an event. If a worker has stored a body first, storeBody returns that one.
func storeBody(
	ctx context.Context,
	q *sqlc.Queries,
	tenant int64,
	organizationID string,
	t *payments.Transaction,
	build BuildBody,
) ([]byte, error) {
	body, err := build(organizationID, t)
	if err != nil {
		return nil, fmt.Errorf("building the body of %s: %w", t.ID, err)
	}
	body, err = q.KeepEventBody(ctx, body, tenant, postgres.UUID(t.ID))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound // it was removed meanwhile
	}
	return body, postgres.Classify(err, "keeping the body of the event")
}

var (
	// ErrNoEndpoint is returned for an event of a sandbox without a webhook endpoint, which nobody follows.
	ErrNoEndpoint = errors.New("the sandbox has no webhook endpoint")
	// ErrBeingSent is returned for an event that a worker is sending.
	ErrBeingSent = errors.New("the event is being sent")
)

// ResendEvent queues an event once more, whatever its state and type, and returns it. Its retries start again. In a sandbox
// without an endpoint, only those who follow its changes learn of it, and the state stays as it is. It returns
// [ErrNotFound], [ErrNoEndpoint] or [ErrBeingSent], and then changes nothing.
func (l *Ledger) ResendEvent(ctx context.Context, tenant int64, id payments.ID) (Event, error) {
	return l.requeue(ctx, tenant, id, changedEvents, func(q *sqlc.Queries) error {
		found, err := q.ResendEvent(ctx, tenant, postgres.UUID(id))
		switch {
		case err != nil:
			return err
		case !found.Deliverable:
			return ErrNoEndpoint
		case found.BeingSent:
			return ErrBeingSent
		}
		return nil
	})
}

// requeue queues one event again, and reads it by the statement [changedEvents] or [changedCallbacks]. Both are one
// database transaction, so that the event is read before a worker sends it.
func (l *Ledger) requeue(
	ctx context.Context, tenant int64, id payments.ID, read string, queue func(*sqlc.Queries) error,
) (queued Event, err error) {
	err = l.core.DB.InTenantTx(ctx, tenant, func(tx pgx.Tx) error {
		if err := queue(sqlc.New(tx)); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, read, tenant, []pgtype.UUID{postgres.UUID(id)})
		if err != nil {
			return err
		}
		queued, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Event])
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	return queued, postgres.ClassifyWrite(err, "queueing the event")
}
