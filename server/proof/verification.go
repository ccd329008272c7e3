package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// verificationBatch bounds the movements that one statement reads.
	verificationBatch = 5000
	// verificationPause is the time between two verifications of a sandbox in which something happens.
	verificationPause = 30 * time.Second
	// verificationLease is the lease of a worker that verifies a sandbox. The worker renews it with every batch.
	verificationLease = time.Minute
	// passPeriod is the longest time between two passes over the whole ledger of a sandbox. The period is shortened at
	// random by up to a quarter, to spread the passes of the sandboxes over time.
	passPeriod = 24 * time.Hour
)

// errLeaseLost ends a verification when another worker has its lease, or when the sandbox is gone. The result of that
// verification is dropped: the other worker verifies again.
var errLeaseLost = errors.New("the lease of the verification was lost")

// Proofs verifies that every balance follows from its movements.
type Proofs struct {
	core
	sandboxes *sandboxes.Registry
	chance    func() float64
	batch     int64
}

// NewProofs returns a [Proofs] on a database. The function chance returns random numbers in [0, 1). They spread the
// passes of the sandboxes over time.
func NewProofs(db *postgres.DB, store *sandboxes.Registry, chance func() float64) *Proofs {
	return &Proofs{core{db}, store, chance, verificationBatch}
}

// TenantsToVerify returns sandboxes whose ledger is due to be verified, at most the number batch.
func (p *Proofs) TenantsToVerify(ctx context.Context, batch int) ([]queues.DueTenant, error) {
	rows, err := p.unscoped().TenantsToVerify(ctx, postgres.Milliseconds(verificationPause), int32(batch))
	if err != nil {
		return nil, postgres.Classify(err, "looking for ledgers to verify")
	}
	due := make([]queues.DueTenant, len(rows))
	for i, row := range rows {
		due[i] = queues.DueTenant{Tenant: row.Tenant, SweepFailed: row.SweepFailed}
	}
	return due, nil
}

// VerifiedLedger is the result of a verification.
type VerifiedLedger struct {
	Passed  bool     // it was a pass: the whole ledger was verified, not only the movements since the last time
	Changed bool     // the last pass had another result, or this is the first
	Broken  []string // after a pass, a text for each account whose balance does not follow from its movements
}

// Verify verifies the ledger of a sandbox: the movements since the last time, or all movements if a pass is due or if a
// balance does not follow from its movements. It reads the ledger in short statements and locks no balance. It returns
// nil and no error if another worker has the lease of the sandbox, or if the sandbox is gone.
func (p *Proofs) Verify(ctx context.Context, tenant int64) (*VerifiedLedger, error) {
	lease, err := p.unscoped().LeaseProof(ctx, postgres.Milliseconds(verificationLease), tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, postgres.Classify(err, "leasing the verification of a ledger")
	}
	v := &verification{core: p.core, tenant: tenant, fence: lease.Fence, batch: p.batch, pass: lease.PassDue}
	err = v.run(ctx)
	if err == nil && !v.pass && !v.holds() {
		v = &verification{core: p.core, tenant: tenant, fence: lease.Fence, batch: p.batch, pass: true}
		err = v.run(ctx)
	}
	var result *VerifiedLedger
	if err == nil {
		result, err = v.writeResult(ctx, lease.Began, p.nextPass())
	}
	if errors.Is(err, errLeaseLost) {
		return nil, nil
	}
	if err != nil {
		return nil, postgres.Classify(err, "verifying a ledger")
	}
	if result.Changed {
		p.sandboxes.NoteActivity(tenant)
	}
	return result, nil
}

func (p *Proofs) nextPass() time.Duration {
	return time.Duration((1 - p.chance()/4) * float64(passPeriod))
}

// verification is one run over the ledger of a sandbox.
type verification struct {
	core
	tenant int64
	fence  int64
	batch  int64
	pass   bool // it begins at the first movement of each account

	at     time.Time // the moment of the snapshot
	floats map[string]*chain
	sims   map[[16]byte]*chain
	read   map[string]int64 // by currency, the number of the last movement of the float that was read
}

// run follows all chains up to the balances of one snapshot. Numbered movements never change. So run first reads a long
// backlog in separate short statements. In the snapshot with the balances, it reads only the rest.
func (v *verification) run(ctx context.Context) error {
	v.floats, v.sims, v.read = map[string]*chain{}, map[[16]byte]*chain{}, map[string]int64{}
	for {
		var far bool
		err := v.inTx(ctx, postgres.Snapshot, func(q *sqlc.Queries) (err error) {
			far, err = v.compare(ctx, q)
			return err
		})
		if err != nil || !far {
			return err
		}
		if err := v.catchUp(ctx); err != nil {
			return err
		}
	}
}

// catchUp reads the movements of each float up to the number of its latest one.
func (v *verification) catchUp(ctx context.Context) error {
	q := v.unscoped()
	floats, _, err := v.beginChains(ctx, q)
	if err != nil {
		return err
	}
	if err := v.followAdjustments(ctx, q); err != nil {
		return err
	}
	for _, float := range floats {
		for v.read[float.Currency] < float.Movements {
			began := v.db.Now()
			upTo := min(v.read[float.Currency]+v.batch, float.Movements)
			if err := v.followFloat(ctx, q, float.Currency, upTo); err != nil {
				return err
			}
			if err := v.renewLease(ctx, began); err != nil {
				return err
			}
		}
	}
	return nil
}

