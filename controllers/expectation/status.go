package expectation

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/expectations"
)

// Status returns the status from the result of a reconciliation. A field that the reconciliation did not
// observe keeps its value, unless a new run began.
func Status(e *v1alpha1.Expectation, seen Observation, now time.Time) v1alpha1.ExpectationStatus {
	status := *e.Status.DeepCopy()
	if status.ObservedRun != e.Spec.Run { // of another run
		status.StartedAt, status.DecidedAt, status.Line, status.Results = nil, nil, "", nil
	}
	status.ObservedGeneration, status.ObservedRun = e.Generation, e.Spec.Run
	if seen.started && status.StartedAt == nil {
		status.StartedAt = reconciler.Seconds(&now)
	}
	if state := seen.State; state != nil {
		if len(state.Results) > 0 {
			status.Results, status.Line = results(state.Results)
		}
		if state.Verdict != expectations.Open {
			status.DecidedAt = reconciler.Seconds(&now)
		}
	}
	status.Conditions = conditions(status.Conditions, seen, e.Generation, now)
	return status
}

// results returns the results, and the first line that is not met.
func results(results []expectations.Dated) (shown []v1alpha1.ExpectationResult, unmet string) {
	for _, r := range results {
		shown = append(shown, v1alpha1.ExpectationResult{
			Line: r.Line, Met: r.Met, Observed: r.Observed, At: metav1.NewTime(r.At.Truncate(time.Second)),
		})
	}
	if i := slices.IndexFunc(results, func(r expectations.Dated) bool { return !r.Met }); i >= 0 {
		unmet = results[i].Line
	}
	return shown, unmet
}

// conditions returns Met and Failed. Tools that follow kstatus see Reconciling until the Expectation is
// decided, and Stalled when it has failed.
func conditions(
	before []metav1.Condition, seen Observation, generation int64, now time.Time,
) []metav1.Condition {
	after := slices.Clone(before)
	set := func(kind string, is bool, reason, message string) {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&after, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		})
	}
	verdict, reason, message := expectations.Open, "", ""
	switch {
	case seen.State != nil:
		verdict, reason, message = seen.State.Verdict, seen.State.Reason, seen.State.Message
		if reason == "" {
			reason, message = v1alpha1.ReasonNotMet, "No line was evaluated yet."
		}
	case seen.Err != nil:
		reason, message = reconciler.ReasonOf(seen.Err), seen.Err.Error()
	}
	set(v1alpha1.ConditionMet, verdict == expectations.Met, reason, message)
	set(v1alpha1.ConditionFailed, verdict == expectations.Failed, reason, message)
	meta.RemoveStatusCondition(&after, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&after, v1alpha1.ConditionStalled)
	switch verdict {
	case expectations.Open:
		set(v1alpha1.ConditionReconciling, true, reason, message)
	case expectations.Failed:
		set(v1alpha1.ConditionStalled, true, reason, message)
	}
	return reconciler.KeepTransitionTimes(before, after)
}
