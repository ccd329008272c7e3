package ledger

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// outOfOrderWait is the longest time, in sandbox time, that an event waits until the next event of its sandbox is sent.
const outOfOrderWait = time.Minute

// eventFault is the effect of faults on the next attempt of an event.
type eventFault struct {
	fault      *faults.Fault // nil: none applies
	sent       int           // how often the event was already sent in this attempt, because of fault
	outOfOrder bool          // a fault of the sandbox sends events out of order: another event may wait for this one
	dueAt      *time.Time    // the event waits until then, and is not leased now; nil: it does not wait
}

// declaredFaults are the faults of a sandbox at the present moment.
type declaredFaults struct {
	set        faults.Set
	now        time.Time // sandbox time
	outOfOrder bool      // one of the faults sends events out of order
}

// faultsOf returns the faults that may apply to an event: the faults of its sandbox, then the fault of its test number.
func (d *declaredFaults) faultsOf(t *sqlc.Transaction) faults.Set {
	if f := numberFault(t); f != nil {
		return append(slices.Clip(d.set), *f)
	}
	return d.set
}

func faultOfNumber(e *sqlc.LockDueEventsRow) *faults.Fault { return numberFault(&e.Transaction) }

// numberFault returns the fault of the test number of a transaction, nil for none.
func numberFault(t *sqlc.Transaction) *faults.Fault {
	return faults.OfTestNumber(payments.Behavior(ledgerdb.OrEmpty(t.TestBehavior)))
}

// eventFaults decides which faults apply to the events that one database transaction has locked.
type eventFaults struct {
	q        *sqlc.Queries
	declared map[int64]*declaredFaults
	decided  map[ledgerdb.Key]*eventFault
}

