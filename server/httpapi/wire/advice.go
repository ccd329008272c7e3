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

// AdviceOn returns the advice on an event, from its last attempt; false: none is needed. The parameter host is the one of
// the URL that it is sent to, and declared has the faults of the sandbox.
func AdviceOn(e *ledger.EventDetail, host string, declared faults.Set) (advice.Advice, bool) {
	undelivered := e.State == ledger.EventFailed || e.State == ledger.EventQueued
	if !undelivered || len(e.History) == 0 || e.History[len(e.History)-1].Error == nil {
		return advice.Advice{}, false
	}
	last, id := &e.History[len(e.History)-1], e.EventID().String()
	if len(last.Faults) > 0 {
		return advice.OfFaults(declared.Effects(last.Faults), id), true
	}
	return advice.OfAttempt(advice.Attempt{Failure: *last.Error, Host: host, Event: id, Callback: e.Callback}), true
}
