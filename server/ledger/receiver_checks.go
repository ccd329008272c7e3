package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// ReceiverCheck is a check of a sandbox's receiver. All times are real times.
type ReceiverCheck struct {
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

// RequestReceiverCheck asks the workers for a check with a new id. It returns [ErrTooManyChecks].
func (l *Ledger) RequestReceiverCheck(ctx context.Context, tenant int64, id payments.ID, tx *payments.ID, allow bool) error {
	err := l.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
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

// GetReceiverCheck returns a check, or [ErrNotFound].
func (l *Ledger) GetReceiverCheck(ctx context.Context, tenant int64, id payments.ID) (*ReceiverCheck, error) {
	return receiverCheckOf(l.core.Tenant(tenant).GetReceiverCheck(ctx, tenant, postgres.UUID(id)))
}

// NewestReceiverCheck returns the check that was asked for last, or [ErrNotFound].
func (l *Ledger) NewestReceiverCheck(ctx context.Context, tenant int64) (*ReceiverCheck, error) {
	return receiverCheckOf(l.core.Tenant(tenant).NewestReceiverCheck(ctx, tenant))
}

func receiverCheckOf(row sqlc.ReceiverCheck, err error) (*ReceiverCheck, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading a check of the receiver")
	}
	return &ReceiverCheck{
		ID: row.ID.Bytes, Transaction: ledgerdb.IDOrNone(row.TxID), Allow: row.Allow, RequestedAt: row.RequestedAt, BeganAt: row.BeganAt,
		FinishedAt: row.FinishedAt, Problem: row.Problem, Card: row.Card,
	}, nil
}

// ReceiverChecks leases checks to the workers that run them.
type ReceiverChecks struct {
	core ledgerdb.Core
	keys *secrets.KeyRing
}

// NewReceiverChecks returns a [ReceiverChecks] that decrypts signing secrets with the key ring.
func NewReceiverChecks(db *postgres.DB, store *sandboxes.Registry, keys *secrets.KeyRing) *ReceiverChecks {
	return &ReceiverChecks{ledgerdb.Core{DB: db, Sandboxes: store}, keys}
}

// LeasedCheck is a check. Only the holder of the lease may run it.
type LeasedCheck struct {
	Tenant         int64
	ID             payments.ID
	Fence          int64
	OrganizationID string
	URL            string
	Secret         string
	Transaction    *payments.ID
	Body           []byte // of the transaction's event
	Allow          bool
	Problem        string // why it cannot be run; empty: it can
}

// expiredCheck says why a check was not run.
const expiredCheck = "No worker could begin the check within ten minutes: the sandbox is suspended or has no webhook, or many " +
	"sandboxes have receivers at this host. Ask for another one."

// LeaseReceiverCheck leases a check that is to be run; nil: there is none. One host is checked once a minute. A check
// that no worker could begin for the time expire ends.
func (s *ReceiverChecks) LeaseReceiverCheck(ctx context.Context, lease, expire time.Duration) (leased *LeasedCheck, err error) {
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

func (s *ReceiverChecks) leasedCheck(row *sqlc.LeaseReceiverCheckRow) *LeasedCheck {
	c := &LeasedCheck{
		Tenant: row.Tenant, ID: row.ID.Bytes, Fence: row.Fence, OrganizationID: row.OrgID, URL: *row.WebhookURL,
		Transaction: ledgerdb.IDOrNone(row.TxID), Body: row.Body, Allow: row.Allow,
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

// ErrCheckEnded is returned for a check whose sandbox was reset, suspended or deleted, and for one that another worker has.
var ErrCheckEnded = errors.New("the check of the receiver has ended")

// RenewReceiverCheck extends the lease of a check and keeps its card so far. It returns [ErrCheckEnded].
func (s *ReceiverChecks) RenewReceiverCheck(ctx context.Context, c *LeasedCheck, card json.RawMessage, lease time.Duration) error {
	n, err := s.core.System().RenewReceiverCheck(ctx, sqlc.RenewReceiverCheckParams{
		Tenant: c.Tenant, ID: postgres.UUID(c.ID), Fence: c.Fence, Card: card, LeaseMs: postgres.Milliseconds(lease),
	})
	if err == nil && n == 0 {
		return ErrCheckEnded
	}
	return postgres.Classify(err, "renewing the lease of a check")
}

// FinishReceiverCheck ends a check with its card, or with the problem because of which it could not be run. It returns
// [ErrCheckEnded].
func (s *ReceiverChecks) FinishReceiverCheck(ctx context.Context, c *LeasedCheck, card json.RawMessage, problem string) error {
	n, err := s.core.System().FinishReceiverCheck(ctx, sqlc.FinishReceiverCheckParams{
		Tenant: c.Tenant, ID: postgres.UUID(c.ID), Fence: c.Fence, Card: card, Problem: problem,
	})
	if err == nil && n == 0 {
		return ErrCheckEnded
	}
	return postgres.Classify(err, "finishing a check of a receiver")
}
