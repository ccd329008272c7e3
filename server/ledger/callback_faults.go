package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// callbackFault is the effect of a fault on the callback of a transaction.
type callbackFault struct {
	fault     *faults.Fault
	postponed bool // the callback waits and is not leased now
}

// decideCallbackFaults decides which faults apply to due callbacks, and records the decisions. So the same fault
// applies if another worker leases the callback later. decideCallbackFaults postpones the callbacks that a fault
// delays. No fault applies to a callback that was attempted before, such as one that a user sends again, or to a
// callback that belongs to no transaction. decideCallbackFaults runs no statement if neither a sandbox nor a test
// number has faults.
func decideCallbackFaults(
	ctx context.Context, q *sqlc.Queries, due []sqlc.LockDueCallbacksRow, about aboutTransactions,
) (map[ledgerdb.Key]callbackFault, error) {
	var callbacks []*sqlc.LockDueCallbacksRow
	var tenants []int64
	for i := range due {
		c := &due[i]
		of := about[ledgerdb.KeyOf(c.Tenant, c.TransactionID.Bytes)]
		if of != nil && c.Attempts == 0 && (c.WithFaults || numberFault(&of.Transaction) != nil) {
			callbacks, tenants = append(callbacks, c), append(tenants, c.Tenant)
		}
	}
	if len(callbacks) == 0 {
		return nil, nil
	}
	declared, err := readDeclared(ctx, q, tenants)
	if err != nil {
		return nil, err
	}
	decided := map[ledgerdb.Key]callbackFault{}
	var undecided []*sqlc.LockDueCallbacksRow
	var matches []faultcounts.Match
	for _, c := range callbacks {
		t := &about[ledgerdb.KeyOf(c.Tenant, c.TransactionID.Bytes)].Transaction
		of := declared[t.Tenant]
		if of == nil {
			continue // the faults were removed a moment ago
		}
		set := of.faultsOf(t)
		if c.Fault != nil {
			if f := set.Named(*c.Fault); f != nil && f.Operator != nil {
				decided[ledgerdb.KeyOf(t.Tenant, c.ID.Bytes)] = callbackFault{fault: f}
			}
			continue
		}
		target := targetOfTransaction(t, c.Seed, of.now)
		target.Kind = faults.AtCallback
		if fits := set.Matching(target); len(fits) > 0 {
			undecided, matches = append(undecided, c), append(matches, faultcounts.Match{Tenant: t.Tenant, Target: target, Fits: fits})
		}
	}
	if len(matches) == 0 {
		return decided, nil
	}
	return decided, decideCallbacks(ctx, q, undecided, matches, decided)
}

// decideCallbacks decides which faults apply to callbacks without a recorded decision.
func decideCallbacks(
	ctx context.Context, q *sqlc.Queries, due []*sqlc.LockDueCallbacksRow, matches []faultcounts.Match,
	decided map[ledgerdb.Key]callbackFault,
) error {
	counts, err := faultcounts.Hold(ctx, q, matches)
	if err != nil {
		return err
	}
	var withFault, postponed ledgerdb.Keys
	var names []string
	var dueAt []time.Time
	for i, p := range matches {
		acts := slices.IndexFunc(p.Fits, func(f *faults.Fault) bool { return counts.Act(p.Tenant, p.Target, f) })
		if acts < 0 {
			continue
		}
		f, id := p.Fits[acts], due[i].ID
		delay := f.OfCallback().Delay.Of()
		decided[ledgerdb.KeyOf(p.Tenant, id.Bytes)] = callbackFault{f, delay > 0}
		withFault.Add(p.Tenant, id)
		names = append(names, f.Name)
		if delay > 0 {
			postponed.Add(p.Tenant, id)
			dueAt = append(dueAt, p.Target.Now.Add(delay))
		}
	}
	if err := counts.Write(ctx, q); err != nil {
		return err
	}
	if withFault.Len() > 0 {
		if err := q.DecideCallbackFaults(ctx, withFault.Tenants, withFault.IDs, names); err != nil {
			return err
		}
	}
	if postponed.Len() == 0 {
		return nil
	}
	return q.PostponeCallbacks(ctx, postponed.Tenants, postponed.IDs, dueAt)
}

// SendCallbackAgain queues a sent callback once more for the same attempt, and ends its lease. It returns false, and
// changes nothing, if the lease had expired.
func (s *Deliveries) SendCallbackAgain(ctx context.Context, c *LeasedCallback) (leaseHeld bool, err error) {
	changed, err := s.core.Unscoped().SendCallbackAgain(ctx, c.Tenant, postgres.UUID(c.ID), c.Fence)
	return changed > 0, postgres.Classify(err, "sending a callback again")
}
