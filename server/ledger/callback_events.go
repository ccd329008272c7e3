package ledger

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// Callbacks of the operators' own APIs, as their sandbox sees them.

// CallbackDetail is a callback with its body and its attempts.
type CallbackDetail struct {
	EventDetail
	Transaction *payments.Transaction
	Sent        json.RawMessage // as in [NativeRequest]
	URL         string
}

// GetCallback returns the callback of a transaction. It returns [ErrNotFound] if the tenant has no such transaction, or
// if the transaction has no callback yet. It builds and stores the body of a callback that has none, so that a worker
// sends the same bytes later. The function vague returns the argument vague of build.
func (l *Ledger) GetCallback(
	ctx context.Context, tenant int64, id payments.ID, build BuildCallback, vague func(*payments.Transaction) bool,
) (*CallbackDetail, error) {
	q := l.tenant(tenant)
	row, err := q.GetCallback(ctx, tenant, postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading the callback")
	}
	attempts, err := q.ListCallbackAttempts(ctx, tenant, postgres.UUID(id), row.Attempts, MaxHistory)
	if err != nil {
		return nil, postgres.Classify(err, "reading the attempts of the callback")
	}
	c := callbackDetailOf(&row, attempts)
	if c.Body != nil {
		return c, nil
	}
	c.Body, err = q.KeepCallbackBody(ctx, build(c.Transaction, c.Sent, vague(c.Transaction)), tenant, postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound // it was removed meanwhile
	}
	return c, postgres.Classify(err, "keeping the body of the callback")
}

// ResendCallback is [Ledger.ResendEvent] for a callback. A callback is sent to the URL of its request, without retries,
// even if the sandbox has no endpoint.
func (l *Ledger) ResendCallback(ctx context.Context, tenant int64, id payments.ID) (Event, error) {
	beingSent, err := l.tenant(tenant).ResendCallback(ctx, tenant, postgres.UUID(id))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Event{}, ErrNotFound
	case err != nil:
		return Event{}, postgres.ClassifyWrite(err, "queueing the callback")
	case beingSent:
		return Event{}, ErrBeingSent
	}
	return l.queuedEvent(ctx, tenant, EventFilter{Transaction: &id, Callback: new(true)})
}
