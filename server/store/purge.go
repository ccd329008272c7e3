package store

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// purgeBatch bounds the rows that one statement removes, so that none holds its locks for long.
const purgeBatch = 5000

// DeleteSandbox revokes a sandbox's keys and removes all of its rows. It returns nil when there are none; a call that failed
// half way is finished by the next one.
func (s *Store) DeleteSandbox(ctx context.Context, sandboxUID string) error {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return err
	}
	if _, err := s.system().RetireOrganization(ctx, uid); err != nil {
		return classify(err, "retiring the sandbox")
	}
	tenants, err := s.system().UnpurgedTenants(ctx, uid)
	if err != nil {
		return classify(err, "looking for rows of the deleted sandbox")
	}
	for _, tenant := range tenants {
		if err := s.purge(ctx, tenant); err != nil {
			return classify(err, "deleting the rows of the sandbox")
		}
	}
	return nil
}

const (
	// lastWrite is how long after its retirement a tenant may still be written to: by statements that had begun before. None
	// lasts longer, see the time limits of the api's bookings and of settlement.
	lastWrite = 2 * time.Minute
	// retiredKept is how long a retired tenant is remembered for directories that could not read meanwhile.
	retiredKept = 24 * time.Hour
)

// PurgeRetired removes what was written for retired tenants while they were being deleted, and forgets those of long ago. It is
// the net under [Store.DeleteSandbox]: usually there is nothing left.
func (s *Store) PurgeRetired(ctx context.Context) error {
	tenants, err := s.system().TenantsToPurge(ctx, milliseconds(lastWrite))
	if err != nil {
		return classify(err, "looking for retired tenants")
	}
	for _, tenant := range tenants {
		if err := s.purge(ctx, tenant); err != nil {
			return classify(err, "deleting the rows of a retired tenant")
		}
		if err := s.system().MarkPurged(ctx, tenant); err != nil {
			return classify(err, "marking a tenant as purged")
		}
	}
	return classify(s.system().ForgetRetired(ctx, milliseconds(retiredKept)), "forgetting retired tenants")
}

// purge removes all rows of a tenant that stands for nothing any more.
func (s *Store) purge(ctx context.Context, tenant int64) error {
	q := s.system()
	for _, remove := range []func(context.Context, int64) (int64, error){
		q.PurgeKeys, q.PurgeEnvironments, q.PurgeStores, q.PurgeFloats, q.PurgeQuotaUsage, q.PurgeRateUsage,
		q.PurgeOperatorCredentials, q.PurgeOperatorTokens, q.PurgeEndpointHealth, q.PurgeActivity,
	} {
		if _, err := remove(ctx, tenant); err != nil {
			return err
		}
	}
	for _, remove := range []func(q *db.Queries, batch int32) (int64, error){
		func(q *db.Queries, n int32) (int64, error) { return q.PurgeSIMs(ctx, tenant, n) },
		func(q *db.Queries, n int32) (int64, error) { return q.PurgeAdjustments(ctx, tenant, n) },
		func(q *db.Queries, n int32) (int64, error) { return q.PurgeAttempts(ctx, tenant, n) },
		func(q *db.Queries, n int32) (int64, error) { return q.PurgeEvents(ctx, tenant, n) },
		func(q *db.Queries, n int32) (int64, error) { return q.PurgeTransactions(ctx, tenant, n) },
		func(q *db.Queries, n int32) (int64, error) { return q.PurgeOperatorPayments(ctx, tenant, n) },
	} {
		for {
			removed, err := remove(q, purgeBatch)
			if err != nil {
				return err
			}
			if removed < purgeBatch {
				break
			}
		}
	}
	return nil
}
