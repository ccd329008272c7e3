package expectations_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/expectations"
)

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// look is an evaluation of two lines, some seconds after the start.
type look struct {
	seconds        int
	first, second  bool
	is             string // the second line: "", never or late
	verdict        expectations.Verdict
	reason         string
	firstAt, nextS int // since when the first line is as it is, and when the next look has to be
}

func TestJudge(t *testing.T) {
	const open, met, failed = expectations.Open, expectations.Met, expectations.Failed
	for name, looks := range map[string][]look{
		"is met and stays so": {
			{0, false, false, "", open, "NotMet", 0, 30},
			{3, true, false, "", open, "NotMet", 3, 30},
			{5, true, true, "", open, "Settling", 3, 7},
			{7, true, true, "", met, "Met", 3, 7},
		},
		"does not stay met": {
			{5, true, true, "", open, "Settling", 5, 7},
			{6, true, false, "", open, "NotMet", 5, 30},
			{8, true, true, "", open, "Settling", 5, 10},
			{10, true, true, "", met, "Met", 5, 10},
		},
		"is not met in time": {
			{29, false, true, "", open, "NotMet", 29, 30},
			{30, false, true, "", failed, "DeadlineExceeded", 29, 30},
		},
		"settles after the deadline": {
			{29, true, true, "", open, "Settling", 29, 31},
			{31, true, true, "", met, "Met", 29, 31},
		},
		"is undone while it settles after the deadline": {
			{29, true, true, "", open, "Settling", 29, 31},
			{31, false, true, "", failed, "DeadlineExceeded", 31, 30},
		},
		"is exceeded": {
			{1, true, false, "never", failed, "Exceeded", 1, 30},
		},
		"is not met in time, and evaluated late": {
			{45, false, true, "", failed, "DeadlineExceeded", 30, 45},
		},
		"is met in time, and evaluated late": {
			{45, true, true, "", open, "Settling", 30, 45},
			{46, true, true, "", met, "Met", 30, 46},
		},
		"may have been met in time": {
			{45, true, false, "late", failed, "EvaluatedLate", 30, 45},
		},
		"is not met, whatever is not known": {
			{45, false, false, "late", failed, "DeadlineExceeded", 30, 45},
		},
		"does not stay met for all that is known": {
			{5, true, true, "", open, "Settling", 5, 7},
			{9, true, false, "late", open, "NotMet", 5, 9},
			{9, true, true, "", open, "Settling", 5, 11},
		},
	} {
		t.Run(name, func(t *testing.T) {
			terms := expectations.Terms{Deadline: at(30), Settle: 2 * time.Second}
			var state expectations.State
			for _, l := range looks {
				results := []expectations.Result{
					{Line: "a", Met: l.first, Observed: "x"},
					{Line: "b", Met: l.second, Never: l.is == "never", Late: l.is == "late", Observed: "y"},
				}
				former := state
				state = terms.Judge(&former, results, terms.Moment(&former, at(l.seconds)))
				next := terms.NextLook(&former, &state, at(l.seconds))
				got := fmt.Sprintf("%s %s %s %s", state.Verdict, state.Reason, state.Results[0].At.Sub(start), next.Sub(start))
				want := fmt.Sprintf("%s %s %ds %ds", l.verdict, l.reason, l.firstAt, l.nextS)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("after %d s: %s", l.seconds, diff)
				}
			}
		})
	}
}

func TestMessageNamesTheLine(t *testing.T) {
	terms := expectations.Terms{Deadline: at(30)}
	results := []expectations.Result{{Line: "float RWF: 1", Observed: "2"}}
	for seconds, want := range map[int]string{
		1:  "float RWF: 1. Observed: 2.",
		30: "float RWF: 1. Observed: 2. The line was not met in time.",
	} {
		if diff := cmp.Diff(want, terms.Judge(&expectations.State{}, results, at(seconds)).Message); diff != "" {
			t.Error(diff)
		}
	}
}

// It is read again after a while: the database may have been busy.
func TestWhatCannotBeReadFailsAtTheDeadline(t *testing.T) {
	terms := expectations.Terms{Deadline: at(90)}
	for seconds, want := range map[int]string{1: "Open 31s", 70: "Open 90s", 90: "Failed 90s"} {
		state := terms.Unreadable(&expectations.State{}, at(seconds))
		if got := fmt.Sprintf("%s %.0fs", state.Verdict, terms.NextLook(&expectations.State{}, &state, at(seconds)).Sub(start).Seconds()); got != want {
			t.Errorf("after %d s: %s", seconds, got)
		}
	}
}