// decideEventFaults decides which faults apply to due events, and records the decisions. So the same fault applies if
// another worker leases the event later. decideEventFaults postpones the events that a fault delays. No fault applies
// to an event that a user sends again. It runs no statement if neither a sandbox nor a test number has faults.
func decideEventFaults(ctx context.Context, q *sqlc.Queries, due []sqlc.LockDueEventsRow) (map[ledgerdb.Key]*eventFault, error) {
	var events []*sqlc.LockDueEventsRow
	for i := range due {
		if (due[i].WithFaults || faultOfNumber(&due[i]) != nil) && wantsEvent(&due[i]) {
			events = append(events, &due[i])
		}
	}
	if len(events) == 0 {
		return nil, nil
	}
	if err := q.PlanEachTime(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(events, func(a, b *sqlc.LockDueEventsRow) int { return bytes.Compare(a.ID.Bytes[:], b.ID.Bytes[:]) })
	var tenants []int64
	for _, e := range events {
		tenants = append(tenants, e.Tenant)
	}
	declared, err := readDeclared(ctx, q, tenants)
	if err != nil {
		return nil, err
	}
	d := &eventFaults{q: q, declared: declared, decided: map[ledgerdb.Key]*eventFault{}}
	undecided, err := d.useDecided(ctx, events)
	if err != nil {
		return nil, err
	}
	return d.decided, d.decideFaults(ctx, undecided)
}

// readDeclared reads the faults of some sandboxes.
func readDeclared(ctx context.Context, q *sqlc.Queries, tenants []int64) (map[int64]*declaredFaults, error) {
	slices.Sort(tenants)
	rows, err := q.DeclaredFaults(ctx, slices.Compact(tenants))
	if err != nil {
		return nil, err
	}
	declared := map[int64]*declaredFaults{}
	for _, row := range rows {
		set, err := faultsOf(&row)
		if err != nil {
			return nil, err
		}
		outOfOrder := slices.ContainsFunc(set, func(f faults.Fault) bool { return f.Webhook != nil && f.Webhook.OutOfOrder })
		declared[row.Tenant] = &declaredFaults{set, row.Now, outOfOrder}
	}
	return declared, nil
}

// faultsOf returns the faults that were set in a sandbox, and then those of its resource.
func faultsOf(row *sqlc.DeclaredFaultsRow) (set faults.Set, err error) {
	for i, number := range row.Numbers {
		f, err := faults.ParseSet(number, []byte(row.Entries[i]), time.Time{}) // the statement leaves out what has ended
		if err != nil {
			return nil, err
		}
		set = append(set, f)
	}
	declared, err := faults.Parse(row.Faults)
	return append(set, declared...), err
}

// useDecided applies the decisions that earlier leases recorded about the next attempt. It returns the events without
// such a decision.
func (d *eventFaults) useDecided(ctx context.Context, events []*sqlc.LockDueEventsRow) (undecided []*sqlc.LockDueEventsRow, err error) {
	var keys, waited ledgerdb.Keys
	for _, e := range events {
		keys.Add(e.Tenant, e.ID)
	}
	rows, err := d.q.DecidedEventFaults(ctx, keys.Tenants, keys.IDs)
	if err != nil {
		return nil, err
	}
	decided := map[ledgerdb.Key]*sqlc.EventFault{}
	for i := range rows {
		decided[ledgerdb.KeyOf(rows[i].Tenant, rows[i].EventID.Bytes)] = &rows[i]
	}
	for _, e := range events {
		declared := d.declared[e.Tenant]
		if declared == nil {
			continue // the faults were removed a moment ago
		}
		key := ledgerdb.KeyOf(e.Tenant, e.ID.Bytes)
		d.decided[key] = &eventFault{outOfOrder: declared.outOfOrder}
		before := decided[key]
		switch {
		case e.Resent:
		case before == nil || before.Attempt != e.Attempts+1:
			undecided = append(undecided, e)
		default:
			if f := declared.faultsOf(&e.Transaction).Named(before.Name); f != nil && f.Webhook != nil {
				d.decided[key].fault, d.decided[key].sent = f, int(before.Sent)
			}
			if before.AwaitsNext {
				waited.Add(e.Tenant, e.ID)
			}
		}
	}
	if waited.Len() == 0 {
		return undecided, nil
	}
	return undecided, d.q.EndWaits(ctx, waited.Tenants, waited.IDs)
}

// decideFaults decides which faults apply to the next attempt of events, and records the decisions.
func (d *eventFaults) decideFaults(ctx context.Context, events []*sqlc.LockDueEventsRow) error {
	var fitting []*sqlc.LockDueEventsRow
	var matches []faultcounts.Match
	for _, e := range events {
		declared := d.declared[e.Tenant]
		target := targetOf(e, declared.now)
		if fits := declared.faultsOf(&e.Transaction).Matching(target); len(fits) > 0 {
			fitting, matches = append(fitting, e), append(matches, faultcounts.Match{Tenant: e.Tenant, Target: target, Fits: fits})
		}
	}
	if len(matches) == 0 {
		return nil
	}
	counts, err := faultcounts.Hold(ctx, d.q, matches)
	if err != nil {
		return err
	}
	awaiting, err := d.awaiting(ctx, matches)
	if err != nil {
		return err
	}
	var decided sqlc.DecideEventFaultsParams
	var postponed ledgerdb.Keys
	var dueAt []time.Time
	for i, p := range matches {
		f := chooseFault(counts, p, awaiting)
		if f == nil {
			continue
		}
		e := fitting[i]
		fault := d.decided[ledgerdb.KeyOf(e.Tenant, e.ID.Bytes)]
		fault.fault = f
		notBefore := p.Target.Now.Add(f.Webhook.Delay.Of())
		decided.Tenants, decided.Ids = append(decided.Tenants, e.Tenant), append(decided.Ids, e.ID)
		decided.Attempts, decided.Names = append(decided.Attempts, e.Attempts+1), append(decided.Names, f.Name)
		decided.NotBefore, decided.AwaitsNext = append(decided.NotBefore, notBefore), append(decided.AwaitsNext, f.Webhook.OutOfOrder)
		until := notBefore
		if f.Webhook.OutOfOrder {
			awaiting[e.Tenant] = true
			until = until.Add(outOfOrderWait)
		}
		if until.After(p.Target.Now) {
			fault.dueAt = &until
			postponed.Add(e.Tenant, e.ID)
			dueAt = append(dueAt, until)
		}
	}
	if err := counts.Write(ctx, d.q); err != nil {
		return err
	}
	if len(decided.Ids) > 0 {
		if err := d.q.DecideEventFaults(ctx, decided); err != nil {
			return err
		}
	}
	if postponed.Len() == 0 {
		return nil
	}
	return d.q.PostponeEvents(ctx, postponed.Tenants, postponed.IDs, dueAt)
}

// chooseFault returns the first fault that applies, and counts it; nil for none. While an event of a sandbox waits for
// the next one, no fault sends another event of the sandbox out of order.
func chooseFault(counts *faultcounts.Counts, p faultcounts.Match, awaiting map[int64]bool) *faults.Fault {
	for _, f := range p.Fits {
		if f.Webhook.OutOfOrder && awaiting[p.Tenant] {
			continue
		}
		if counts.Act(p.Tenant, p.Target, f) {
			return f
		}
	}
	return nil
}

// awaiting returns the sandboxes in which an event waits for the next one. It must run after faultcounts.Hold: without
// these locks, two workers could make two events wait for each other.
func (d *eventFaults) awaiting(ctx context.Context, matches []faultcounts.Match) (map[int64]bool, error) {
	var tenants []int64
	for _, p := range matches {
		if d.declared[p.Tenant].outOfOrder {
			tenants = append(tenants, p.Tenant)
		}
	}
	awaiting := map[int64]bool{}
	if len(tenants) == 0 {
		return awaiting, nil
	}
	found, err := d.q.AwaitingTenants(ctx, tenants)
	for _, tenant := range found {
		awaiting[tenant] = true
	}
	return awaiting, err
}

func targetOf(e *sqlc.LockDueEventsRow, now time.Time) *faults.Target {
	p := targetOfTransaction(&e.Transaction, e.Seed, now)
	p.Event, p.Attempt = e.Transaction.Type.Event(), int(e.Attempts)+1
	return p
}

func targetOfTransaction(t *sqlc.Transaction, seed *int64, now time.Time) *faults.Target {
	return &faults.Target{
		Type: t.Type, Status: t.Status, Operator: payments.Operator(t.Operator), Country: payments.Country(t.Country), Store: t.Store,
		MSISDN: t.MSISDN, Reference: t.Reference, Now: now, Draws: faults.DrawsOf(seed, t.Tenant),
	}
}

// SendAgain queues a sent event once more for the same attempt, and ends its lease. The event is due after spacing, in
// sandbox time. SendAgain returns false, and changes nothing, if the lease had expired.
func (s *Deliveries) SendAgain(ctx context.Context, e *LeasedEvent, spacing time.Duration) (leaseHeld bool, err error) {
	changed, err := s.core.Unscoped().SendEventAgain(ctx, postgres.Milliseconds(spacing), e.Tenant, postgres.UUID(e.ID), e.Fence)
	return changed > 0, postgres.Classify(err, "sending an event again")
}

// noteFaults records the faults of attempts. If an event waits for one of the sent events, it becomes due. The
// parameter ordinals has the positions in finished, counted from 1, of the attempts whose lease was held.
func noteFaults(ctx context.Context, q *sqlc.Queries, finished []FinishedAttempt, ordinals []int32) error {
	var withFault, sent ledgerdb.Keys
	var names []string
	var copied ledgerdb.Keys
	var attempts []int32
	var copies []string
	for _, ordinal := range ordinals {
		e := finished[ordinal-1].Event
		if stored := storedCopies(finished[ordinal-1].Copies); stored != nil {
			copied.Add(e.Tenant, postgres.UUID(e.ID))
			attempts, copies = append(attempts, int32(e.Attempts)+1), append(copies, string(stored))
		}
		if e.Fault != nil {
			withFault.Add(e.Tenant, postgres.UUID(e.ID))
			names = append(names, e.Fault.Name)
		}
		if e.OutOfOrder && (e.Fault == nil || !e.Fault.Webhook.Drop) {
			sent.Add(e.Tenant, postgres.UUID(e.ID))
		}
	}
	if withFault.Len() > 0 {
		if err := q.NoteFaults(ctx, withFault.Tenants, withFault.IDs, names); err != nil {
			return err
		}
	}
	if copied.Len() > 0 {
		if err := q.NoteCopies(ctx, copied.Tenants, copied.IDs, attempts, copies); err != nil {
			return err
		}
	}
	if sent.Len() == 0 {
		return nil
	}
	return q.ReleaseAwaiting(ctx, sent.Tenants, sent.IDs)
}
