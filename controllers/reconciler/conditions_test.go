package reconciler

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cauri-dev/cauri/server/postgres"
)

var (
	earlier = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now     = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
)

func TestProgressConditions(t *testing.T) {
	var (
		stalled = &StallingError{Reason: "InvalidSpec", Message: "write something else"}
		waiting = &WaitingError{Reason: "SecretConflict", Message: "the Secret is not ours"}
		failed  = &FailedError{Reason: "DatabaseError", Cause: errors.New("it broke")}
	)
	condition := func(kind, status, reason, message string, generation int64, at time.Time) metav1.Condition {
		return metav1.Condition{
			Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(at),
		}
	}
	yes := func(kind string, generation int64, at time.Time) metav1.Condition {
		return condition(kind, "True", "Ready", readyMessage[kind], generation, at)
	}
	steps := []string{"SpecAccepted", "DatabaseReady"}
	for name, test := range map[string]struct {
		progress Progress
		before   []metav1.Condition
		want     []metav1.Condition
	}{
		"all done at first": {
			progress: Progress{Steps: steps, Done: 2},
			want:     []metav1.Condition{yes("SpecAccepted", 2, now), yes("DatabaseReady", 2, now), yes("Ready", 2, now)},
		},
		"a later generation keeps the transition time": {
			progress: Progress{Steps: steps, Done: 2},
			before:   []metav1.Condition{yes("SpecAccepted", 1, earlier), yes("DatabaseReady", 1, earlier), yes("Ready", 1, earlier)},
			want:     []metav1.Condition{yes("SpecAccepted", 2, earlier), yes("DatabaseReady", 2, earlier), yes("Ready", 2, earlier)},
		},
		"stalled at the first step": {
			progress: Progress{Steps: steps, Err: stalled},
			want: []metav1.Condition{
				condition("SpecAccepted", "False", "InvalidSpec", "write something else", 2, now),
				condition("DatabaseReady", "Unknown", "Pending", "Waiting for the conditions before this one.", 2, now),
				condition("Ready", "False", "InvalidSpec", "write something else", 2, now),
				condition("Stalled", "True", "InvalidSpec", "write something else", 2, now),
			},
		},
		"a step not come to keeps what was found for an older generation": {
			progress: Progress{Steps: steps, Err: stalled},
			before:   []metav1.Condition{yes("SpecAccepted", 1, earlier), yes("DatabaseReady", 1, earlier), yes("Ready", 1, earlier)},
			want: []metav1.Condition{
				condition("SpecAccepted", "False", "InvalidSpec", "write something else", 2, now),
				yes("DatabaseReady", 1, earlier),
				condition("Ready", "False", "InvalidSpec", "write something else", 2, now),
				condition("Stalled", "True", "InvalidSpec", "write something else", 2, now),
			},
		},
		"waiting": {
			progress: Progress{Steps: steps, Done: 1, Err: waiting},
			want: []metav1.Condition{
				yes("SpecAccepted", 2, now),
				condition("DatabaseReady", "False", "SecretConflict", "the Secret is not ours", 2, now),
				condition("Ready", "False", "SecretConflict", "the Secret is not ours", 2, now),
				condition("Reconciling", "True", "Retrying", "the Secret is not ours", 2, now),
			},
		},
		"waiting on, nothing changes": {
			progress: Progress{Steps: steps[:1], Err: waiting},
			before: []metav1.Condition{
				condition("SpecAccepted", "False", "SecretConflict", "the Secret is not ours", 2, earlier),
				condition("Ready", "False", "SecretConflict", "the Secret is not ours", 2, earlier),
				condition("Reconciling", "True", "Retrying", "the Secret is not ours", 2, earlier),
			},
			want: []metav1.Condition{
				condition("SpecAccepted", "False", "SecretConflict", "the Secret is not ours", 2, earlier),
				condition("Ready", "False", "SecretConflict", "the Secret is not ours", 2, earlier),
				condition("Reconciling", "True", "Retrying", "the Secret is not ours", 2, earlier),
			},
		},
		"stalled gives way to a retry": {
			progress: Progress{Steps: steps[:1], Err: failed},
			before: []metav1.Condition{
				condition("SpecAccepted", "False", "InvalidSpec", "write something else", 1, earlier),
				condition("Ready", "False", "InvalidSpec", "write something else", 1, earlier),
				condition("Stalled", "True", "InvalidSpec", "write something else", 1, earlier),
			},
			want: []metav1.Condition{
				condition("SpecAccepted", "False", "DatabaseError", "it broke", 2, earlier),
				condition("Ready", "False", "DatabaseError", "it broke", 2, earlier),
				condition("Reconciling", "True", "Retrying", "it broke", 2, now),
			},
		},
		"done at last clears Reconciling": {
			progress: Progress{Steps: steps[:1], Done: 1},
			before: []metav1.Condition{
				condition("SpecAccepted", "False", "DatabaseError", "it broke", 2, earlier),
				condition("Ready", "False", "DatabaseError", "it broke", 2, earlier),
				condition("Reconciling", "True", "Retrying", "it broke", 2, earlier),
			},
			want: []metav1.Condition{yes("SpecAccepted", 2, now), yes("Ready", 2, now)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.progress.Conditions(test.before, 2, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPace(t *testing.T) {
	p := Pace{Resync: 10 * time.Minute, Retry: 5 * time.Second}
	failed := &FailedError{Reason: "DatabaseError", Cause: errors.New("it broke")}
	for name, test := range map[string]struct {
		err        error
		after      time.Duration // at least, and at most a fifth more
		wantsError bool
	}{
		"done":     {after: p.Resync},
		"stalled":  {err: &StallingError{}, after: p.Resync},
		"waiting":  {err: &WaitingError{}, after: p.Retry},
		"wrapped":  {err: fmt.Errorf("doing something: %w", &WaitingError{}), after: p.Retry},
		"failed":   {err: failed, wantsError: true},
		"database": {err: DatabaseFailure(fmt.Errorf("dialing: %w", postgres.ErrUnavailable)), after: p.Retry},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := p.Next(test.err)
			if (err != nil) != test.wantsError {
				t.Fatalf("the error is %v", err)
			}
			if after := result.RequeueAfter; after < test.after || after > test.after+test.after/5 {
				t.Errorf("it is looked at again after %s, want %s and up to a fifth more", after, test.after)
			}
		})
	}
}
