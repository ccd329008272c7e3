package view

import (
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
)

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
