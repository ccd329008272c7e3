package sandboxes

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// purgeBatch bounds the rows that one statement removes, so that none holds its locks for long.
const purgeBatch = 5000

// deletionTime is the default of [Options.DeletionTime].
const deletionTime = 5 * time.Second

// ErrDeletionUnfinished is returned while rows of a deleted sandbox are left. Its keys no longer work. The next call
// goes on where this one stopped.
var ErrDeletionUnfinished = errors.New("rows of the deleted sandbox are left")

// DeleteSandbox revokes a sandbox's keys and removes all of its rows. It returns nil if there are none, and
// [ErrDeletionUnfinished] if there are too many for one call. After an error the next call goes on.
func (s *Registry) DeleteSandbox(ctx context.Context, sandboxUID string) error {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return err
	}
	if _, err := s.unscoped().RetireOrganization(ctx, uid); err != nil {
		return postgres.Classify(err, "retiring the sandbox")
	}
	tenants, err := s.unscoped().UnpurgedTenants(ctx, uid)
	if err != nil {
		return postgres.Classify(err, "looking for rows of the deleted sandbox")
	}
	bounded, cancel := context.WithTimeout(ctx, s.deletionTime)
	defer cancel()
	for _, tenant := range tenants {
		if err := s.purge(bounded, tenant); err != nil {
			if ctx.Err() == nil && bounded.Err() != nil {
				return ErrDeletionUnfinished
			}
			return postgres.Classify(err, "deleting the rows of the sandbox")
		}
	}
	return nil
}

const (
	// lastWrite is the time after a tenant's retirement in which earlier statements may still write its rows. No
	// statement lasts longer, see the time limits of the api's bookings and of settlement.
	lastWrite = 2 * time.Minute
	// retiredKept is how long a retired tenant is kept, for directories that could not reach the database in the
	// meantime.
	retiredKept = 24 * time.Hour
)

// PurgeRetired removes the rows of tenants that a reset replaced, and the rows that were written for deleted tenants
// during their deletion. It forgets tenants that were retired long ago. It stops between two batches when ctx ends, and
// the next call goes on. It returns [SandboxErrors] for failures in single tenants.
func (s *Registry) PurgeRetired(ctx context.Context) error {
	for {
		tenants, err := s.unscoped().TenantsToPurge(ctx, postgres.Milliseconds(lastWrite))
		if err != nil {
			return postgres.Classify(err, "looking for retired tenants")
		}
		if len(tenants) == 0 {
			return s.forgetRetired(ctx)
		}
		failed := SandboxErrors{}
		for _, tenant := range tenants {
			if err := failed.Keep(ctx, tenant, s.purgeRetired(ctx, tenant)); err != nil {
				return err
			}
		}
		if len(failed) > 0 {
			return failed
		}
	}
}

// forgetRetired forgets old retired tenants in batches, until a batch is not full.
func (s *Registry) forgetRetired(ctx context.Context) error {
	for {
		n, err := s.unscoped().ForgetRetired(ctx, postgres.Milliseconds(retiredKept), purgeBatch)
		if err != nil || n < purgeBatch {
			return postgres.Classify(err, "forgetting retired tenants")
		}
	}
}

func (s *Registry) purgeRetired(ctx context.Context, tenant int64) error {
	if err := s.purge(ctx, tenant); err != nil {
		return postgres.Classify(err, "deleting the rows of a retired tenant")
	}
	return postgres.Classify(s.unscoped().MarkPurged(ctx, tenant), "marking a tenant as purged")
}

// purge removes all rows of a retired tenant in batches. If ctx ends, the rows of the batches after that are left.
func (s *Registry) purge(ctx context.Context, tenant int64) error {
	q := s.unscoped()
	for _, remove := range []func(context.Context, int64) (int64, error){
		q.PurgeKeys, q.PurgeEnvironments, q.PurgeStores, q.PurgeFloats, q.PurgeQuotaUsage, q.PurgeRateUsage,
		q.PurgeOperatorCredentials, q.PurgeEndpointHealth, q.PurgeActivity, q.PurgeTransactionCounts,
		q.PurgeSweepFailures, q.PurgeClocks, q.PurgeFaultCounts, q.PurgeSetFaults, q.PurgeRequests, q.PurgeNativeUsers, q.PurgeNativeTokens,
		q.PurgeNativeOrders, q.PurgeNativeSettings,
		q.PurgeAccountProofs, q.PurgeLedgerProofs, q.PurgeExpectations, q.PurgeReceiverChecks,
	} {
		if _, err := remove(ctx, tenant); err != nil {
			return err
		}
	}
	for _, remove := range []func(ctx context.Context, tenant int64, after pgtype.UUID, batch int32) (pgtype.UUID, error){
		q.PurgeSIMs, q.PurgeAdjustments, q.PurgeEvents, q.PurgeEventFaults, q.PurgeNativeRequests,
		q.PurgeNativeCallbacks, q.PurgeTransactions,
	} {
		if err := inBatches(postgres.UUID(payments.ID{}), func(after pgtype.UUID) (pgtype.UUID, error) {
			return remove(ctx, tenant, after, purgeBatch)
		}); err != nil {
			return err
		}
	}
	if err := purgeFaults(ctx, q, tenant); err != nil {
		return err
	}
	if err := inBatches(sqlc.PurgeChangesRow{}, func(after sqlc.PurgeChangesRow) (sqlc.PurgeChangesRow, error) {
		return q.PurgeChanges(ctx, tenant, after.Xact, after.Seq, purgeBatch)
	}); err != nil {
		return err
	}
	return purgeAttempts(ctx, q, tenant)
}

// purgeAttempts removes the attempts to deliver events and to send callbacks.
func purgeAttempts(ctx context.Context, q *sqlc.Queries, tenant int64) error {
	first := postgres.UUID(payments.ID{})
	if err := inBatches(sqlc.PurgeAttemptsRow{EventID: first}, func(after sqlc.PurgeAttemptsRow) (sqlc.PurgeAttemptsRow, error) {
		return q.PurgeAttempts(ctx, tenant, after.EventID, after.Attempt, purgeBatch)
	}); err != nil {
		return err
	}
	type row = sqlc.PurgeCallbackAttemptsRow
	return inBatches(row{ID: first}, func(after row) (row, error) {
		return q.PurgeCallbackAttempts(ctx, tenant, after.ID, after.Attempt, purgeBatch)
	})
}

// purgeFaults removes the acts of faults, and the counts of requests by reference.
func purgeFaults(ctx context.Context, q *sqlc.Queries, tenant int64) error {
	if err := inBatches(sqlc.PurgeFaultActsRow{}, func(after sqlc.PurgeFaultActsRow) (sqlc.PurgeFaultActsRow, error) {
		return q.PurgeFaultActs(ctx, tenant, after.Name, after.Reference, purgeBatch)
	}); err != nil {
		return err
	}
	return inBatches("", func(after string) (string, error) { return q.PurgeFaultRequests(ctx, tenant, after, purgeBatch) })
}

// inBatches calls the function remove with the last row of each batch until remove returns [pgx.ErrNoRows].
func inBatches[K any](after K, remove func(after K) (last K, err error)) error {
	for {
		last, err := remove(after)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		after = last
	}
}
