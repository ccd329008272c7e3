// Package faultcounts counts how often faults have applied, and to what.
package faultcounts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Faults counts the faults of all sandboxes.
type Faults struct{ core ledgerdb.Core }

// New returns the counts of a database.
func New(core ledgerdb.Core) *Faults { return &Faults{core} }

// ActFault returns the first fault in fits that may apply now, and counts it. It returns nil if no fault may apply. A
// fault may not apply if it has applied as often as it may, if it has applied to this reference before, or if it was
// not drawn. ActFault returns [postgres.ErrConfigChanged] if the configuration of the sandbox has changed.
func (s *Faults) ActFault(ctx context.Context, tenant int64, p *faults.Target, fits []*faults.Fault) (acts *faults.Fault, err error) {
	if len(fits) == 0 {
		return nil, nil
	}
	err = s.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		acts = nil
		counts, err := Hold(ctx, q, []Match{{tenant, p, fits}})
		if err != nil {
			return err
		}
		for _, f := range fits {
			if counts.Act(tenant, p, f) {
				acts = f
				break
			}
		}
		return counts.Write(ctx, q)
	})
	if err != nil {
		return nil, postgres.ClassifyWrite(err, "counting a fault")
	}
	s.core.Sandboxes.NoteActivity(tenant)
	return acts, nil
}

// CountFaultRequest counts a request with a reference, and returns the new count.
func (s *Faults) CountFaultRequest(ctx context.Context, tenant int64, reference string) (int, error) {
	requests, err := s.core.Tenant(tenant).CountFaultRequest(ctx, reference, tenant)
	return int(requests), postgres.ClassifyWrite(err, "counting the requests with a reference")
}

// Match is a target in a sandbox, with the faults that match it.
type Match struct {
	Tenant int64
	Target *faults.Target
	Fits   []*faults.Fault
}

type faultKey struct {
	tenant int64
	name   string // [faults.Fault.CountName]
}

type faultActKey struct {
	faultKey
	reference string
}

// faultCount is how often a fault applied and was drawn, before and in this database transaction.
type faultCount struct {
	acts, draws       int64
	newActs, newDraws int64
	lastAt            time.Time
}

// Counts are the counts of some faults, locked until the database transaction ends.
type Counts struct {
	counts map[faultKey]*faultCount
	acted  map[faultActKey]bool // true: in this database transaction
}

// Hold locks the counts of the faults that may apply to some targets, until the database transaction ends.
func Hold(ctx context.Context, q *sqlc.Queries, matches []Match) (*Counts, error) {
	held := map[faultKey]*faults.Fault{}
	once := map[faultActKey]bool{}
	for _, p := range matches {
		for _, f := range p.Fits {
			key := faultKey{p.Tenant, f.CountName()}
			held[key] = f
			if f.Once(p.Target) {
				once[faultActKey{key, p.Target.Key()}] = true
			}
		}
	}
	var tenants []int64
	var names []string
	var digests [][]byte
	for key, f := range held {
		tenants, names, digests = append(tenants, key.tenant), append(names, key.name), append(digests, f.Digest())
	}
	rows, err := q.HoldFaultCounts(ctx, tenants, names, digests)
	if err != nil {
		return nil, err
	}
	c := &Counts{counts: map[faultKey]*faultCount{}}
	for _, row := range rows {
		c.counts[faultKey{row.Tenant, row.Name}] = &faultCount{acts: row.Acts, draws: row.Draws}
	}
	c.acted, err = actedFaults(ctx, q, once)
	return c, err
}

// actedFaults returns the keys of the faults that applied before.
func actedFaults(ctx context.Context, q *sqlc.Queries, once map[faultActKey]bool) (map[faultActKey]bool, error) {
	acted := map[faultActKey]bool{}
	if len(once) == 0 {
		return acted, nil
	}
	var k faultActKeys
	for key := range once {
		k.add(key)
	}
	rows, err := q.ActedFaults(ctx, k.tenants, k.names, k.references)
	for _, row := range rows {
		acted[faultActKey{faultKey{row.Tenant, row.Name}, row.Reference}] = false
	}
	return acted, err
}

// faultActKeys are keys as the array arguments of a statement.
type faultActKeys struct {
	tenants           []int64
	names, references []string
}

func (k *faultActKeys) add(key faultActKey) {
	k.tenants, k.names, k.references = append(k.tenants, key.tenant), append(k.names, key.name), append(k.references, key.reference)
}

// Act reports whether the counts of a fault allow it to apply to a target. If so, it increments them.
// [Counts.Write] stores them.
func (c *Counts) Act(tenant int64, p *faults.Target, f *faults.Fault) bool {
	key := faultKey{tenant, f.CountName()}
	count := c.counts[key]
	once := faultActKey{key, p.Key()}
	if _, acted := c.acted[once]; acted && f.Once(p) {
		return p.GoesOn()
	}
	if f.When.First != 0 && count.acts+count.newActs >= f.When.First {
		return false
	}
	if f.DrawsByCount(p.Key()) {
		drawn := f.DrawnAs(count.draws+count.newDraws, p.Draws)
		count.newDraws++
		if !drawn {
			return false
		}
	}
	if f.Once(p) {
		c.acted[once] = true
	}
	count.newActs++
	count.lastAt = p.Now
	return true
}

// Write stores the new counts.
func (c *Counts) Write(ctx context.Context, q *sqlc.Queries) error {
	var params sqlc.CountFaultsParams
	for _, key := range slices.SortedFunc(maps.Keys(c.counts), compareFaultKeys) {
		count := c.counts[key]
		if count.newActs == 0 && count.newDraws == 0 {
			continue
		}
		params.Tenants, params.Names = append(params.Tenants, key.tenant), append(params.Names, key.name)
		params.Acts, params.Draws = append(params.Acts, count.newActs), append(params.Draws, count.newDraws)
		params.LastAt = append(params.LastAt, count.lastAt)
	}
	if len(params.Tenants) > 0 {
		if err := q.CountFaults(ctx, params); err != nil {
			return err
		}
	}
	var k faultActKeys
	for key, now := range c.acted {
		if now {
			k.add(key)
		}
	}
	if len(k.tenants) == 0 {
		return nil
	}
	return q.NoteFaultActs(ctx, k.tenants, k.names, k.references)
}

func compareFaultKeys(a, b faultKey) int {
	return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.name, b.name))
}
