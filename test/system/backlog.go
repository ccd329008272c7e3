package system

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Model is a transaction to copy.
type Model struct {
	Sandbox   *Sandbox
	Reference string
}

// PendingBacklog is [System.PendingBacklog] of one model.
func (s *Sandbox) PendingBacklog(ctx context.Context, reference string, n int) error {
	return s.system.PendingBacklog(ctx, n, Model{s, reference})
}

// EventBacklog is [System.EventBacklog] of one model.
func (s *Sandbox) EventBacklog(ctx context.Context, reference string, n int) error {
	return s.system.EventBacklog(ctx, n, Model{s, reference})
}

// PendingBacklog copies each model n times, as a pending payment that is due now. The copies appear at the same moment.
// A backlog replaces a rush that would take too long in a test.
func (s *System) PendingBacklog(ctx context.Context, n int, models ...Model) error {
	return s.backlog(ctx, n, models, `insert into transactions
		select copy.* from transactions t, unnest($3::uuid[]) new_id, lateral jsonb_populate_record(t, jsonb_build_object('id', new_id,
			'reference', t.reference || '-' || new_id,
			'created_at', now(), 'status', 'PENDING', 'completed_at', null, 'merchant_delta', 0, 'sim_delta', 0,
			'merchant_balance_after', null, 'sim_balance_after', null, 'refunded', 0,
			'due_at', now(), 'expires_at', now() + interval '1 hour')) copy
		where t.tenant = $1 and t.id = $2`)
}

// EventBacklog copies each model n times, each with an event. The models must have moved no money. The copies are
// terminal since now and appear at the same moment. Their events are due after the sandbox's latency.
func (s *System) EventBacklog(ctx context.Context, n int, models ...Model) error {
	return s.backlog(ctx, n, models, `insert into transactions
		select copy.* from transactions t, unnest($3::uuid[]) new_id, lateral jsonb_populate_record(t, jsonb_build_object('id', new_id,
			'reference', t.reference || '-' || new_id, 'created_at', now(), 'completed_at', now())) copy
		where t.tenant = $1 and t.id = $2 and t.merchant_delta = 0`,
		`insert into events
		select copy.* from events e join transactions t using (tenant, id) join organizations o using (tenant), unnest($3::uuid[]) new_id,
			lateral jsonb_populate_record(e, jsonb_build_object('id', new_id, 'created_at', now(), 'state', 'queued', 'attempts', 0,
			'due_at', now() + make_interval(secs => t.latency_ms * o.latency_percent::float8 / 100 / 1000),
			'body', null, 'delivered_at', null)) copy
		where e.tenant = $1 and e.id = $2`)
}

// backlog runs statements that copy a transaction ($1, $2) under new ids ($3). The statements name only the columns
// that differ.
func (s *System) backlog(ctx context.Context, n int, models []Model, statements ...string) error {
	return pgx.BeginFunc(ctx, s.SQL, func(tx pgx.Tx) error {
		for _, model := range models {
			if err := model.copy(ctx, tx, n, statements); err != nil {
				return fmt.Errorf("creating a backlog in %s: %w", model.Sandbox.Config.Name, err)
			}
		}
		return nil
	})
}

func (m Model) copy(ctx context.Context, tx pgx.Tx, n int, statements []string) error {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = uuid.NewString()
	}
	var id [16]byte
	err := tx.QueryRow(ctx, "select id from transactions where tenant = $1 and reference = $2", m.Sandbox.Tenant, m.Reference).Scan(&id)
	if err != nil {
		return fmt.Errorf("looking up %s: %w", m.Reference, err)
	}
	for _, statement := range statements {
		made, err := tx.Exec(ctx, statement, m.Sandbox.Tenant, id, ids)
		if err != nil {
			return err
		}
		if int(made.RowsAffected()) != n {
			return fmt.Errorf("%d copies of %s were made, not %d", made.RowsAffected(), m.Reference, n)
		}
	}
	return nil
}
