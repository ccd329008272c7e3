package expectations

import (
	"strconv"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// Observation has the sandbox's data that a line is checked against.
type Observation struct {
	// Count is the number of transactions or events that the line counts. For the line about other transactions, it is
	// the number of transactions that no line counts. It is at most [MaxCount] plus one.
	Count int `json:"count,omitempty"`
	// MostAttempts is the largest number of attempts of an event that the line selects.
	MostAttempts int `json:"mostAttempts,omitempty"`
	// Amount is the balance or the sum that the line asks for; nil: the sandbox has no such float or test client.
	Amount *int64 `json:"amount,omitempty"`
	// Example is a transaction that no line counts, if possible one that has ended; nil: there is none.
	Example *payments.ID `json:"example,omitempty"`
	// Ended reports whether the transaction of Example has ended, so that no line will ever count it.
	Ended bool `json:"ended,omitempty"`
	// NoStore reports that the sandbox never had the store that the line names.
	NoStore bool `json:"noStore,omitempty"`
	// Late reports that the observation is of a later time than the one that was asked for, and that it may have been
	// another one then.
	Late bool `json:"late,omitempty"`
}

// Result is the result of checking a line.
type Result struct {
	Line     string // as [Line.String] returns it
	Met      bool
	Never    bool        // not met, and cannot be met later, because its count only grows
	Late     bool        // whether it was met at the time of the evaluation is not known any more; Met and Never are false
	Observed string      // in English, as [Observed] says it
	Seen     Observation // zero if another program was asked
}

// Check returns whether an observation of a sandbox meets a line. The parameter known is what the sandbox knows.
func Check(known *payments.Known, l *Line, o *Observation) Result {
	r := Result{Line: l.String(), Observed: Observed(known, l, o).String(), Seen: *o}
	switch {
	case l.Transactions != nil:
		r.Met = l.Transactions.Count.includes(o.Count)
		// Only a pending transaction changes.
		r.Never = o.Count > l.Transactions.Count.max && l.Transactions.Where.Status != string(payments.Pending)
	case l.Events != nil:
		tooOften := l.Events.MaxAttempts != nil && o.MostAttempts > *l.Events.MaxAttempts
		r.Met = l.Events.Count.includes(o.Count) && !tooOften
		// An event that is sent again by hand changes its state.
		r.Never = tooOften || o.Count > l.Events.Count.max && l.Events.State == ""
	case l.Float != nil:
		r.Met = o.Amount != nil && *o.Amount == *l.Float.Equals
	case l.TestClient != nil:
		r.Met = o.Amount != nil && *o.Amount == *l.TestClient.Balance
	case l.Refunds != nil:
		r.Met, r.Never = *o.Amount == *l.Refunds.Total, *o.Amount > *l.Refunds.Total
	default:
		r.Met, r.Never = o.Count == 0, o.Ended
	}
	if o.NoStore { // a misspelled name would count nothing, as it may be expected
		r.Met = false
	}
	if o.Late {
		r.Met, r.Never, r.Late = false, false, true
	}
	return r
}

// Observed says what was observed for a line in a sandbox. The parameter known is what the sandbox knows.
func Observed(known *payments.Known, l *Line, o *Observation) english.Phrase {
	if o.Late {
		later := *o
		later.Late = false
		return english.Say("%s, seen too late", Observed(known, l, &later))
	}
	switch {
	case o.NoStore && l.Transactions != nil:
		return english.Say("the sandbox has no application %s", l.Transactions.Where.Application)
	case o.NoStore:
		return english.Say("the sandbox has no application %s", l.Events.Where.Application)
	case l.Transactions != nil:
		seen := counted(o.Count, "0 transactions", "1 transaction", "%d transactions", "more than %d transactions")
		return withLength(known, seen, o.Count, l.Transactions.Where.MSISDN)
	case l.Events != nil:
		events := counted(o.Count, "0 events", "1 event", "%d events", "more than %d events")
		switch {
		case l.Events.MaxAttempts == nil || o.MostAttempts == 0:
			return withLength(known, events, o.Count, l.Events.Where.MSISDN)
		case o.MostAttempts == 1:
			return english.Say("%s, at most 1 attempt each", events)
		}
		return english.Say("%s, at most %d attempts each", events, o.MostAttempts)
	case o.Amount != nil:
		return english.Say("%s", strconv.FormatInt(*o.Amount, 10))
	case l.Float != nil:
		return english.Say("the sandbox has no float in %s", l.Float.Currency)
	case l.TestClient != nil:
		return withLength(known, english.Say("the sandbox has no test client with this number"), o.Count, l.TestClient.MSISDN)
	case o.Example == nil:
		return english.Say("no other transaction")
	}
	others := counted(o.Count, "no other transaction", "1 other transaction", "%d other transactions", "more than %d other transactions")
	return english.Say("%s, for example %s", others, o.Example.String())
}

// withLength adds to what was observed of a number, if nothing has it, that its length is wrong.
func withLength(known *payments.Known, seen english.Phrase, count int, msisdn string) english.Phrase {
	if w := operators.CheckLength(known, msisdn); w != nil && count == 0 {
		return english.Say("%s (%s)", seen, w.Phrase())
	}
	return seen
}

func counted(n int, none, one, many, tooMany english.Text) english.Phrase {
	switch {
	case n > MaxCount:
		return english.Phrase{Text: tooMany, Args: []any{MaxCount}}
	case n > 1:
		return english.Phrase{Text: many, Args: []any{n}}
	case n == 1:
		return english.Phrase{Text: one}
	}
	return english.Phrase{Text: none}
}