// renewLease renews the lease after a batch, or returns errLeaseLost. In a pass it then sleeps for as long as the batch
// took, to leave the database to others.
func (v *verification) renewLease(ctx context.Context, began time.Time) error {
	held, err := v.unscoped().RenewProofLease(ctx, postgres.Milliseconds(verificationLease), v.tenant, v.fence)
	if err != nil {
		return err
	}
	if held == 0 {
		return errLeaseLost
	}
	if !v.pass {
		return nil
	}
	timer := time.NewTimer(min(v.db.Now().Sub(began), verificationLease/4))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// compare follows the chains to their ends in one snapshot. If a float has more than two batches of movements left,
// compare reads none of them and returns far=true.
func (v *verification) compare(ctx context.Context, q *sqlc.Queries) (far bool, err error) {
	if v.at, err = q.VerificationTime(ctx); err != nil {
		return false, err
	}
	floats, sims, err := v.beginChains(ctx, q)
	if err != nil {
		return false, err
	}
	for _, float := range floats {
		if float.Movements-v.read[float.Currency] > 2*v.batch {
			return true, nil
		}
	}
	for _, float := range floats {
		if err := v.followFloat(ctx, q, float.Currency, math.MaxInt64); err != nil {
			return false, err
		}
	}
	if err := v.followAdjustments(ctx, q); err != nil {
		return false, err
	}
	for _, float := range floats {
		v.floats[float.Currency].end(float.Balance, float.Movements)
	}
	there := map[[16]byte]bool{}
	for _, sim := range sims {
		there[sim.SimID.Bytes] = true
		v.sims[sim.SimID.Bytes].end(sim.Balance, sim.Movements)
	}
	maps.DeleteFunc(v.sims, func(sim [16]byte, _ *chain) bool { return !there[sim] }) // deleted meanwhile
	return false, nil
}

// beginChains returns the floats and SIMs that are to be verified, and makes a chain for each that has none yet. A
// chain begins after the last verified movement, or in a pass at the first movement.
func (v *verification) beginChains(
	ctx context.Context, q *sqlc.Queries,
) (floats []sqlc.FloatsToVerifyRow, sims []sqlc.SIMsToVerifyRow, err error) {
	if floats, err = q.FloatsToVerify(ctx, v.tenant); err != nil {
		return nil, nil, err
	}
	if sims, err = q.SIMsToVerify(ctx, v.tenant, v.pass); err != nil {
		return nil, nil, err
	}
	unknown := map[string]*chain{}
	for _, float := range floats {
		if v.floats[float.Currency] == nil {
			v.floats[float.Currency] = &chain{}
			unknown[float.Currency] = v.floats[float.Currency]
		}
	}
	for _, sim := range sims {
		if v.sims[sim.SimID.Bytes] == nil {
			v.sims[sim.SimID.Bytes] = &chain{}
			unknown[sim.SimID.String()] = v.sims[sim.SimID.Bytes]
		}
	}
	if v.pass || len(unknown) == 0 {
		return floats, sims, nil
	}
	proofs, err := q.ListAccountProofs(ctx, v.tenant, slices.Collect(maps.Keys(unknown)))
	if err != nil {
		return nil, nil, err
	}
	for _, p := range proofs {
		c := unknown[p.Account]
		c.number, c.balance, c.opened = p.VerifiedUpTo, p.Balance, true
		c.totals = AccountTotals{p.Opening, p.Adjustments, p.Collections, p.Refunds, p.Disbursements}
		if p.BrokenAfter != nil {
			c.former = &Imbalance{Amount: p.Imbalance, After: *p.BrokenAfter, Before: orNone(p.BrokenBefore)}
		}
		if !p.SimID.Valid {
			v.read[p.Account] = p.VerifiedUpTo
		}
	}
	return floats, sims, nil
}

// followFloat reads the next movements of a float, up to the number upTo, and adds them to the float's chain. It adds
// the movements of SIMs by the same transactions to the chains of these SIMs.
func (v *verification) followFloat(ctx context.Context, q *sqlc.Queries, currency string, upTo int64) error {
	rows, err := q.FloatMovements(ctx, v.tenant, currency, v.read[currency], upTo)
	if err != nil {
		return err
	}
	float := v.floats[currency]
	for _, row := range rows {
		float.add(movement{movementKind(row.Kind), row.Number, row.Delta, row.BalanceAfter})
		if sim := v.sims[row.SimID.Bytes]; row.SimDelta != 0 && sim != nil && row.SimBalanceAfter != nil {
			sim.addWhenNext(movement{movementKind(row.Kind), row.SimNumber, row.SimDelta, *row.SimBalanceAfter})
		}
		v.read[currency] = max(v.read[currency], row.Number)
	}
	if upTo != math.MaxInt64 {
		v.read[currency] = upTo
	}
	return nil
}

// simBatch is the maximum number of SIMs whose adjustments one statement reads.
const simBatch = 1000

// followAdjustments reads the adjustments of the SIMs and adds them to the SIMs' chains.
func (v *verification) followAdjustments(ctx context.Context, q *sqlc.Queries) error {
	for sims := range slices.Chunk(slices.Collect(maps.Keys(v.sims)), simBatch) {
		var ids []pgtype.UUID
		var after []int64
		for _, sim := range sims {
			ids, after = append(ids, postgres.UUID(sim)), append(after, v.sims[sim].number)
		}
		rows, err := q.SIMAdjustments(ctx, ids, after, v.tenant)
		if err != nil {
			return err
		}
		for _, row := range rows {
			v.sims[row.SimID.Bytes].addWhenNext(movement{adjustment, row.Number, row.Delta, row.BalanceAfter})
		}
	}
	return nil
}

// holds reports whether no chain has a break. Outside of a pass, chains begin after the last verified movement, so
// earlier breaks do not count.
func (v *verification) holds() bool {
	for _, c := range v.floats {
		if !c.holds() {
			return false
		}
	}
	for _, c := range v.sims {
		if !c.holds() {
			return false
		}
	}
	return true
}

// noNumber is passed to a statement in place of the number of a movement, where there is no movement.
const noNumber = -1

func orNone(number *int64) int64 {
	if number == nil {
		return 0
	}
	return *number
}

// writeResult records how far the chains were followed, and the result of a pass, and ends the lease. It records
// nothing and returns errLeaseLost if another worker has the lease.
func (v *verification) writeResult(ctx context.Context, began time.Time, nextPass time.Duration) (*VerifiedLedger, error) {
	result := &VerifiedLedger{Passed: v.pass}
	finish := sqlc.FinishProofParams{
		Tenant: v.tenant, Fence: v.fence, VerifiedAt: v.at, NextPassMs: postgres.Milliseconds(nextPass),
	}
	p := sqlc.KeepAccountProofsParams{Tenant: v.tenant, VerifiedAt: v.at}
	var imbalance int64
	add := func(account string, sim pgtype.UUID, c *chain) {
		found := c.former
		if v.pass {
			found = c.verdict()
		}
		after, before, amount := int64(noNumber), int64(noNumber), int64(0)
		if found != nil {
			result.Broken = append(result.Broken, found.String(account))
			after, amount = found.After, found.Amount
			imbalance += max(amount, -amount)
			if found.Before > 0 {
				before = found.Before
			}
		}
		p.Accounts, p.SimIds = append(p.Accounts, account), append(p.SimIds, sim)
		p.VerifiedUpTo, p.Balances = append(p.VerifiedUpTo, c.number), append(p.Balances, c.balance)
		p.Openings, p.Adjustments = append(p.Openings, c.totals.Opening), append(p.Adjustments, c.totals.Adjustments)
		p.Collections, p.Refunds = append(p.Collections, c.totals.Collections), append(p.Refunds, c.totals.Refunds)
		p.Disbursements = append(p.Disbursements, c.totals.Disbursements)
		p.Imbalances = append(p.Imbalances, amount)
		p.BrokenAfter, p.BrokenBefore = append(p.BrokenAfter, after), append(p.BrokenBefore, before)
	}
	for _, currency := range slices.Sorted(maps.Keys(v.floats)) {
		add(currency, pgtype.UUID{}, v.floats[currency])
	}
	for _, sim := range slices.SortedFunc(maps.Keys(v.sims), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }) {
		add(postgres.UUID(sim).String(), postgres.UUID(sim), v.sims[sim])
	}
	if v.pass {
		broken := int32(len(result.Broken))
		finish.PassBegan, finish.Broken, finish.Imbalance = &began, &broken, &imbalance
	}
	return result, v.inTx(ctx, postgres.IdleLimited, func(q *sqlc.Queries) error {
		before, err := q.FinishProof(ctx, finish)
		if errors.Is(err, pgx.ErrNoRows) {
			return errLeaseLost
		}
		if err != nil {
			return err
		}
		result.Changed = v.pass && (before.First || before.Broken != *finish.Broken || before.Imbalance != imbalance)
		if err := q.KeepAccountProofs(ctx, p); err != nil || !v.pass {
			return err
		}
		return q.ForgetAccountProofs(ctx, v.tenant, v.at)
	})
}

// String returns a text that says what is wrong with the balance of an account.
func (i *Imbalance) String(account string) string {
	where := fmt.Sprintf("between the movements %d and %d", i.After, i.Before)
	if i.Before == 0 {
		where = fmt.Sprintf("after the movement %d, the last one", i.After)
	}
	switch {
	case i.Amount > 0:
		return fmt.Sprintf("%s is %d above the sum of its movements, %s", account, i.Amount, where)
	case i.Amount < 0:
		return fmt.Sprintf("%s is %d below the sum of its movements, %s", account, -i.Amount, where)
	}
	return fmt.Sprintf("the numbers of the movements of %s do not follow, %s", account, where)
}
