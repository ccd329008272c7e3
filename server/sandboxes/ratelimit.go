package sandboxes

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Grant is a share of a sandbox's rate limit. It has to be used within a second.
type Grant struct {
	Requests  int           // granted; 0: the limit is reached
	Remaining int           // rest of the limit after this grant
	Reset     time.Duration // until the oldest requests leave the counted minute
	second    int64         // the second of the grant
}

// TakeRequests grants requests to a tenant: at most wanted of them, and in any minute at most limit. The parameter
// unused is the rest of an earlier grant, which TakeRequests takes back. All replicas of the api draw from the same
// count. It returns [postgres.ErrConfigChanged] for a tenant that was reset or deleted.
func (s *Registry) TakeRequests(ctx context.Context, tenant int64, limit, wanted int, unused Grant) (Grant, error) {
	var row sqlc.TakeRequestsRow
	err := s.db.InTenantTxAtOnce(ctx, tenant, func(tx pgx.Tx) (err error) {
		q := sqlc.New(tx)
		if err := q.LockRate(ctx, tenant); err != nil {
			return err
		}
		if unused.Requests > 0 {
			if err := q.ReturnRequests(ctx, int32(unused.Requests), tenant, unused.second); err != nil {
				return err
			}
		}
		row, err = q.TakeRequests(ctx, int64(limit), tenant, int64(wanted))
		return err
	})
	if err != nil {
		return Grant{}, postgres.Classify(err, "counting requests")
	}
	return Grant{
		Requests: int(row.Granted), Remaining: int(row.Remaining), Reset: time.Duration(row.ResetSeconds) * time.Second, second: row.Second,
	}, nil
}
