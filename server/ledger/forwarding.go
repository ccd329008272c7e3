package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Forward is a leased collection. Until the lease ends, only its holder may forward the collection to the operator, or
// ask the operator for its status.
type Forward struct {
	Tenant      int64
	Fence       int64 // the fencing token of the lease
	Transaction *payments.Transaction

	OrganizationID string

	Accepted    bool          // the operator has accepted it
	Attempts    int           // started attempts to send it to the operator, see [Forwards.BeginForwardAttempt]
	Failures    int           // consecutive exchanges without a result
	Expired     bool          // it expired before its payer answered, as far as is known
	Age         time.Duration // since the collection was recorded
	AnswerAfter time.Duration // from its creation until its outcome is due: the scaled simulated latency
	ExpireAfter time.Duration // from its creation until it expires

	BaseURL           string                         // of the operator's API that the store names; empty for none
	Credentials       *sandboxes.OperatorCredentials // of the store; nil if it has none
	CredentialsReason error                          // why Credentials are nil although the store names some
}

// Errors of [Forward.CredentialsReason].
var (
	ErrCredentialsMissing    = errors.New("the store's credentials for this operator are missing")
	ErrCredentialsUnreadable = errors.New("the store's credentials for this operator cannot be read")
)

// LeaseDueForwards leases due collections, at most from[i].Slots of each tenant. A due collection needs to be
// forwarded, or needs a status query to the operator. The result found has the number of leased collections by tenant.
// Concurrent callers get different collections. A collection becomes due again if its lease ends before
// [Forwards.SettleForward] or [Forwards.DeferForward] is called.
func (s *Forwards) LeaseDueForwards(
	ctx context.Context,
	from []queues.SlotGrant,
	lease time.Duration,
) (leased []Forward, found map[int64]int, err error) {
	given := queues.ColumnsOf(from)
	err = s.core.InTx(ctx, func(q *sqlc.Queries) error {
		leased, found = nil, map[int64]int{}
		due, err := q.LockDueForwards(ctx, given.Tenants, given.Limits)
		if err != nil || len(due) == 0 {
			return err
		}
		var keys ledgerdb.Keys
		for i := range due {
			found[due[i].Transaction.Tenant]++
			leased = append(leased, s.forwardOf(&due[i]))
			keys.Add(due[i].Transaction.Tenant, due[i].Transaction.ID)
		}
		return q.LeaseForwards(ctx, postgres.Milliseconds(lease), keys.Tenants, keys.IDs)
	})
	if err != nil {
		return nil, nil, postgres.Classify(err, "taking collections to forward")
	}
	return leased, found, nil
}

// BeginForwardAttempt records that a collection is about to be sent to its operator. If it reports false, the lease was
// lost, and the caller must not send the collection.
func (s *Forwards) BeginForwardAttempt(ctx context.Context, f *Forward) (begun bool, err error) {
	rows, err := s.core.Unscoped().BeginForwardAttempt(ctx, f.Tenant, postgres.UUID(f.Transaction.ID), f.Fence)
	return rows == 1, postgres.Classify(err, "writing down an attempt to forward a collection")
}

// GiveBackForwards ends the leases of collections for which no attempt was made. They are due at once.
func (s *Forwards) GiveBackForwards(ctx context.Context, forwards []Forward) error {
	var keys ledgerdb.Keys
	fences := make([]int64, len(forwards))
	for i := range forwards {
		keys.Add(forwards[i].Tenant, postgres.UUID(forwards[i].Transaction.ID))
		fences[i] = forwards[i].Fence
	}
	return postgres.Classify(s.core.Unscoped().GiveBackForwards(ctx, keys.Tenants, keys.IDs, fences), "giving collections back")
}

