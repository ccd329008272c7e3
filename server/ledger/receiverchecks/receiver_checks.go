// Package receiverchecks keeps the checks of receivers: what asks for one, and the workers that run it.
package receiverchecks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Check is a check of a sandbox's receiver. All times are real times.
type Check struct {
	ID          payments.ID  // sorts by RequestedAt
	Transaction *payments.ID // its event is sent; nil: all transactions are invented
	Allow       bool         // a refund of the transaction may be told that did not happen
	RequestedAt time.Time
	BeganAt     *time.Time // nil: no worker has begun it
	FinishedAt  *time.Time
	Problem     string          // why it could not be run; empty: it could
	Card        json.RawMessage // the report card so far, in the form of package grade; nil: there is none
}

// ErrTooManyChecks is returned while a check of the sandbox is open, and within a minute of the last one.
type ErrTooManyChecks struct {
	Wait time.Duration // until another check can be asked for; 0: a check is open
}

func (e ErrTooManyChecks) Error() string { return "another check of the receiver was asked for" }

// ErrNoEndedCollection is returned for a transaction that is no collection, or has not ended: a check cannot send its event.
var ErrNoEndedCollection = errors.New("the transaction is no collection that has ended")

// Requests ask for checks, and read them.
type Requests struct{ core ledgerdb.Core }

// NewRequests returns the requests of all sandboxes of a database.
func NewRequests(core ledgerdb.Core) *Requests { return &Requests{core} }

// RequestReceiverCheck asks the workers for a check with a new id. It returns [ErrTooManyChecks].
func (r *Requests) RequestReceiverCheck(ctx context.Context, tenant int64, id payments.ID, tx *payments.ID, allow bool) error {
	err := r.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		n, err := q.RequestReceiverCheck(ctx, tenant, postgres.UUID(id), uuidOrNull(tx), allow)
		if err != nil || n == 1 {
			return errors.Join(err, q.TrimReceiverChecks(ctx, tenant))
		}
		wait, err := q.ReceiverCheckAllowedIn(ctx, tenant)
		if err != nil {
			return err
		}
		return ErrTooManyChecks{time.Duration(wait) * time.Second}
	})
	return postgres.Classify(err, "asking for a check of the receiver")
}

func uuidOrNull(id *payments.ID) (u pgtype.UUID) {
	if id != nil {
		u = postgres.UUID(*id)
	}
	return u
}

// GetReceiverCheck returns a check, or ledger.ErrNotFound.
func (r *Requests) GetReceiverCheck(ctx context.Context, tenant int64, id payments.ID) (*Check, error) {
	return checkOf(r.core.Tenant(tenant).GetReceiverCheck(ctx, tenant, postgres.UUID(id)))
}

// NewestReceiverCheck returns the check that was asked for last, or ledger.ErrNotFound.
func (r *Requests) NewestReceiverCheck(ctx context.Context, tenant int64) (*Check, error) {
	return checkOf(r.core.Tenant(tenant).NewestReceiverCheck(ctx, tenant))
}

func checkOf(row sqlc.ReceiverCheck, err error) (*Check, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ledgerdb.ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading a check of the receiver")
	}
	return &Check{
		ID: row.ID.Bytes, Transaction: ledgerdb.IDOrNone(row.TxID), Allow: row.Allow, RequestedAt: row.RequestedAt, BeganAt: row.BeganAt,
		FinishedAt: row.FinishedAt, Problem: row.Problem, Card: row.Card,
	}, nil
}

// Queue leases checks to the workers that run them.
type Queue struct {
	core ledgerdb.Core
	keys *secrets.KeyRing
}

// NewQueue returns a [Queue] that decrypts signing secrets with the key ring.
func NewQueue(db *postgres.DB, store *sandboxes.Registry, keys *secrets.KeyRing) *Queue {
	return &Queue{ledgerdb.Core{DB: db, Sandboxes: store}, keys}
}

