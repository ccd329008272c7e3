package store

import (
	"context"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// Settled counts what a batch came to.
type Settled struct {
	Claimed int // transactions that were due
	Parked  int // of these, the ones whose payer has not answered: they wait for their expiry
}

// SettleDue gives up to batch due transactions their outcome, with the money that it moves and the events that it owes, in
// one database transaction. Any number of callers may work at once; each gets different transactions.
func (s *Store) SettleDue(ctx context.Context, batch int) (Settled, error) {
	var counts Settled
	err := s.inTx(ctx, func(q *db.Queries) error {
		due, err := q.ClaimDueTransactions(ctx, int32(batch))
		if err != nil || len(due) == 0 {
			return err
		}
		payers, err := lockPayers(ctx, q, due)
		if err != nil {
			return err
		}
		outcomes := decide(due, payers)
		counts = Settled{Claimed: len(due), Parked: outcomes.parked.len()}
		return outcomes.write(ctx, q)
	})
	return counts, classify(err, "settling due transactions")
}

// account names a SIM or a float within all tenants.
type account[T comparable] struct {
	tenant int64
	key    T
}

type payers map[account[[16]byte]]*payments.SIM

// lockPayers locks the SIMs of the transactions, in the order in which everybody locks them.
func lockPayers(ctx context.Context, q *db.Queries, due []db.ClaimDueTransactionsRow) (payers, error) {
	var wanted rowKeys
	seen := map[account[[16]byte]]bool{}
	for _, t := range due {
		at := account[[16]byte]{t.Tenant, t.SimID.Bytes}
		if t.SimID.Valid && !seen[at] {
			seen[at] = true
			wanted.add(t.Tenant, t.SimID)
		}
	}
	found := payers{}
	if wanted.len() == 0 {
		return found, nil
	}
	rows, err := q.LockPayers(ctx, wanted.tenants, wanted.ids)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		found[account[[16]byte]{row.Tenant, row.SimID.Bytes}] = simOf(&row)
	}
	return found, nil
}

// outcomes are a batch's decisions, in the form in which they are written.
type outcomes struct {
	settled db.SettleTransactionsParams
	parked  rowKeys
	earned  map[account[string]]int64 // what the batch gave to each float so far
}

// decide gives each transaction its outcome in the order in which they were due. Payers' balances go down as it goes, so that
// two payments of one batch cannot spend the same money.
func decide(due []db.ClaimDueTransactionsRow, payers payers) *outcomes {
	o := &outcomes{earned: map[account[string]]int64{}}
	for _, t := range due {
		payer := payers[account[[16]byte]{t.Tenant, t.SimID.Bytes}]
		if payer != nil && string(payer.Currency()) != t.FloatCurrency {
			payer = nil // its country was changed since: it has no money of this kind any more
		}
		total := t.NetAmount + t.Commission
		status := payments.SettlementFacts{
			CustomerTotal: total, Expired: t.Expired, Payer: payer,
		}.Outcome()
		switch status {
		case payments.Pending:
			o.parked.add(t.Tenant, t.ID)
		case payments.Success:
			o.settle(t, status, t.NetAmount, payer, -total)
		default:
			o.settle(t, status, 0, nil, 0)
		}
	}
	return o
}

// settle moves simDelta on the payer, who may be nil where nobody pays.
func (o *outcomes) settle(t db.ClaimDueTransactionsRow, status payments.Status, merchantDelta int64, payer *payments.SIM, simDelta int64) {
	float := account[string]{t.Tenant, t.FloatCurrency}
	var balance int64
	if payer == nil {
		simDelta = 0
	} else {
		payer.Balance += simDelta
		balance = payer.Balance
	}
	s := &o.settled
	s.Tenants, s.Ids = append(s.Tenants, t.Tenant), append(s.Ids, t.ID)
	s.Statuses = append(s.Statuses, string(status))
	s.FloatCurrencies = append(s.FloatCurrencies, t.FloatCurrency)
	s.MerchantDeltas, s.MerchantBefore = append(s.MerchantDeltas, merchantDelta), append(s.MerchantBefore, o.earned[float])
	s.SimIds, s.SimDeltas, s.SimBalances = append(s.SimIds, t.SimID), append(s.SimDeltas, simDelta), append(s.SimBalances, balance)
	o.earned[float] += merchantDelta
}

func (o *outcomes) write(ctx context.Context, q *db.Queries) error {
	if o.parked.len() > 0 {
		if err := q.ParkTransactions(ctx, o.parked.tenants, o.parked.ids); err != nil {
			return err
		}
	}
	if len(o.settled.Ids) == 0 {
		return nil
	}
	return q.SettleTransactions(ctx, o.settled)
}
