package expectations

import (
	"fmt"

	"github.com/cauri-dev/cauri/server/payments"
)

// Observation has the sandbox's data that a line is checked against.
type Observation struct {
	// Count is the number of transactions or events that the line counts. For the line about other transactions, it is
	// the number of transactions that no line counts. It is at most [MaxCount] plus one.
	Count int
	// MostAttempts is the largest number of attempts of an event that the line selects.
	MostAttempts int
	// Amount is the balance or the sum that the line asks for; nil: the sandbox has no such float or test client.
	Amount *int64
	// Example is a transaction that no line counts, if possible one that has ended; nil: there is none.
	Example *payments.ID
	// Ended reports whether the transaction of Example has ended, so that no line will ever count it.
	Ended bool
}

// Result is the result of checking a line.
type Result struct {
	Line     string // as [Line.String] returns it
	Met      bool
	Never    bool // not met, and cannot be met later, because its count only grows
	Observed string
}

// Check returns whether an observation meets a line.
func Check(l *Line, o *Observation) Result {
	r := Result{Line: l.String()}
	switch {
	case l.Transactions != nil:
		r.Met = l.Transactions.Count.includes(o.Count)
		// Only a pending transaction changes.
		r.Never = o.Count > l.Transactions.Count.max && l.Transactions.Where.Status != string(payments.Pending)
		r.Observed = counted(o.Count, "transaction")
	case l.Events != nil:
		r.checkEvents(l.Events, o)
	case l.Float != nil:
		r.checkAmount(*l.Float.Equals, o, "the sandbox has no float in "+l.Float.Currency)
	case l.TestClient != nil:
		r.checkAmount(*l.TestClient.Balance, o, "the sandbox has no test client with this number")
	case l.Refunds != nil:
		r.checkAmount(*l.Refunds.Total, o, "")
		r.Never = *o.Amount > *l.Refunds.Total
	default:
		r.Met, r.Never = o.Count == 0, o.Ended
		r.Observed = "no other transaction"
		if o.Example != nil {
			r.Observed = counted(o.Count, "other transaction") + ", for example " + o.Example.String()
		}
	}
	return r
}

func (r *Result) checkEvents(e *Events, o *Observation) {
	tooOften := e.MaxAttempts != nil && o.MostAttempts > *e.MaxAttempts
	r.Met = e.Count.includes(o.Count) && !tooOften
	// An event that is sent again by hand changes its state.
	r.Never = tooOften || o.Count > e.Count.max && e.State == ""
	r.Observed = counted(o.Count, "event")
	if e.MaxAttempts != nil && o.MostAttempts > 0 {
		r.Observed += fmt.Sprintf(", at most %s each", plural(o.MostAttempts, "attempt"))
	}
}

func (r *Result) checkAmount(want int64, o *Observation, missing string) {
	if o.Amount == nil {
		r.Observed = missing
		return
	}
	r.Met = *o.Amount == want
	r.Observed = fmt.Sprint(*o.Amount)
}

func counted(n int, unit string) string {
	if n > MaxCount {
		return fmt.Sprintf("more than %d %ss", MaxCount, unit)
	}
	return plural(n, unit)
}
