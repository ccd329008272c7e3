package ledger

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Kinds of noted changes, as the SQL function note_change writes them.
const (
	startKind           = "start"   // changes before it are unknown
	bookingKind         = "booking" // a new or completed transaction, with its event and the balances that it moved
	transactionKind     = "transaction"
	eventKind           = "event"
	resendKind          = "resend" // an event is to be sent again
	attemptKind         = "attempt"
	callbackKind        = "callback"
	callbackAttemptKind = "callback_attempt"
	clockKind           = "clock"
	faultsKind          = "faults" // a fault was set or removed, or has acted
	floatKind           = "float"
	simKind             = "sim"
)

// changeRef refers to a row that has changed, to the clock or to the faults.
type changeRef struct {
	kind     string
	id       payments.ID
	attempt  int32
	currency string
}

func refOf(row *sqlc.NextChangesRow) changeRef {
	ref := changeRef{kind: row.Kind, id: row.ID.Bytes, currency: ledgerdb.OrEmpty(row.Currency)}
	if row.Attempt != nil {
		ref.attempt = *row.Attempt
	}
	return ref
}

// The statements that read changed rows. Their subselects hide the number of ids from the planner, for the reason given
// at lookUpStatement.
const (
	changedTransactions = "select " + ledgerdb.TransactionColumns + `
from transactions where tenant = $1 and id = any((select $2::uuid[])::uuid[])`
	changedEvents = "select " + eventColumns + `
from events e
cross join lateral (select type, status from transactions where tenant = $1 and id = e.id limit 1) t
left join lateral (
  select response_status, error, faults from delivery_attempts where tenant = $1 and event_id = e.id and attempt = e.attempts limit 1) a on true
where e.tenant = $1 and e.id = any((select $2::uuid[])::uuid[])`
	changedAttempts = "select " + ledgerdb.DeliveryAttemptColumns + `
from (select unnest($2::uuid[]) as of_id, unnest($3::integer[]) as number) n
cross join lateral (select * from delivery_attempts where tenant = $1 and event_id = n.of_id and attempt = n.number limit 1) a`
	changedCallbacks = "select " + callbackColumns + `
from native_callbacks n
left join lateral (select type, status, completed_at from transactions where tenant = $1 and id = n.transaction_id limit 1) t on true
left join lateral (select faults from callback_attempts where tenant = $1 and id = n.id and attempt = n.attempts limit 1) a on true
where n.tenant = $1 and n.id = any((select $2::uuid[])::uuid[])`
	changedCallbackAttempts = "select " + ledgerdb.CallbackAttemptColumns + `
from (select unnest($2::uuid[]) as of_id, unnest($3::integer[]) as number) n
cross join lateral (select * from callback_attempts where tenant = $1 and id = n.of_id and attempt = n.number limit 1) a`
	changedFloats = `select currency, balance from floats where tenant = $1 and (currency = any((select $2::text[])::text[])
  or currency in (select float_currency from transactions where tenant = $1 and id = any((select $3::uuid[])::uuid[])))`
	changedSIMs = `select s.sim_id, s.msisdn, s.currency, s.balance
from (
  select unnest($2::uuid[]) as id
  union
  select t.sim_id from unnest($3::uuid[]) booked (id)
  cross join lateral (select sim_id from transactions where tenant = $1 and id = booked.id limit 1) t
) n
cross join lateral (select * from sims where tenant = $1 and sim_id = n.id limit 1) s`
)

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

// queueReading adds a statement. It passes each row to the function use.
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

