package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// Settled counts what a batch came to.
type Settled struct {
	Claimed int  // transactions that were due
	Parked  int  // of these, the ones whose payer has not answered: they wait for their expiry
	More    bool // there may be more that is due
}

// SettleDue gives up to batch due transactions their outcome, with the money that it moves and the events that it owes, in
// one database transaction. Every sandbox that has something due gets its share of the batch, and those that have more share
// what others leave. Any number of callers may work at once; each gets different transactions.
func (s *Store) SettleDue(ctx context.Context, batch int) (Settled, error) {
	var counts Settled
	var settled []int64 // tenants
	var told []settlement
	err := s.inTx(ctx, func(q *db.Queries) error {
		due, more, err := claimDue(ctx, q, batch)
		if err != nil || len(due) == 0 {
			return err
		}
		payers, err := lockPayers(ctx, q, due)
		if err != nil {
			return err
		}
		outcomes := decide(due, payers, "")
		counts = Settled{Claimed: len(due), Parked: outcomes.parked.len(), More: more}
		settled = outcomes.settled.Tenants
		told = s.lateness(due, outcomes)
		return outcomes.write(ctx, q)
	})
	if err == nil {
		s.active.note(settled...)
		for _, one := range told {
			s.settled(one.status, one.late)
		}
	}
	return counts, classify(err, "settling due transactions")
}

// claimDue locks up to batch due transactions and returns them in the order in which they were due.
func claimDue(ctx context.Context, q *db.Queries, batch int) (due []db.ClaimDueTransactionsRow, more bool, err error) {
	due, err = q.ClaimDueTransactions(ctx, int32(batch))
	if err != nil || len(due) == 0 {
		return nil, false, err
	}
	lanes := fullLanes(due)
	more = len(lanes) > 0
	if left := (batch - len(due)) / max(len(lanes), 1); more && left > 0 {
		rest, err := q.ClaimMoreTransactions(ctx, int32(left), lanes, idsOf(due))
		if err != nil {
			return nil, false, err
		}
		for _, t := range rest {
			due = append(due, db.ClaimDueTransactionsRow(t))
		}
	}
	slices.SortStableFunc(due, func(a, b db.ClaimDueTransactionsRow) int { return a.DueAt.Compare(*b.DueAt) })
	return due, more, nil
}

// fullLanes are the sandboxes that gave all of their share, and so may have more.
func fullLanes(due []db.ClaimDueTransactionsRow) (tenants []int64) {
	given := map[int64]int32{}
	for _, t := range due {
		if given[t.Tenant]++; given[t.Tenant] == t.Share {
			tenants = append(tenants, t.Tenant)
		}
	}
	return tenants
}

func idsOf(due []db.ClaimDueTransactionsRow) []pgtype.UUID {
	ids := make([]pgtype.UUID, len(due))
	for i, t := range due {
		ids[i] = t.ID
	}
	return ids
}

// WakeForgotten makes up to batch pending transactions due whose time ran out and that nothing would come to any more, and
// returns how many it found. There are none unless something went wrong.
func (s *Store) WakeForgotten(ctx context.Context, batch int) (int, error) {
	woken, err := s.system().WakeForgotten(ctx, int32(batch))
	return int(woken), classify(err, "looking for payments that were forgotten")
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
// two payments of one batch cannot spend the same money. They do what their behaviours say, unless an answer was given by hand.
func decide(due []db.ClaimDueTransactionsRow, payers payers, answer payments.Answer) *outcomes {
	o := &outcomes{earned: map[account[string]]int64{}}
	for _, t := range due {
		payer := payers[account[[16]byte]{t.Tenant, t.SimID.Bytes}]
		if payer != nil && string(payer.Currency()) != t.FloatCurrency {
			payer = nil // its country was changed since: it has no money of this kind any more
		}
		total := t.NetAmount + t.Commission
		status := payments.SettlementFacts{
			CustomerTotal: total, Expired: t.Expired, Payer: payer, Answer: answer,
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
