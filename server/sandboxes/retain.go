package sandboxes

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// RetainSandbox ends a sandbox like [Registry.DeleteSandbox], but keeps its rows. It removes the sandbox's keys and stored
// secrets, and frees its name. From then on nothing is settled, expired or sent for it. It returns nil for a sandbox
// that is not in the database or is retained already.
func (s *Registry) RetainSandbox(ctx context.Context, sandboxUID string) error {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return err
	}
	err = s.inTx(ctx, func(q *sqlc.Queries) error { return retain(ctx, q, uid) })
	return postgres.Classify(err, "retaining the sandbox's rows")
}

func retain(ctx context.Context, q *sqlc.Queries, uid pgtype.UUID) error {
	org, err := q.LockOrganization(ctx, uid)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, remove := range []func(context.Context, int64) (int64, error){q.PurgeKeys, q.PurgeOperatorCredentials} {
		if _, err := remove(ctx, org.Tenant); err != nil {
			return err
		}
	}
	if err := q.RetainOrganization(ctx, org.Tenant); err != nil {
		return err
	}
	return q.BumpVersion(ctx, org.Tenant)
}

// RetainedSandbox is a sandbox whose resource was deleted and whose rows were kept.
type RetainedSandbox struct {
	UID            string // of its resource; [Store.DeleteSandbox] removes its rows
	OrganizationID string
	Namespace      string
	Name           string
	RetainedAt     time.Time
}

// RetainedSandboxes lists the sandboxes that were retained longer ago than olderThan, the oldest first.
func (s *Registry) RetainedSandboxes(ctx context.Context, olderThan time.Duration) ([]RetainedSandbox, error) {
	rows, err := s.unscoped().RetainedOrganizations(ctx, postgres.Milliseconds(olderThan))
	if err != nil {
		return nil, postgres.Classify(err, "listing retained sandboxes")
	}
	retained := make([]RetainedSandbox, len(rows))
	for i, row := range rows {
		retained[i] = RetainedSandbox{
			UID: row.ResourceUid.String(), OrganizationID: row.OrgID, Namespace: row.Namespace, Name: row.Name, RetainedAt: row.RetainedAt,
		}
	}
	return retained, nil
}
