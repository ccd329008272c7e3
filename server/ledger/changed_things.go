package ledger

import (
	"context"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Kinds of noted changes, as the function note_change writes them.
const (
	startKind       = "start" // nothing is known of the time before
	transactionKind = "transaction"
	eventKind       = "event"
	attemptKind     = "attempt"
	clockKind       = "clock"
	floatKind       = "float"
	simKind         = "sim"
)

// changedThing names what has changed.
type changedThing struct {
	kind     string
	id       payments.ID
	attempt  int32
	currency string
}

func thingOf(row *sqlc.NextChangesRow) changedThing {
	thing := changedThing{kind: row.Kind, id: row.ID.Bytes, currency: orEmpty(row.Currency)}
	if row.Attempt != nil {
		thing.attempt = *row.Attempt
	}
	return thing
}

// The statements that read what has changed. The planner must not see how many rows are asked for, as in lookUpStatement.
var (
	changedTransactions = "select " + columnsOf[sqlc.Transaction]("t") + `
from transactions t where t.tenant = $1 and t.id = any((select $2::uuid[])::uuid[])`
	changedEvents = "select " + eventColumns + `
from events e
cross join lateral (select type, status from transactions where tenant = $1 and id = e.id limit 1) t
left join lateral (
  select response_status, error from delivery_attempts where tenant = $1 and event_id = e.id and attempt = e.attempts limit 1) a on true
where e.tenant = $1 and e.id = any((select $2::uuid[])::uuid[])`
	changedAttempts = "select " + columnsOf[sqlc.DeliveryAttempt]("a") + `
from (select unnest($2::uuid[]) as id, unnest($3::integer[]) as attempt) n
cross join lateral (select * from delivery_attempts where tenant = $1 and event_id = n.id and attempt = n.attempt limit 1) a`
	changedFloats = `select currency, balance from floats where tenant = $1 and currency = any((select $2::text[])::text[])`
	changedSIMs   = `select sim_id, msisdn, currency, balance from sims where tenant = $1 and sim_id = any((select $2::uuid[])::uuid[])`
)

// columnsOf are the columns of a table that this program knows, see transactionColumns.
func columnsOf[T any](table string) string {
	var columns []string
	for field := range reflect.TypeFor[T]().Fields() {
		columns = append(columns, table+"."+field.Tag.Get("db"))
	}
	return strings.Join(columns, ", ")
}

type changedFloat struct {
	Currency string
	Balance  int64
}

type changedSIM struct {
	ID               pgtype.UUID
	MSISDN, Currency string
	Balance          int64
}

// reading reads the rows of several statements in one round trip.
type reading struct {
	batch postgres.ScopeBatch
	reads []func(postgres.ScopeResults) error
}

// queueReading adds a statement whose rows are given to use, one by one.
func queueReading[T any](r *reading, use func(row *T), tenant int64, sql string, args ...any) {
	r.batch.Queue(tenant, sql, append([]any{tenant}, args...)...)
	r.reads = append(r.reads, func(results postgres.ScopeResults) error {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		found, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[T])
		for _, row := range found {
			use(row)
		}
		return err
	})
}

func (s *Ledger) read(ctx context.Context, tenant int64, r *reading) error {
	if r.reads == nil {
		return nil
	}
	if err := s.db.Admission().Acquire(ctx, tenant); err != nil {
		return err
	}
	defer s.db.Admission().Release(tenant)
	results := s.db.Send(ctx, &r.batch)
	for _, read := range r.reads {
		if err := read(results); err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// readChanged reads what noted changes name, as it stands now, each thing in the place of its last change. What is gone is left out.
func (s *Ledger) readChanged(ctx context.Context, tenant int64, noted []sqlc.NextChangesRow) ([]Change, error) {
	last := map[changedThing]int{} // its last change in noted
	for i := range noted {
		last[thingOf(&noted[i])] = i
	}
	found, err := s.readThings(ctx, tenant, last)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for i := range noted {
		thing := thingOf(&noted[i])
		if change, there := found[thing]; there && last[thing] == i {
			change.At = positionOf(&noted[i])
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// readThings reads things as they stand now.
func (s *Ledger) readThings(ctx context.Context, tenant int64, things map[changedThing]int) (map[changedThing]Change, error) {
	ids, currencies, attempts := map[string][]pgtype.UUID{}, []string{}, []int32{}
	found := map[changedThing]Change{}
	for thing := range things {
		ids[thing.kind] = append(ids[thing.kind], postgres.UUID(thing.id))
		switch thing.kind {
		case attemptKind:
			attempts = append(attempts, thing.attempt)
		case floatKind:
			currencies = append(currencies, thing.currency)
		case clockKind:
			clock, err := readClock(ctx, s.tenant(tenant), tenant)
			if err != nil {
				return nil, err
			}
			found[thing] = Change{Clock: &clock}
		}
	}
	var r reading
	if of := ids[transactionKind]; of != nil {
		queueReading(&r, func(row *sqlc.Transaction) {
			found[changedThing{kind: transactionKind, id: row.ID.Bytes}] = Change{Transaction: transactionOf(row)}
		}, tenant, changedTransactions, of)
	}
	events := map[payments.ID]*Event{}
	if of := append(ids[eventKind], ids[attemptKind]...); of != nil {
		queueReading(&r, func(e *Event) {
			events[e.ID] = e
			found[changedThing{kind: eventKind, id: e.ID}] = Change{Event: e}
		}, tenant, changedEvents, of)
	}
	if of := ids[attemptKind]; of != nil {
		queueReading(&r, func(row *sqlc.DeliveryAttempt) {
			if e := events[row.EventID.Bytes]; e != nil {
				attempt := attemptOf(row)
				found[changedThing{kind: attemptKind, id: e.ID, attempt: row.Attempt}] = Change{Event: e, Attempt: &attempt}
			}
		}, tenant, changedAttempts, of, attempts)
	}
	if len(currencies) > 0 {
		queueReading(&r, func(row *changedFloat) {
			found[changedThing{kind: floatKind, currency: row.Currency}] = Change{Balance: &Balance{Currency: row.Currency, Balance: row.Balance}}
		}, tenant, changedFloats, currencies)
	}
	if of := ids[simKind]; of != nil {
		queueReading(&r, func(row *changedSIM) {
			found[changedThing{kind: simKind, id: row.ID.Bytes}] = Change{
				Balance: &Balance{MSISDN: row.MSISDN, Currency: row.Currency, Balance: row.Balance},
			}
		}, tenant, changedSIMs, of)
	}
	return found, s.read(ctx, tenant, &r)
}
