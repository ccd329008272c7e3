package controllers

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
		stalled = &stallingError{reason: "InvalidSpec", message: "write something else"}
		waiting = &waitingError{reason: "SecretConflict", message: "the Secret is not ours"}
		failed  = &failedError{reason: "DatabaseError", cause: errors.New("it broke")}
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
		progress progress
		before   []metav1.Condition
		want     []metav1.Condition
	}{
		"all done at first": {
			progress: progress{steps: steps, done: 2},
			want:     []metav1.Condition{yes("SpecAccepted", 2, now), yes("DatabaseReady", 2, now), yes("Ready", 2, now)},
		},
		"a later generation keeps the transition time": {
			progress: progress{steps: steps, done: 2},
			before:   []metav1.Condition{yes("SpecAccepted", 1, earlier), yes("DatabaseReady", 1, earlier), yes("Ready", 1, earlier)},
			want:     []metav1.Condition{yes("SpecAccepted", 2, earlier), yes("DatabaseReady", 2, earlier), yes("Ready", 2, earlier)},
		},
		"stalled at the first step": {
			progress: progress{steps: steps, err: stalled},
			want: []metav1.Condition{
				condition("SpecAccepted", "False", "InvalidSpec", "write something else", 2, now),
				condition("DatabaseReady", "Unknown", "Pending", "Waiting for the conditions before this one.", 2, now),
				condition("Ready", "False", "InvalidSpec", "write something else", 2, now),
				condition("Stalled", "True", "InvalidSpec", "write something else", 2, now),
			},
		},
		"a step not come to keeps what was found for an older generation": {
			progress: progress{steps: steps, err: stalled},
			before:   []metav1.Condition{yes("SpecAccepted", 1, earlier), yes("DatabaseReady", 1, earlier), yes("Ready", 1, earlier)},
			want: []metav1.Condition{
				condition("SpecAccepted", "False", "InvalidSpec", "write something else", 2, now),
				yes("DatabaseReady", 1, earlier),
				condition("Ready", "False", "InvalidSpec", "write something else", 2, now),
				condition("Stalled", "True", "InvalidSpec", "write something else", 2, now),
			},
		},
		"waiting": {
			progress: progress{steps: steps, done: 1, err: waiting},
			want: []metav1.Condition{
				yes("SpecAccepted", 2, now),
				condition("DatabaseReady", "False", "SecretConflict", "the Secret is not ours", 2, now),
				condition("Ready", "False", "SecretConflict", "the Secret is not ours", 2, now),
				condition("Reconciling", "True", "Retrying", "the Secret is not ours", 2, now),
			},
		},
		"waiting on, nothing changes": {
			progress: progress{steps: steps[:1], err: waiting},
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
			progress: progress{steps: steps[:1], err: failed},
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
			progress: progress{steps: steps[:1], done: 1},
			before: []metav1.Condition{
				condition("SpecAccepted", "False", "DatabaseError", "it broke", 2, earlier),
				condition("Ready", "False", "DatabaseError", "it broke", 2, earlier),
				condition("Reconciling", "True", "Retrying", "it broke", 2, earlier),
			},
			want: []metav1.Condition{yes("SpecAccepted", 2, now), yes("Ready", 2, now)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.progress.conditions(test.before, 2, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPace(t *testing.T) {
	p := pace{resync: 10 * time.Minute, retry: 5 * time.Second}
	failed := &failedError{reason: "DatabaseError", cause: errors.New("it broke")}
	for name, test := range map[string]struct {
		err        error
		after      time.Duration // at least, and at most a fifth more
		wantsError bool
	}{
		"done":     {after: p.resync},
		"stalled":  {err: &stallingError{}, after: p.resync},
		"waiting":  {err: &waitingError{}, after: p.retry},
		"wrapped":  {err: fmt.Errorf("doing something: %w", &waitingError{}), after: p.retry},
		"failed":   {err: failed, wantsError: true},
		"database": {err: databaseFailure(fmt.Errorf("dialing: %w", postgres.ErrUnavailable)), after: p.retry},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := p.next(test.err)
			if (err != nil) != test.wantsError {
				t.Fatalf("the error is %v", err)
			}
			if after := result.RequeueAfter; after < test.after || after > test.after+test.after/5 {
				t.Errorf("it is looked at again after %s, want %s and up to a fifth more", after, test.after)
			}
		})
	}
}
