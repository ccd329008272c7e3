package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// TenantsToSettle returns the sandboxes with due transactions, in a different order each time. It leaves out suspended
// sandboxes.
func (s *Settler) TenantsToSettle(ctx context.Context) ([]queues.DueTenant, error) {
	rows, err := s.core.Polling().TenantsToSettle(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "looking for sandboxes with something to settle")
	}
	due := make([]queues.DueTenant, len(rows))
	for i, row := range rows {
		due[i] = queues.DueTenant{Tenant: row.Tenant, SweepFailed: row.SweepFailed}
	}
	return due, nil
}

// BatchCounts counts the transactions of a batch.
type BatchCounts struct {
	Claimed int  // due transactions
	Parked  int  // of these, waiting for the payer's answer until they expire
	Expired int  // of these, expired
	More    bool // more transactions may be due
}

// skipNotesFor is the number of due transactions from which on SkipNotes costs less than it saves.
const skipNotesFor = 20

// SettleDue settles due transactions of some sandboxes, up to perTenant of each: it sets their outcomes, moves the
// money, and adds the events, in one database transaction. An error in one sandbox fails all of them. A call skips the
// sandboxes that a concurrent call is settling. SettleDue fails if it waits for a lock longer than
// [postgres.LockLimited] allows.
func (s *Settler) SettleDue(ctx context.Context, tenants []queues.DueTenant, perTenant int) (BatchCounts, error) {
	var counts BatchCounts
	var settledTenants []int64
	var lags []settledLag
	err := s.core.InTxOf(ctx, postgres.LockLimited, func(q *sqlc.Queries) error {
		claimed, err := q.ClaimDueTransactions(ctx, int32(perTenant), queues.TenantsOf(tenants))
		if err != nil || len(claimed) == 0 {
			return err
		}
		if len(claimed) >= skipNotesFor {
			if err := q.SkipNotes(ctx); err != nil {
				return err
			}
		}
		slices.SortStableFunc(claimed, func(a, b sqlc.ClaimDueTransactionsRow) int { return a.DueAt.Compare(*b.DueAt) })
		held, err := lockBalances(ctx, q, claimed)
		if err != nil {
			return err
		}
		decisions, err := decideBatch(claimed, held, "")
		if err != nil {
			return err
		}
		counts = BatchCounts{Claimed: len(claimed), Parked: decisions.parked.Len(), Expired: decisions.expired, More: anyFull(claimed, perTenant)}
		settledTenants = decisions.params.Tenants
		lags = s.lags(claimed, decisions)
		return decisions.writeBatch(ctx, q)
	})
	s.core.Sandboxes.NoteActivity(settledTenants...) // after an error too: the answer to a commit may be lost
	if err != nil {
		return BatchCounts{}, postgres.Classify(err, "settling due transactions")
	}
	for _, one := range lags {
		s.onSettled(one.status, one.lag)
	}
	return counts, nil
}

// anyFull reports whether a sandbox had as many due transactions as were asked for, and so may have more.
func anyFull(claimed []sqlc.ClaimDueTransactionsRow, perTenant int) bool {
	given := map[int64]int{}
	for _, t := range claimed {
		if given[t.Tenant]++; given[t.Tenant] == perTenant {
			return true
		}
	}
	return false
}

// RequeueStuck finds pending transactions that have expired and that no worker would take any more, at most the number
// batch. It makes them due, and returns their number. Normally there are none.
func (s *Settler) RequeueStuck(ctx context.Context, batch int) (int, error) {
	woken, err := s.core.Unscoped().RequeueStuck(ctx, int32(batch))
	return int(woken), postgres.Classify(err, "looking for payments that were forgotten")
}

// tenantKey is the key of a SIM (its id) or of a float (its currency) among those of all tenants.
type tenantKey[T comparable] struct {
	tenant int64
	key    T
}

// lockedBalances are the balances that a batch may change. Their rows are locked until its database transaction ends.
type lockedBalances struct {
	payers map[tenantKey[[16]byte]]*payments.SIM // nil for a SIM that is gone
	floats map[tenantKey[string]]int64           // minor units
}

// lockBalances locks the SIMs and the floats of the transactions, in the order in which all callers lock them.
func lockBalances(ctx context.Context, q *sqlc.Queries, claimed []sqlc.ClaimDueTransactionsRow) (lockedBalances, error) {
	held := lockedBalances{map[tenantKey[[16]byte]]*payments.SIM{}, map[tenantKey[string]]int64{}}
	var sims ledgerdb.Keys
	var tenants []int64
	var currencies []string
	for _, t := range claimed {
		payer, float := tenantKey[[16]byte]{t.Tenant, t.SimID.Bytes}, tenantKey[string]{t.Tenant, t.FloatCurrency}
		if _, seen := held.payers[payer]; t.SimID.Valid && !seen {
			held.payers[payer] = nil
			sims.Add(t.Tenant, t.SimID)
		}
		if _, seen := held.floats[float]; !seen {
			held.floats[float] = 0
			tenants, currencies = append(tenants, t.Tenant), append(currencies, t.FloatCurrency)
		}
	}
	clear(held.floats)
	rows, err := q.LockBalances(ctx, tenants, sims.Tenants, sims.IDs, currencies)
	for _, row := range rows {
		if row.SimID.Valid {
			held.payers[tenantKey[[16]byte]{row.Tenant, row.SimID.Bytes}] = &payments.SIM{
				Operator: payments.Operator(row.Operator), Country: payments.Country(row.Country), Blocked: row.Blocked,
				Behavior: payments.Behavior(row.Behavior), Balance: row.Balance,
			}
		} else {
			held.floats[tenantKey[string]{row.Tenant, row.Currency}] = row.Balance
		}
	}
	return held, err
}

