package postgres

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// replica is a streaming replica of the database, which answers lists instead of the primary. It answers only after it
// has replayed everything that any process committed before the list began. So a list first asks the primary for its
// position in the log, with a cheap query. Then it asks whether the replica has replayed the log up to this position.
// If the replica is unavailable or does not reach the position soon, the primary answers.
type replica struct {
	pool *pgxpool.Pool

	// A probe sets usable. A list that the replica could not answer unsets it, so that no other list waits for an
	// unavailable or lagging replica.
	usable atomic.Bool

	asking SharedLoad[position] // asks the primary for its position

	answered, declined atomic.Int64
}

// position is a position in the primary's write-ahead log.
type position struct {
	lsn      string
	timeline int32 // positions of different timelines cannot be compared
}

const (
	askPosition = `select lsn::text, ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::integer from pg_current_wal_flush_lsn() lsn`

	// hasReplayed asks a server whether it is a replica that has replayed the log up to a position.
	hasReplayed = `select coalesce(pg_is_in_recovery() and pg_last_wal_replay_lsn() >= $1::pg_lsn
    and (select timeline_id from pg_control_checkpoint()) = $2::integer, false) as replayed`

	// EnterTenantOnReplica is EnterTenant for a replica. If the replica has not replayed enough, no rows are visible in
	// the scope. Statements in the scope see everything that was replayed by then.
	EnterTenantOnReplica = `with replica as materialized (` + hasReplayed + `)
select set_config('cauri.tenant', case when replayed then tenant_in_use($3) else '' end, true),
  replayed, ` + inScope + planned + `
from replica`
)

const (
	// replicaProbe is the time between two probes of a replica that is not used.
	replicaProbe = 250 * time.Millisecond
	// replicaTimeout bounds the time that a list loses if the replica does not answer.
	replicaTimeout = time.Second
)

// replicaPauses are the pauses between the attempts of a list on a lagging replica. A streaming replica lags by one or
// two milliseconds.
var replicaPauses = []time.Duration{
	time.Millisecond,
	2 * time.Millisecond,
	4 * time.Millisecond,
	8 * time.Millisecond,
	16 * time.Millisecond,
}

var errReplicaBehind = errors.New("the replica has not replayed what was committed before")

// List runs f, which only reads, in the scope of a tenant. If a replica has replayed everything committed before the
// call, List uses the replica, else the primary. f may be called twice, the second time on the primary.
func (d *DB) List(ctx context.Context, tenant int64, f func(ctx context.Context, scope DBTX) error) error {
	if d.replica != nil {
		if d.replica.usable.Load() && d.listOnReplica(ctx, tenant, f) == nil {
			d.replica.answered.Add(1)
			return nil
		}
		d.replica.declined.Add(1)
	}
	return f(ctx, d.Tenant(tenant))
}

func (d *DB) listOnReplica(ctx context.Context, tenant int64, f func(ctx context.Context, scope DBTX) error) error {
	attempt, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	at, err := d.position(attempt)
	if err != nil {
		return err // of the primary: the replica stays usable
	}
	err = untilCaughtUp(attempt, func() error { return f(attempt, Scope{pool: d.replica.pool, tenant: tenant, at: &at}) })
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrConfigChanged) {
		d.replica.usable.Store(false)
	}
	return err
}

// untilCaughtUp repeats f, after pauses, while f returns errReplicaBehind.
func untilCaughtUp(ctx context.Context, f func() error) error {
	for _, pause := range replicaPauses {
		if err := f(); !errors.Is(err, errReplicaBehind) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
	return f()
}

// position returns the primary's position in the log at a moment after the call began. Everything committed before the
// call is before this position. Concurrent calls share an answer.
func (d *DB) position(ctx context.Context) (position, error) { return d.replica.asking.Do(ctx) }

func (d *DB) askPosition(ctx context.Context) (at position, err error) {
	err = d.pool.QueryRow(ctx, askPosition).Scan(&at.lsn, &at.timeline)
	return at, err
}

// RunReplica probes the replica whenever it is not usable, until ctx ends. It returns at once if there is no replica.
func (d *DB) RunReplica(ctx context.Context) {
	if d.replica == nil {
		return
	}
	ticker := time.NewTicker(replicaProbe)
	defer ticker.Stop()
	var failing bool
	for {
		if !d.replica.usable.Load() {
			err := d.probeReplica(ctx)
			switch {
			case err != nil && !failing && ctx.Err() == nil:
				slog.WarnContext(ctx, "the read replica cannot be used; lists are read from the primary until it can", "error", err)
			case err == nil && failing:
				slog.InfoContext(ctx, "the read replica is used again")
			}
			failing = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// probeReplica makes the replica usable if it has replayed what the primary has just written.
func (d *DB) probeReplica(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*replicaTimeout) // it may have to connect
	defer cancel()
	at, err := d.position(ctx)
	if err != nil {
		return Classify(err, "asking the primary how far its log goes")
	}
	err = untilCaughtUp(ctx, func() error {
		var replayed bool
		err := d.replica.pool.QueryRow(ctx, hasReplayed, at.lsn, at.timeline).Scan(&replayed)
		if err == nil && !replayed {
			err = errReplicaBehind
		}
		return err
	})
	if err == nil {
		d.replica.usable.Store(true)
	}
	return Classify(err, "asking the replica how far it is")
}

// ReplicaStat counts how a replica is used, since the start of the process.
type ReplicaStat struct {
	Usable   bool
	Answered int64 // lists that it answered
	Declined int64 // lists that the primary answered because the replica was unavailable or behind
}

// ReplicaStat returns the zero value if there is no replica.
func (d *DB) ReplicaStat() ReplicaStat {
	if d.replica == nil {
		return ReplicaStat{}
	}
	return ReplicaStat{Usable: d.replica.usable.Load(), Answered: d.replica.answered.Load(), Declined: d.replica.declined.Load()}
}

// enteredOnReplica reads the answer to EnterTenantOnReplica.
func enteredOnReplica(answer pgx.Row) error {
	var tenant string
	var replayed bool
	if err := answer.Scan(&tenant, &replayed, nil, nil); err != nil {
		return err
	}
	switch {
	case !replayed:
		return errReplicaBehind
	case tenant == "":
		return ErrConfigChanged // or the tenant is new and not replayed yet: List asks the primary
	}
	return nil
}
