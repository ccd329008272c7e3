package wire

import (
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
)

// Advice says why something does not work, and what to do.
type Advice struct {
	Cause   string       `json:"cause" doc:"Code of the cause. It stays as it is, so that programs can compare it." example:"receiver.slow"`
	Message string       `json:"message" doc:"The cause in a sentence."`
	Action  string       `json:"action" doc:"What to do."`
	Next    []AdviceStep `json:"next" doc:"Commands that help, the first one first."`
	Page    string       `json:"page,omitempty" doc:"Address of the event's page in the console. Absent if the installation has no console."`
}

// AdviceStep is a command that helps.
type AdviceStep struct {
	Command string `json:"command" doc:"To be typed where the sandbox is known, as in the folder of its .env.cauri."`
	Because string `json:"because" doc:"What the command is for."`
}

// AdviceOf returns the view of an advice about an event with a page in the console; empty: there is no console.
func AdviceOf(a advice.Advice, page string) *Advice {
	view := &Advice{Cause: string(a.Code), Message: a.What.String() + ".", Action: a.Do.String(), Next: []AdviceStep{}, Page: page}
	for i := range a.Steps {
		view.Next = append(view.Next, AdviceStep{a.Steps[i].String(), a.Steps[i].Why})
	}
	return view
}

// Unacknowledged returns the last attempt of an event that it left unacknowledged, so that an advice is needed; nil: none is.
func Unacknowledged(e *ledger.EventDetail) *ledger.AttemptRecord {
	undelivered := e.State == ledger.EventFailed || e.State == ledger.EventQueued
	if !undelivered || len(e.History) == 0 || e.History[len(e.History)-1].Error == nil {
		return nil
	}
	return &e.History[len(e.History)-1]
}

// LastAttempt returns what an advice on an event says about its last attempt, which failed. The host is not known yet.
func LastAttempt(e *ledger.EventDetail, last *ledger.AttemptRecord) advice.Attempt {
	return advice.Attempt{Failure: *last.Error, Event: e.EventID().String(), Callback: e.Callback, Waits: e.State == ledger.EventQueued}
}

// AdviceOn returns the advice on an event after its last attempt. declared has the faults of the sandbox.
func AdviceOn(last *ledger.AttemptRecord, attempt advice.Attempt, declared faults.Set) advice.Advice {
	if len(last.Faults) > 0 {
		return advice.OfFaults(declared.Effects(last.Faults), attempt.Event)
	}
	return advice.OfAttempt(attempt)
}
