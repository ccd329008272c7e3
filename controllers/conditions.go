package controllers

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// progress is how far a reconciliation came through its ordered steps. Each step has a condition; Ready sums them up.
type progress struct {
	steps []string // condition types, in order
	done  int      // how many steps succeeded
	err   error    // why the next one did not; nil if all did

	suspended bool   // everything is in place, and at rest
	unused    string // what the spec has and nothing uses, told beside what is True; empty for nothing
}

// readyMessage is what a condition with positive polarity says while it is True.
var readyMessage = map[string]string{
	v1alpha1.ConditionReady:            "Everything in the spec is applied.",
	v1alpha1.ConditionSpecAccepted:     "The spec is valid and can be applied.",
	v1alpha1.ConditionDatabaseReady:    "The database matches the spec.",
	v1alpha1.ConditionCredentialsReady: "The credentials Secret exists and the API accepts its key.",
}

// conditions are the conditions that follow from the progress, given those that stood there before. A step that was not
// come to keeps the condition that it had, whose observedGeneration tells what it was found for.
func (p progress) conditions(before []metav1.Condition, generation int64, now time.Time) []metav1.Condition {
	after := make([]metav1.Condition, len(before))
	copy(after, before)
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&after, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		})
	}

	for i, step := range p.steps {
		switch {
		case i < p.done:
			message := readyMessage[step]
			if step == v1alpha1.ConditionSpecAccepted {
				message += p.unused
			}
			set(step, metav1.ConditionTrue, v1alpha1.ReasonReady, message)
		case i == p.done:
			set(step, metav1.ConditionFalse, reasonOf(p.err), p.err.Error())
		case meta.FindStatusCondition(after, step) == nil:
			set(step, metav1.ConditionUnknown, v1alpha1.ReasonPending, "Waiting for the conditions before this one.")
		}
	}

	meta.RemoveStatusCondition(&after, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&after, v1alpha1.ConditionStalled)
	switch {
	case p.err == nil:
		reason, message := p.ready()
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, reason, message+p.unused)
	case isStalling(p.err):
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, reasonOf(p.err), p.err.Error())
		set(v1alpha1.ConditionStalled, metav1.ConditionTrue, reasonOf(p.err), p.err.Error())
	default:
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, reasonOf(p.err), p.err.Error())
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonRetrying, p.err.Error())
	}
	return keepTransitionTimes(before, after)
}

// ready is what Ready says while it is True.
func (p progress) ready() (reason, message string) {
	if p.suspended {
		return v1alpha1.ReasonSuspended, "The sandbox is suspended: its API answers 503, and pending payments and events wait. " +
			"Set spec.suspend to false to resume."
	}
	return v1alpha1.ReasonReady, readyMessage[v1alpha1.ConditionReady]
}

// keepTransitionTimes gives a condition that was taken away and put back with the same status its old transition time.
func keepTransitionTimes(before, after []metav1.Condition) []metav1.Condition {
	for i := range after {
		if old := meta.FindStatusCondition(before, after[i].Type); old != nil && old.Status == after[i].Status {
			after[i].LastTransitionTime = old.LastTransitionTime
		}
	}
	return after
}
