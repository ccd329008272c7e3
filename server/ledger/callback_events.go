package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Callbacks of the operators' own APIs, as their sandbox sees them.

// CallbackDetail is a callback with its body and its attempts.
type CallbackDetail struct {
	EventDetail
	payments.Callback
	URL string
}

// GetCallback returns a callback, or [ErrNotFound]. It builds and stores the body of a callback that has none, so that a
// worker sends the same bytes later.
func (l *Ledger) GetCallback(ctx context.Context, tenant int64, id payments.ID, build BuildCallback) (*CallbackDetail, error) {
	q := l.core.Tenant(tenant)
	row, err := q.GetCallback(ctx, tenant, postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading the callback")
	}
	attempts, err := q.ListCallbackAttempts(ctx, tenant, postgres.UUID(id), row.NativeCallback.Attempts, MaxHistory)
	if err != nil {
		return nil, postgres.Classify(err, "reading the attempts of the callback")
	}
	var t *payments.Transaction
	if of := row.NativeCallback.TransactionID; of.Valid {
		if t, err = l.GetTransaction(ctx, tenant, of.Bytes); err != nil {
			return nil, err
		}
	}
	c := callbackDetailOf(&row, t, attempts)
	if c.Body != nil {
		return c, nil
	}
	c.Body, err = q.KeepCallbackBody(ctx, build(&c.Callback), tenant, postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound // it was removed meanwhile
	}
	return c, postgres.Classify(err, "keeping the body of the callback")
}

// Notice is a callback that belongs to no transaction.
type Notice struct {
	Operator  payments.Operator
	Kind, URL string
	Sent      json.RawMessage // what its body is built from, in the format of the operator's package
	After     time.Duration   // until it is due, in sandbox time
	Once      bool            // whether it has one attempt only, without retries, whatever the operator's schedule says
}

// MaxNotices is how many callbacks without a transaction a sandbox may have at one operator.
const MaxNotices = 10_000

// AddNotice queues a callback that belongs to no transaction. It returns the id of the callback: the parameter id, with
// the sandbox's time in it. If the sandbox has more than [MaxNotices] of the operator, AddNotice deletes the oldest
// ones.
func (l *Ledger) AddNotice(ctx context.Context, tenant int64, id payments.ID, n *Notice) (payments.ID, error) {
	retries := int32(0)
	if n.Once {
		retries = math.MaxInt32 // none is left
	}
	err := l.core.DB.InTenantTx(ctx, tenant, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, postgres.TakeStamp, tenant); err != nil {
			return err
		}
		q := sqlc.New(tx)
		if err := q.SortNothing(ctx); err != nil {
			return err
		}
		recorded, err := q.AddNotice(ctx, sqlc.AddNoticeParams{
			Tenant: tenant, ID: postgres.UUID(id), Operator: string(n.Operator), Kind: n.Kind, URL: n.URL, Sent: n.Sent,
			AfterMs: postgres.Milliseconds(n.After), Others: MaxNotices - 1, Retries: retries,
		})
		id = recorded.Bytes
		return err
	})
	return id, postgres.ClassifyWrite(err, "queueing the callback")
}

// LastCallbackAttempt returns the last attempt to send a callback; nil for none.
func (l *Ledger) LastCallbackAttempt(ctx context.Context, tenant int64, id payments.ID) (*AttemptRecord, error) {
	rows, err := l.core.Tenant(tenant).ListCallbackAttempts(ctx, tenant, postgres.UUID(id), math.MaxInt32, 1)
	if err != nil || len(rows) == 0 {
		return nil, postgres.Classify(err, "reading the attempts of the callback")
	}
	return new(callbackAttemptOf(&rows[0])), nil
}

// ResendCallback is [Ledger.ResendEvent] for a callback. A callback is sent to the URL of its request, even if the
// sandbox has no endpoint.
func (l *Ledger) ResendCallback(ctx context.Context, tenant int64, id payments.ID) (Event, error) {
	return l.requeue(ctx, tenant, id, changedCallbacks, func(q *sqlc.Queries) error {
		beingSent, err := q.ResendCallback(ctx, tenant, postgres.UUID(id))
		if err == nil && beingSent {
			return ErrBeingSent
		}
		return err
	})
}
