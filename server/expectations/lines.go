package expectations

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// MaxLines is the largest number of lines of an expectation.
const MaxLines = 50

// Line is one thing that is expected. Exactly one of its fields is set.
type Line struct {
	Transactions *Transactions `json:"transactions,omitempty"`
	Events       *Events       `json:"events,omitempty"`
	Float        *Float        `json:"float,omitempty"`
	TestClient   *TestClient   `json:"testClient,omitempty"`
	Refunds      *Refunds      `json:"refunds,omitempty"`
	NothingElse  *bool         `json:"nothingElse,omitempty"`
	Merchant     *Merchant     `json:"merchant,omitempty"`
}

// Transactions expects a number of transactions.
type Transactions struct {
	Where Where `json:"where,omitzero"`
	Count Count `json:"count"`
}

// Events expects a number of events. Callbacks of the operators' own APIs are events too.
type Events struct {
	Where       EventWhere `json:"where,omitzero"`
	State       string     `json:"state,omitempty"` // of the events that are counted; empty: any
	Count       Count      `json:"count"`
	MaxAttempts *int       `json:"maxAttempts,omitempty"` // of each event that Where selects, whatever its state
}

// Float expects a balance of the merchant.
type Float struct {
	Currency string `json:"currency"`
	Equals   *int64 `json:"equals"`
}

// TestClient expects the balance of a test client.
type TestClient struct {
	MSISDN  string `json:"msisdn"`
	Balance *int64 `json:"balance"`
}

// Refunds expects the sum of the successful refunds of an order.
type Refunds struct {
	Of    string `json:"of"` // the order
	Total *int64 `json:"total"`
}

// Merchant expects an answer from a URL of the merchant's own program. Only `cauri expect` requests this URL.
type Merchant struct {
	Get  string          `json:"get"`
	JSON json.RawMessage `json:"json,omitempty"` // what the answer contains at least; empty: any 2xx answer
}

// Where selects transactions. An empty field selects all of them.
type Where struct {
	OrderRef      string `json:"orderRef,omitempty"`
	Reference     string `json:"reference,omitempty"`
	Type          string `json:"type,omitempty"`
	Status        string `json:"status,omitempty"`
	Operator      string `json:"operator,omitempty"`
	Country       string `json:"country,omitempty"`
	Application   string `json:"application,omitempty"` // the slug of a store
	MSISDN        string `json:"msisdn,omitempty"`
	CreatedAfter  string `json:"createdAfter,omitempty"`  // RFC 3339, in sandbox time, included
	CreatedBefore string `json:"createdBefore,omitempty"` // RFC 3339, in sandbox time, excluded
}

// EventWhere selects events by their transactions and by their names.
type EventWhere struct {
	Event string `json:"event,omitempty"`
	Where `json:",inline"`
}

// Counted returns the conditions of the lines. The lines count each transaction that satisfies one of them.
func Counted(lines []Line) (counted []Where) {
	for _, l := range lines {
		switch {
		case l.Transactions != nil:
			counted = append(counted, l.Transactions.Where)
		case l.Refunds != nil:
			counted = append(counted, Where{OrderRef: l.Refunds.Of, Type: string(payments.Refund)})
		case l.Events != nil:
			where := l.Events.Where
			if kind := TypeOfEvent(where.Event); kind != "" && where.Type == "" {
				where.Type = string(kind)
			}
			counted = append(counted, where.Where)
		}
	}
	return counted
}

// TypeOfEvent returns the type of the transactions that have an event of this name; empty for any type.
func TypeOfEvent(name string) payments.Type {
	for _, kind := range payments.Types {
		if kind.Event() == name {
			return kind
		}
	}
	return ""
}

// String returns the line in one line of text.
func (l *Line) String() string { return l.Said().String() }

// Said returns the line as a phrase. Names and values of fields stay in every language.
func (l *Line) Said() english.Phrase {
	switch {
	case l.Transactions != nil:
		return english.Say("transactions%s: %s", l.Transactions.Where.said(), l.Transactions.Count.String())
	case l.Events != nil:
		e := l.Events
		events := english.Say("events%s: %s", e.Where.said("event", e.Where.Event, "state", e.State), e.Count.String())
		switch {
		case e.MaxAttempts == nil:
			return events
		case *e.MaxAttempts == 1:
			return english.Say("%s, at most 1 attempt each", events)
		}
		return english.Say("%s, at most %d attempts each", events, *e.MaxAttempts)
	case l.Float != nil:
		return english.Say("float %s: %d", l.Float.Currency, *l.Float.Equals)
	case l.TestClient != nil:
		return english.Say("balance of the test client %s: %d", l.TestClient.MSISDN, *l.TestClient.Balance)
	case l.Refunds != nil:
		return english.Say("refunds of %s: %d", l.Refunds.Of, *l.Refunds.Total)
	case l.Merchant != nil:
		return english.Say("merchant %s: %s", l.Merchant.Get, cmp.Or(string(l.Merchant.JSON), "2xx"))
	default:
		return english.Say("nothing else")
	}
}

// said returns the conditions as " where: a=1 b=2"; empty for none. The pairs in others come first.
func (w *Where) said(others ...string) english.Phrase {
	pairs := append(others,
		"orderRef", w.OrderRef, "reference", w.Reference, "type", w.Type, "status", w.Status, "operator", w.Operator,
		"country", w.Country, "application", w.Application, "msisdn", w.MSISDN, "createdAfter", w.CreatedAfter,
		"createdBefore", w.CreatedBefore)
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+"="+pairs[i+1])
		}
	}
	if len(parts) == 0 {
		return english.Say("")
	}
	return english.Say(" where %s", strings.Join(parts, " "))
}
