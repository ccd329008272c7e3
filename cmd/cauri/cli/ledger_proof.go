package cli

import (
	"fmt"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// proof verifies the entries of one account, in order. It checks four rules:
//
//   - The numbers of the entries have no gaps.
//   - The debits of each entry equal its credits.
//   - Each balance is the balance before it plus the entry's change.
//   - The last balance is that of the account.
type proof struct {
	account *wire.LedgerAccount
	number  int64 // number of the last entry
	balance int64 // balance after the last entry
	changed map[string]int64
	wrong   []string
}

func newProof(account *wire.LedgerAccount) *proof {
	return &proof{account: account, changed: map[string]int64{}}
}

func (p *proof) problem(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// add verifies the next entry.
func (p *proof) add(e *wire.LedgerEntry) {
	var debits, credits, change int64
	for _, posting := range e.Postings {
		debits, credits = debits+posting.Debit, credits+posting.Credit
		if posting.Account == p.account.Account {
			change += posting.Credit - posting.Debit
		}
	}
	before := e.Balance - change
	switch {
	case e.Number != p.number+1:
		p.problem("%s between the numbers %d and %d: the balance goes from %d to %d, by %d", missing(p.number+1, e.Number-1), p.number, e.Number,
			p.balance, before, before-p.balance)
	case before != p.balance:
		p.problem("the balance differs by %d between the numbers %d and %d: after %d it is %d, %s changes it by %d, and after %d it is %d",
			before-p.balance, p.number, e.Number, p.number, p.balance, nameOf(e), change, e.Number, e.Balance)
	}
	if debits != credits {
		p.problem("number %d, %s, debits %d and credits %d: they differ by %d", e.Number, nameOf(e), debits, credits, debits-credits)
	}
	p.number, p.balance = e.Number, e.Balance
	p.changed[e.Type] += change
}

// missing returns a text with the range of missing entries.
func missing(first, last int64) string {
	if first >= last {
		return fmt.Sprintf("the entry %d is missing", first)
	}
	return fmt.Sprintf("the entries %d to %d are missing", first, last)
}

// nameOf returns the name of an entry in a message.
func nameOf(e *wire.LedgerEntry) string {
	if e.TxID != nil {
		return "the " + e.Type + " " + *e.TxID
	}
	return "the " + e.Type
}

// finish compares the entries with the account's own balance, totals and number of movements.
func (p *proof) finish() {
	a := p.account
	if p.number != a.Movements {
		p.problem("%s after the number %d", missing(p.number+1, a.Movements), p.number)
	}
	if p.balance != a.Balance {
		p.problem("the balance is %d and not %d, as after the number %d: it differs by %d", a.Balance, p.balance, p.number, a.Balance-p.balance)
	}
	whole := int64(0)
	for _, sum := range []struct {
		name string
		said int64
	}{
		{"opening", a.Opening}, {"adjustment", a.Adjustments}, {"collection", a.Collections}, {"refund", a.Refunds}, {"disbursement", a.Disbursements},
	} {
		whole += sum.said
		if got := p.changed[sum.name]; got != sum.said {
			p.problem("the entries of type %s change the balance by %d, and the totals say %d", sum.name, got, sum.said)
		}
	}
	if whole != a.Balance && len(p.wrong) == 0 {
		p.problem("the totals add up to %d, and the balance is %d: it differs by %d", whole, a.Balance, a.Balance-whole)
	}
}
