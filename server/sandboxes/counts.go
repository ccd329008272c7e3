package sandboxes

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// TransactionCounts has the numbers of transactions of a sandbox.
type TransactionCounts struct {
	Total   int64
	Pending int64
}

// QuotaState is the used part of a sandbox's monthly quota.
type QuotaState struct {
	Limit, Used int64
	RenewsAt    time.Time // when the next month begins, in sandbox time
}

// Exceeded reports whether the quota is used up, so that no more transactions are recorded in this month.
func (q *QuotaState) Exceeded() bool { return q != nil && q.Used >= q.Limit }

const (
	// countedLater is the maximum time from the creation of a transaction's id to its recording. A booking takes
	// seconds at most. The rest is the tolerated clock skew of the api's replicas, which make the ids. In a sandbox
	// with a clock, an id is made when the transaction is recorded.
	countedLater = 5 * time.Minute
	// countedAtMost is the most transactions that are counted one by one. If there are more, a new count is stored.
	countedAtMost = 1000
)

// readCounts sets the fields of state about payments and deliveries. The parameter limited reports whether the sandbox has
// a quota.
func (s *Registry) readCounts(ctx context.Context, tenant int64, limited bool, state *SandboxState) (err error) {
	if state.Transactions, err = s.countTransactions(ctx, tenant); err != nil {
		return err
	}
	if limited {
		if state.Quota, err = s.quotaState(ctx, tenant); err != nil {
			return err
		}
	}
	if state.Failures, err = s.sweepFailures(ctx, tenant); err != nil {
		return err
	}
	if state.Ledger, err = s.ledgerState(ctx, tenant); err != nil {
		return err
	}
	state.Endpoint, err = ReadEndpointHealth(ctx, s.unscoped(), tenant)
	return err
}

// Counts returns the present counts and delivery state of the sandbox of a resource.
func (s *Registry) Counts(ctx context.Context, sandboxUID string) (
	transactions TransactionCounts, health webhooks.EndpointHealth, err error,
) {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return transactions, health, err
	}
	var state SandboxState
	row, err := s.unscoped().FindOrganization(ctx, uid)
	if err == nil {
		err = s.readCounts(ctx, row.Organization.Tenant, false, &state)
	}
	return state.Transactions, state.Endpoint, postgres.Classify(err, "reading the sandbox's counts")
}

func (s *Registry) quotaState(ctx context.Context, tenant int64) (*QuotaState, error) {
	row, err := s.unscoped().QuotaUsed(ctx, tenant)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && row.Quota == nil { // the sandbox was reset or deleted meanwhile, or has no quota
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &QuotaState{Limit: *row.Quota, Used: row.Used, RenewsAt: row.RenewsAt}, nil
}

// countTransactions adds the transactions since the last stored count to that count. It stores a new count when there
// are more than countedAtMost.
func (s *Registry) countTransactions(ctx context.Context, tenant int64) (TransactionCounts, error) {
	row, err := s.unscoped().CountTransactions(ctx, tenant)
	if err != nil {
		return TransactionCounts{}, err
	}
	if row.Since > countedAtMost {
		err = s.advanceCount(ctx, tenant)
	}
	return TransactionCounts{Total: row.Counted + row.Since, Pending: row.Pending}, err
}

func (s *Registry) advanceCount(ctx context.Context, tenant int64) error {
	until, err := s.unscoped().RecordedUntil(ctx, postgres.Milliseconds(countedLater), tenant)
	if err != nil {
		return err
	}
	return s.unscoped().AdvanceCount(ctx, postgres.UUID(payments.FirstID(until)), tenant)
}