func (s *Forwards) forwardOf(row *sqlc.LockDueForwardsRow) Forward {
	t := &row.Transaction
	f := Forward{
		Tenant:         t.Tenant,
		Fence:          *row.ForwardFence + 1,
		Transaction:    ledgerdb.TransactionOf(t),
		OrganizationID: row.OrgID,
		Accepted:       t.ForwardedAt != nil,
		Attempts:       int(deref(t.ForwardAttempts)),
		Failures:       int(deref(t.ForwardFailures)),
		Expired:        row.Expired,
		Age:            postgres.FromMilliseconds(row.AgeMs),
		AnswerAfter:    time.Duration(row.AnswerAfterMs) * time.Millisecond,
		ExpireAfter:    postgres.FromMilliseconds(row.ExpireAfterMs),
	}
	if row.BaseURL == nil {
		return f // the store names no credentials
	}
	f.BaseURL = *row.BaseURL
	if row.Sealed == nil {
		f.CredentialsReason = ErrCredentialsMissing
		return f
	}
	credentials, err := s.core.Sandboxes.OpenCredentials(row.ResourceUid.String(), row.Sealed)
	if err != nil {
		f.CredentialsReason = fmt.Errorf("%w: %w", ErrCredentialsUnreadable, err)
		return f
	}
	f.Credentials = &credentials
	return f
}

// Deferred is the result of an attempt that brought no outcome.
type Deferred struct {
	Accepted  bool // the operator has the payment
	NativeID  string
	NativeRaw json.RawMessage // the operator's answer to the payment, which questions need; nil for none
	Failures  int             // failed attempts in a row
	After     time.Duration   // until the next attempt
}

// DeferForward ends the lease of a collection. The collection becomes due again after d.After or at its expiry,
// whichever is earlier. DeferForward reports false, and writes nothing, if the lease was lost.
func (s *Forwards) DeferForward(ctx context.Context, f *Forward, d Deferred) (leaseHeld bool, err error) {
	rows, err := s.core.Unscoped().DeferForward(ctx, sqlc.DeferForwardParams{
		AgainAfterMs: postgres.Milliseconds(d.After), Failures: int32(d.Failures), Accepted: d.Accepted, NativeID: postgres.Optional(d.NativeID),
		NativeRaw: d.NativeRaw,
		Tenant:    f.Tenant, ID: postgres.UUID(f.Transaction.ID), Fence: f.Fence,
	})
	return rows == 1, postgres.Classify(err, "writing down a forwarded collection")
}

// OperatorResult is the decision of an operator.
type OperatorResult struct {
	Status    payments.Status // terminal
	NativeID  string          // the operator's id, empty for none
	NativeRaw json.RawMessage // the operator's answer, nil for none
}

// SettleForward gives a forwarded collection its outcome, moves the money, and adds the event, in one database
// transaction. A success that would raise the float above [payments.MaxBalance] is recorded as LIMIT_EXCEEDED, with the
// operator's answer. It reports false, and writes nothing, if the lease was lost.
func (s *Forwards) SettleForward(ctx context.Context, f *Forward, r OperatorResult) (leaseHeld bool, err error) {
	params := sqlc.SettleForwardParams{
		Status: r.Status, NativeID: postgres.Optional(r.NativeID), NativeRaw: r.NativeRaw,
		Tenant: f.Tenant, ID: postgres.UUID(f.Transaction.ID), Fence: f.Fence,
	}
	rows, err := s.core.Unscoped().SettleForward(ctx, params)
	if exceedsMaxBalance(err) {
		params.Status = payments.LimitExceeded
		rows, err = s.core.Unscoped().SettleForward(ctx, params)
	}
	if rows == 1 {
		s.core.Sandboxes.NoteActivity(f.Tenant)
	}
	return rows == 1, postgres.Classify(err, "settling a forwarded collection")
}

func deref(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// TenantsToForward returns the sandboxes with collections that are due to be forwarded, or to be queried at an
// operator.
func (s *Forwards) TenantsToForward(ctx context.Context) ([]queues.DueTenant, error) {
	rows, err := s.core.Polling().TenantsToForward(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "looking for sandboxes with collections to forward")
	}
	due := make([]queues.DueTenant, len(rows))
	for i, row := range rows {
		due[i] = queues.DueTenant{Tenant: row.Tenant, SweepFailed: row.SweepFailed}
	}
	return due, nil
}
