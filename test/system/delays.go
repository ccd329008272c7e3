package system

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
)

// Delays are the times from due to first arrival for each event of the sandbox that arrived. An event is due when its
// transaction settles. If the transaction was terminal at once, its event is due when the answer is due.
func (s *Sandbox) Delays(ctx context.Context, r *Receiver) ([]time.Duration, error) {
	rows, err := s.system.SQL.Query(ctx, `select id, case when completed_at > created_at then completed_at
			else created_at + make_interval(secs => latency_ms * $2::float8 / 100 / 1000) end
		from transactions where tenant = $1 and status <> 'PENDING'`, s.Tenant, s.Config.LatencyPercent)
	if err != nil {
		return nil, fmt.Errorf("reading when events of %s were due: %w", s.Config.Name, err)
	}
	arrivals := r.Arrivals()
	var delays []time.Duration
	var id [16]byte
	var due time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &due}, func() error {
		if list := arrivals["evt_"+payments.ID(id).Code()]; len(list) > 0 {
			delays = append(delays, list[0].At.Sub(due))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading when events of %s were due: %w", s.Config.Name, err)
	}
	return delays, nil
}
