package payments

import "encoding/json"

// CallbackEvent is the name of the event that is the callback of an operator's own API.
const CallbackEvent = "operator.callback"

// Callback is a callback of an operator's own API, as its body is built from it.
type Callback struct {
	Operator    Operator
	Kind        string          // in the terms of the operator's package; empty: the operator has one kind
	Transaction *Transaction    // in its final state; nil: the callback belongs to none
	Sent        json.RawMessage // fields of the request, in the format of the operator's package
	Vague       bool            // the body of a failure has no reason
}

// SentValue chooses transactions by what they keep of their requests: those that have a value under a key, or all others.
type SentValue struct {
	Key, Value string
	Others     bool
}

// PlannedCallback is a callback that is sent when a transaction has its outcome.
type PlannedCallback struct {
	URL  string
	Kind string // as in [Callback]
	When Outcome
}

// Outcome says with which outcome of a transaction a callback is sent.
type Outcome string

// The outcomes.
const (
	AnyOutcome  Outcome = ""
	OnlySuccess Outcome = "success"
	OnlyFailure Outcome = "failure"
)

// MaxCallbacks is how many callbacks a transaction may have.
const MaxCallbacks = 16
