package sandboxes

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// ReadEndpointHealth judges the receiver of a tenant.
func ReadEndpointHealth(ctx context.Context, q *sqlc.Queries, tenant int64) (webhooks.EndpointHealth, error) {
	row, err := q.EndpointHealth(ctx, tenant, webhooks.MostUnacknowledged)
	if errors.Is(err, pgx.ErrNoRows) { // a reset has replaced the tenant
		return webhooks.EndpointHealth{State: webhooks.EndpointNone}, nil
	}
	if err != nil {
		return webhooks.EndpointHealth{}, err
	}
	h := webhooks.EndpointHealth{
		State: webhooks.EndpointHealthy, Acknowledged: row.Acknowledged, Unacknowledged: int(row.Unacknowledged),
		Delivered: row.Delivered, Failed: row.Failed, Failures: int(row.Failures), FailingSince: row.FailingSince,
		ProbeAt: row.ProbeAt, LastFailedAt: row.LastFailureAt, URLChangedAt: row.URLChangedAt,
	}
	if row.LastFailure != nil {
		h.LastFailure = *row.LastFailure
	}
	if row.Newest.Valid {
		h.Newest = &webhooks.UnacknowledgedEvent{
			ID: row.Newest.Bytes, CreatedAt: row.NewestCreatedAt, Waits: row.NewestWaits, Attempt: int(row.NewestAttempt),
			Failure: row.NewestError, Former: row.NewestFormer,
		}
		h.OldestAt = &row.OldestCreatedAt
	}
	if !row.Acknowledged {
		h.Refusal = row.WebhookRefusal
	}
	switch {
	case !row.Named:
		h.State = webhooks.EndpointNone
	case row.ProbeAt != nil:
		h.State = webhooks.EndpointPaused
	case h.Unacknowledged > 0, h.Refusal != "":
		h.State = webhooks.EndpointFailing
	}
	return h, nil
}