// Leased is a check. Only the holder of the lease may run it.
type Leased struct {
	Tenant         int64
	ID             payments.ID
	Fence          int64
	OrganizationID string
	URL            string
	Secret         string
	Transaction    *payments.ID
	Body           []byte // of the transaction's event
	Allow          bool
	Market         grade.Market // of the sandbox's first enabled environment; zero: it has none
	Problem        string       // why it cannot be run; empty: it can
}

// expiredCheck says why a check was not run.
const expiredCheck = "No worker could begin the check within ten minutes: the sandbox is suspended or has no webhook, or many " +
	"sandboxes have receivers at this host. Ask for another one."

// LeaseReceiverCheck leases a check that is to be run; nil: there is none. One host is checked once a minute. A check
// that no worker could begin for the time expire ends.
func (s *Queue) LeaseReceiverCheck(ctx context.Context, lease, expire time.Duration) (leased *Leased, err error) {
	err = s.core.InTx(ctx, func(q *sqlc.Queries) error {
		if free, err := q.OneReceiverCheckAtATime(ctx); err != nil || !free {
			return err
		}
		if err := q.ExpireReceiverChecks(ctx, expiredCheck, postgres.Milliseconds(expire)); err != nil {
			return err
		}
		rows, err := q.LeaseReceiverCheck(ctx, postgres.Milliseconds(lease))
		for i := range rows {
			leased = s.leasedCheck(&rows[i])
		}
		return err
	})
	return leased, postgres.Classify(err, "taking a check of a receiver")
}

func (s *Queue) leasedCheck(row *sqlc.LeaseReceiverCheckRow) *Leased {
	c := &Leased{
		Tenant: row.Tenant, ID: row.ID.Bytes, Fence: row.Fence, OrganizationID: row.OrgID, URL: *row.WebhookURL,
		Transaction: ledgerdb.IDOrNone(row.TxID), Body: row.Body, Allow: row.Allow,
		Market: grade.Market{Operator: payments.Operator(row.Operator), Country: payments.Country(row.Country)},
	}
	switch {
	case row.SigningSecret == nil:
		c.Problem = "The sandbox has no signing secret yet."
	case c.Transaction != nil && c.Body == nil:
		c.Problem = fmt.Sprintf("The event of %s was removed.", c.Transaction)
	default:
		var err error
		if c.Secret, err = s.keys.Open(row.ResourceUid.String(), row.SigningSecret); err != nil {
			c.Problem = "The signing secret cannot be read."
		}
	}
	return c
}

// ErrEnded is returned for a check whose sandbox was reset, suspended or deleted, and for one that another worker has.
var ErrEnded = errors.New("the check of the receiver has ended")

// RenewReceiverCheck extends the lease of a check and keeps its card so far. It returns [ErrEnded].
func (s *Queue) RenewReceiverCheck(ctx context.Context, c *Leased, card json.RawMessage, lease time.Duration) error {
	n, err := s.core.Unscoped().RenewReceiverCheck(ctx, sqlc.RenewReceiverCheckParams{
		Tenant: c.Tenant, ID: postgres.UUID(c.ID), Fence: c.Fence, Card: card, LeaseMs: postgres.Milliseconds(lease),
	})
	if err == nil && n == 0 {
		return ErrEnded
	}
	return postgres.Classify(err, "renewing the lease of a check")
}

// FinishReceiverCheck ends a check with its card, or with the problem because of which it could not be run. It returns
// [ErrEnded].
func (s *Queue) FinishReceiverCheck(ctx context.Context, c *Leased, card json.RawMessage, problem string) error {
	n, err := s.core.Unscoped().FinishReceiverCheck(ctx, sqlc.FinishReceiverCheckParams{
		Tenant: c.Tenant, ID: postgres.UUID(c.ID), Fence: c.Fence, Card: card, Problem: problem,
	})
	if err == nil && n == 0 {
		return ErrEnded
	}
	return postgres.Classify(err, "finishing a check of a receiver")
}