func (l *Ledger) read(ctx context.Context, tenant int64, r *reading) error {
	if r.reads == nil {
		return nil
	}
	if err := l.core.DB.Admission().Acquire(ctx, tenant); err != nil {
		return err
	}
	defer l.core.DB.Admission().Release(tenant)
	results := l.core.DB.Send(ctx, &r.batch)
	for _, read := range r.reads {
		if err := read(results); err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// readChanged reads the current state of the rows that noted changes name. A row that changed several times appears
// once, at the position of its last change. Deleted rows are left out.
func (l *Ledger) readChanged(ctx context.Context, tenant int64, noted []sqlc.NextChangesRow) ([]Change, error) {
	found, err := l.readRefs(ctx, tenant, noted)
	if err != nil {
		return nil, err
	}
	var rows []int // indexes into noted
	var refs []changeRef
	last := map[changeRef]int{} // the last index in refs
	for i := range noted {
		for _, ref := range found.of(refOf(&noted[i])) {
			last[ref] = len(refs)
			rows, refs = append(rows, i), append(refs, ref)
		}
	}
	var changes []Change
	for n, ref := range refs {
		change, there := found.changes[ref]
		if !there || last[ref] != n {
			continue
		}
		change.At = positionOf(&noted[rows[n]])
		change.Resume = change.At
		if before := len(changes) - 1; before >= 0 && changes[before].At == change.At {
			changes[before].Resume.Seq--
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// changedRows are the current rows that changes referred to.
type changedRows struct {
	changes map[changeRef]Change
	moved   map[payments.ID][]changeRef // the balances that a transaction moved
}

// The method of returns the references that a noted reference stands for, in the order in which a stream sends them. A
// booking stands for its transaction, its event and the balances that it moved. Any other reference stands for itself.
func (f *changedRows) of(ref changeRef) []changeRef {
	if ref.kind != bookingKind {
		return []changeRef{ref}
	}
	return append([]changeRef{{kind: transactionKind, id: ref.id}, {kind: eventKind, id: ref.id}}, f.moved[ref.id]...)
}

// readRefs reads the current state of the rows that noted changes name.
func (l *Ledger) readRefs(ctx context.Context, tenant int64, noted []sqlc.NextChangesRow) (*changedRows, error) {
	named := keysOf(noted)
	found := &changedRows{changes: map[changeRef]Change{}, moved: map[payments.ID][]changeRef{}}
	if named.clock != nil {
		clock, err := clocks.ReadClock(ctx, l.core.Tenant(tenant), tenant)
		if err != nil {
			return nil, err
		}
		found.changes[*named.clock] = Change{Clock: &clock}
	}
	if named.faults != nil {
		now, err := l.FaultsNow(ctx, tenant)
		if err != nil {
			return nil, err
		}
		found.changes[*named.faults] = Change{Faults: &now}
	}
	r := reading{batch: postgres.ScopeBatch{Planned: true}}
	found.queueTransactions(&r, tenant, &named)
	found.queueBalances(&r, tenant, &named)
	if err := l.read(ctx, tenant, &r); err != nil {
		return nil, err
	}
	var transactions []*payments.Transaction
	for _, change := range found.changes {
		if change.Transaction != nil {
			transactions = append(transactions, change.Transaction)
		}
	}
	return found, ledgerdb.AddSent(ctx, l.core.Tenant(tenant), tenant, transactions...)
}

// changedKeys are the rows that noted changes name, each once.
type changedKeys struct {
	ids        map[string][]pgtype.UUID // by kind
	attempts   map[string][]int32       // by kind: the attempt's number for each of ids
	currencies []string                 // of floats
	clock      *changeRef               // nil: the clock did not change
	faults     *changeRef               // nil: the faults did not change
}

func keysOf(noted []sqlc.NextChangesRow) changedKeys {
	named := changedKeys{ids: map[string][]pgtype.UUID{}, attempts: map[string][]int32{}}
	seen := map[changeRef]bool{}
	for i := range noted {
		ref := refOf(&noted[i])
		if seen[ref] {
			continue
		}
		seen[ref] = true
		named.ids[ref.kind] = append(named.ids[ref.kind], postgres.UUID(ref.id))
		named.attempts[ref.kind] = append(named.attempts[ref.kind], ref.attempt)
		switch ref.kind {
		case floatKind:
			named.currencies = append(named.currencies, ref.currency)
		case clockKind:
			named.clock = &ref
		case faultsKind:
			named.faults = &ref
		}
	}
	return named
}

// queueTransactions adds the statements that read transactions, events, callbacks and attempts.
func (f *changedRows) queueTransactions(r *reading, tenant int64, named *changedKeys) {
	ids, bookings := named.ids, named.ids[bookingKind]
	if of := slices.Concat(ids[transactionKind], bookings); of != nil {
		queueReading(r, f.addTransaction, tenant, changedTransactions, of)
	}
	f.queueEvents(r, tenant, changedEvents, slices.Concat(ids[eventKind], ids[resendKind], ids[attemptKind], bookings))
	if of := ids[attemptKind]; of != nil {
		queueReading(r, func(row *sqlc.DeliveryAttempt) {
			f.addAttempt(eventKind, attemptKind, row.EventID.Bytes, attemptOf(row))
		}, tenant, changedAttempts, of, named.attempts[attemptKind])
	}
	f.queueEvents(r, tenant, changedCallbacks, slices.Concat(ids[callbackKind], ids[callbackAttemptKind]))
	if of := ids[callbackAttemptKind]; of != nil {
		queueReading(r, func(row *sqlc.CallbackAttempt) {
			f.addAttempt(callbackKind, callbackAttemptKind, row.ID.Bytes, callbackAttemptOf(row))
		}, tenant, changedCallbackAttempts, of, named.attempts[callbackAttemptKind])
	}
}

// queueBalances adds the statements that read the balances of floats and SIMs: those named, and those that the named
// bookings moved.
func (f *changedRows) queueBalances(r *reading, tenant int64, named *changedKeys) {
	bookings := named.ids[bookingKind]
	if len(named.currencies)+len(bookings) > 0 {
		queueReading(r, func(row *changedFloat) {
			f.changes[changeRef{kind: floatKind, currency: row.Currency}] = Change{
				Balance: &Balance{Currency: row.Currency, Balance: row.Balance},
			}
		}, tenant, changedFloats, named.currencies, bookings)
	}
	if sims := named.ids[simKind]; len(sims)+len(bookings) > 0 {
		queueReading(r, func(row *changedSIM) {
			f.changes[changeRef{kind: simKind, id: row.ID.Bytes}] = Change{
				Balance: &Balance{MSISDN: row.MSISDN, Currency: row.Currency, Balance: row.Balance},
			}
		}, tenant, changedSIMs, sims, bookings)
	}
}

// queueEvents adds a statement that reads events, or callbacks.
func (f *changedRows) queueEvents(r *reading, tenant int64, sql string, of []pgtype.UUID) {
	if len(of) == 0 {
		return
	}
	queueReading(r, func(e *Event) {
		kind := eventKind
		if e.Callback {
			kind = callbackKind
		}
		f.changes[changeRef{kind: kind, id: e.ID}] = Change{Event: e}
		f.changes[changeRef{kind: resendKind, id: e.ID}] = Change{Event: e, Resent: true}
	}, tenant, sql, of)
}

func (f *changedRows) addTransaction(row *sqlc.Transaction) {
	t := ledgerdb.TransactionOf(row)
	f.changes[changeRef{kind: transactionKind, id: t.ID}] = Change{Transaction: t}
	if row.MerchantDelta != 0 {
		f.moved[t.ID] = append(f.moved[t.ID], changeRef{kind: floatKind, currency: row.FloatCurrency})
	}
	if row.SimDelta != 0 {
		f.moved[t.ID] = append(f.moved[t.ID], changeRef{kind: simKind, id: row.SimID.Bytes})
	}
}

func (f *changedRows) addAttempt(eventKind, attemptKind string, id payments.ID, attempt AttemptRecord) {
	if e, there := f.changes[changeRef{kind: eventKind, id: id}]; there {
		f.changes[changeRef{kind: attemptKind, id: id, attempt: int32(attempt.Number)}] = Change{Event: e.Event, Attempt: &attempt}
	}
}