// batchDecisions are the decisions on the transactions of a batch, as the array arguments of a statement.
type batchDecisions struct {
	params sqlc.SettleTransactionsParams
	parked ledgerdb.Keys

	expired int // transactions that expired
}

// decideBatch sets the outcome of each transaction, in the order of the slice claimed. It updates the balances in held after
// each transaction, so that two payments of one batch cannot spend the same money. The parameter answer is the payer's
// answer by hand. If answer is empty, the behavior of each payer decides.
func decideBatch(claimed []sqlc.ClaimDueTransactionsRow, held lockedBalances, answer payments.Answer) (*batchDecisions, error) {
	d := &batchDecisions{}
	for _, t := range claimed {
		payer := held.payers[tenantKey[[16]byte]{t.Tenant, t.SimID.Bytes}]
		if payer != nil && !pays(payer, &t) {
			payer = nil
		}
		at := tenantKey[string]{t.Tenant, t.FloatCurrency}
		float, there := held.floats[at]
		total := t.NetAmount + t.Commission
		status := payments.SettlementFacts{
			CustomerTotal: total, Expired: t.Expired, TestBehavior: testBehavior(&t), Payer: payer, Answer: answer,
			FloatFull: float > payments.MaxBalance-t.NetAmount,
		}.Outcome()
		switch {
		case status == payments.Pending:
			d.parked.Add(t.Tenant, t.ID)
		case status == payments.Success && !there:
			return nil, fmt.Errorf("the sandbox has no float in %s", t.FloatCurrency)
		case status == payments.Success && payer == nil: // a test number
			held.floats[at] = float + t.NetAmount
			d.settle(t, status, t.NetAmount, float+t.NetAmount, 0, 0)
		case status == payments.Success:
			payer.Balance -= total
			held.floats[at] = float + t.NetAmount
			d.settle(t, status, t.NetAmount, float+t.NetAmount, -total, payer.Balance)
		default:
			d.settle(t, status, 0, 0, 0, 0)
		}
	}
	return d, nil
}

// pays reports whether a SIM is still one that the transaction can take money from. Its operator or country may have changed
// since, and with the country the currency of its balance. An operator's own API knows no SIM of another operator or country.
func pays(payer *payments.SIM, t *sqlc.ClaimDueTransactionsRow) bool {
	own := ledgerdb.NativeCall(t.RequestHash) != ""
	return string(payer.Currency()) == t.FloatCurrency && (!own || payer.Of(payments.Operator(t.Operator), payments.Country(t.Country)))
}

// testBehavior returns the behavior of the payer's test number; empty for none.
func testBehavior(t *sqlc.ClaimDueTransactionsRow) payments.Behavior {
	if t.TestBehavior == nil {
		return ""
	}
	return payments.Behavior(*t.TestBehavior)
}

// settle adds an outcome with the money that it moves, and the resulting balances.
func (d *batchDecisions) settle(
	t sqlc.ClaimDueTransactionsRow,
	status payments.Status,
	merchantDelta, merchantBalance, simDelta, simBalance int64,
) {
	if status == payments.Timeout {
		d.expired++
	}
	s := &d.params
	s.Tenants, s.Ids = append(s.Tenants, t.Tenant), append(s.Ids, t.ID)
	s.Statuses = append(s.Statuses, string(status))
	s.FloatCurrencies = append(s.FloatCurrencies, t.FloatCurrency)
	s.MerchantDeltas, s.MerchantBalances = append(s.MerchantDeltas, merchantDelta), append(s.MerchantBalances, merchantBalance)
	s.SimIds, s.SimDeltas, s.SimBalances = append(s.SimIds, t.SimID), append(s.SimDeltas, simDelta), append(s.SimBalances, simBalance)
}

func (d *batchDecisions) writeBatch(ctx context.Context, q *sqlc.Queries) error {
	if d.parked.Len() > 0 {
		if err := q.ParkTransactions(ctx, d.parked.Tenants, d.parked.IDs); err != nil {
			return err
		}
	}
	if len(d.params.Ids) == 0 {
		return nil
	}
	return q.SettleTransactions(ctx, d.params)
}
