package reconciler

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Progress counts the completed steps of a reconciliation. Each step has a condition; Ready summarizes them.
type Progress struct {
	Steps []string // condition types, in order
	Done  int      // number of steps that succeeded
	Err   error    // error of the next step; nil if all steps succeeded

	Suspended bool                  // spec.suspend
	Disabled  bool                  // no environment of the spec is enabled
	Unused    string                // a sentence about fields of the spec that nothing uses; may be empty
	Quota     *sandboxes.QuotaState // nil while the quota is not used up
	Start     v1alpha1.DateTime     // a changed spec.clock.start, which applies after the next reset; empty for none
}

// readyMessage has the messages of conditions that are True in the normal case.
var readyMessage = map[string]string{
	v1alpha1.ConditionReady:            "Everything in the spec is applied.",
	v1alpha1.ConditionSpecAccepted:     "The spec is valid and can be applied.",
	v1alpha1.ConditionDatabaseReady:    "The database matches the spec.",
	v1alpha1.ConditionCredentialsReady: "The credentials Secret exists and the API accepts its key.",
}

// Conditions returns the new conditions, given the previous ones. The condition of a step that was not reached stays
// unchanged, with its old observedGeneration.
func (p Progress) Conditions(before []metav1.Condition, generation int64, now time.Time) []metav1.Condition {
	after := make([]metav1.Condition, len(before))
	copy(after, before)
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&after, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		})
	}

	for i, step := range p.Steps {
		switch {
		case i < p.Done:
			message := readyMessage[step]
			if step == v1alpha1.ConditionSpecAccepted {
				message += p.Unused
			}
			set(step, metav1.ConditionTrue, v1alpha1.ReasonReady, message)
		case i == p.Done:
			set(step, metav1.ConditionFalse, ReasonOf(p.Err), p.Err.Error())
		case meta.FindStatusCondition(after, step) == nil:
			set(step, metav1.ConditionUnknown, v1alpha1.ReasonPending, "Waiting for the conditions before this one.")
		}
	}

	meta.RemoveStatusCondition(&after, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&after, v1alpha1.ConditionStalled)
	switch {
	case p.Err == nil:
		reason, message := p.ready()
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, reason, message+p.Unused)
	case IsStalling(p.Err):
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, ReasonOf(p.Err), p.Err.Error())
		set(v1alpha1.ConditionStalled, metav1.ConditionTrue, ReasonOf(p.Err), p.Err.Error())
	default:
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, ReasonOf(p.Err), p.Err.Error())
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonRetrying, p.Err.Error())
	}
	return KeepTransitionTimes(before, after)
}

// ready returns the reason and the message of a Ready condition that is True. The message has a sentence for each
// notice to the user. The reason belongs to the first sentence.
func (p Progress) ready() (reason, message string) {
	var reasons, messages []string
	say := func(reason, format string, args ...any) {
		reasons, messages = append(reasons, reason), append(messages, fmt.Sprintf(format, args...))
	}
	if p.Suspended {
		say(v1alpha1.ReasonSuspended, "The sandbox is suspended: its API answers 503, and pending payments and events wait. "+
			"Set spec.suspend to false to resume.")
	}
	if p.Disabled {
		say(v1alpha1.ReasonNoEnvironmentEnabled, "No environment is enabled, so each payment is answered 404 env_not_found. Set enabled to true in "+
			"an entry of spec.environments.")
	}
	if p.Quota != nil {
		say(v1alpha1.ReasonQuotaExceeded, "The quota is used up, %d of %s of this month: the API answers 402 quota_exceeded until "+
			"%s in the sandbox's time. Raise spec.quota.monthlyTransactions, or reset the sandbox.",
			p.Quota.Used, english.Plural(p.Quota.Limit, "transaction", "transactions"), p.Quota.RenewsAt.UTC().Format(time.RFC3339))
	}
	if p.Start != "" {
		say(v1alpha1.ReasonClockStartWaits, "spec.clock.start waits for the next reset: the clock continues from where it is, and begins at "+
			"%s after `cauri reset` or a new value of spec.reset.", p.Start)
	}
	if len(reasons) == 0 {
		return v1alpha1.ReasonReady, readyMessage[v1alpha1.ConditionReady]
	}
	return reasons[0], strings.Join(messages, " ")
}

// KeepTransitionTimes keeps the transition time of a condition that was removed and added again with the same status.
func KeepTransitionTimes(before, after []metav1.Condition) []metav1.Condition {
	for i := range after {
		if old := meta.FindStatusCondition(before, after[i].Type); old != nil && old.Status == after[i].Status {
			after[i].LastTransitionTime = old.LastTransitionTime
		}
	}
	return after
}
