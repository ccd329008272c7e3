package expectations

import (
	"fmt"
	"slices"
	"time"
)

// Verdict is the result of an expectation. It never changes again once it is [Met] or [Failed].
type Verdict string

// The verdicts.
const (
	Open   Verdict = "Open"
	Met    Verdict = "Met"
	Failed Verdict = "Failed"
)

// Reasons for a verdict, as they stand in conditions.
const (
	ReasonNotMet           = "NotMet"           // a line is not met yet
	ReasonSettling         = "Settling"         // all lines are met, and have to stay so for a while
	ReasonMet              = "Met"              // all lines were met, and stayed so
	ReasonExceeded         = "Exceeded"         // a line cannot be met any more
	ReasonDeadlineExceeded = "DeadlineExceeded" // a line was not met in time
	ReasonUnreadable       = "TooManyRows"      // the lines could not be evaluated in time
	ReasonSandboxReset     = "SandboxReset"     // the sandbox was reset while the expectation was open
)

// Terms are how long an expectation is evaluated.
type Terms struct {
	Deadline time.Time     // lines that are not met by then have failed
	Settle   time.Duration // duration for which all lines have to stay met
}

// State is what is known of an expectation after an evaluation.
type State struct {
	Verdict  Verdict
	Reason   string
	Message  string
	Results  []Dated
	MetSince *time.Time // since when all lines are met; nil: they are not
}

// Dated is a result with the time since when the line is met, or is not met.
type Dated struct {
	Line     string      `json:"line"`
	Met      bool        `json:"met"`
	Observed string      `json:"observed"`
	Seen     Observation `json:"seen,omitzero"`
	At       time.Time   `json:"at"`
	Never    bool        `json:"-"` // not met, and cannot be met later
}

// said returns what is expected and what was observed.
func (d *Dated) said() string { return fmt.Sprintf("%s. Observed: %s.", d.Line, d.Observed) }

// Failure returns why a line that is not met failed.
func (s *State) Failure(line *Dated) string {
	switch {
	case line.Never:
		return line.said() + " The line cannot be met any more."
	case s.Reason == ReasonDeadlineExceeded:
		return line.said() + " The line was not met in time."
	case s.Reason == ReasonUnreadable:
		return line.said() + " " + s.Message
	}
	return line.said() + " The line was not met when another one had failed."
}

// Judge returns the state after an evaluation at the time now. The parameter former is the state after the last
// evaluation, or the zero State.
func (t Terms) Judge(former *State, results []Result, now time.Time) State {
	s := State{Verdict: Open, Results: date(former.Results, results, now)}
	unmet := s.first(func(d *Dated) bool { return !d.Met })
	never := s.first(func(d *Dated) bool { return d.Never })
	switch {
	case never != nil:
		s.Verdict, s.Reason = Failed, ReasonExceeded
		s.Message = s.Failure(never)
	case unmet == nil:
		s.settle(t, former.MetSince, now)
	case !now.Before(t.Deadline):
		s.Verdict, s.Reason = Failed, ReasonDeadlineExceeded
		s.Message = s.Failure(unmet)
	default:
		s.Reason = ReasonNotMet
		s.Message = unmet.said()
	}
	return s
}

// settle sets the verdict Met if all lines have stayed met for the duration t.Settle.
func (s *State) settle(t Terms, metSince *time.Time, now time.Time) {
	if metSince == nil {
		metSince = &now
	}
	s.MetSince = metSince
	if now.Sub(*metSince) >= t.Settle {
		s.Verdict, s.Reason, s.Message = Met, ReasonMet, "All lines are met."
		return
	}
	s.Reason, s.Message = ReasonSettling, fmt.Sprintf("All lines are met, and have to stay so for %s.", t.Settle)
}

// Unreadable returns the state after an evaluation that could not read the sandbox in time.
func (t Terms) Unreadable(former *State, now time.Time) State {
	s := State{Verdict: Open, Reason: ReasonUnreadable, Results: former.Results, Message: UnreadableMessage}
	if !now.Before(t.Deadline) {
		s.Verdict = Failed
	}
	return s
}

// UnreadableMessage says what to do about lines that take too long to evaluate.
const UnreadableMessage = "The sandbox has so many transactions that the lines cannot be evaluated within 2 s. Write orderRef or reference " +
	"under where, or reset the sandbox before the test."

// ResetMessage is the message of [ReasonSandboxReset].
const ResetMessage = "The sandbox was reset while the expectation was open. Set spec.run to a new value to evaluate it again."

// unreadablePause is the time after which lines that could not be evaluated in time are tried again.
const unreadablePause = 30 * time.Second

// NextLook returns when an open expectation that was evaluated at the time now has to be evaluated again even if nothing
// changes.
func (t Terms) NextLook(s *State, now time.Time) time.Time {
	again := now.Add(unreadablePause)
	switch {
	case s.MetSince != nil:
		return s.MetSince.Add(t.Settle)
	case s.Reason == ReasonUnreadable && again.Before(t.Deadline):
		return again
	}
	return t.Deadline
}

// TellsMore reports whether a state differs from the former one in more than what was observed, which may change with
// every transaction.
func (s *State) TellsMore(former *State) bool {
	sameLine := func(a, b Dated) bool { return a.Met == b.Met }
	return s.Verdict != former.Verdict || s.Reason != former.Reason || !slices.EqualFunc(s.Results, former.Results, sameLine)
}

// date adds times to results. A line that is still met, or still not met, keeps its time.
func date(former []Dated, results []Result, now time.Time) []Dated {
	dated := make([]Dated, len(results))
	for i, r := range results {
		dated[i] = Dated{Line: r.Line, Met: r.Met, Observed: r.Observed, Seen: r.Seen, At: now, Never: r.Never}
		if i < len(former) && former[i].Met == r.Met {
			dated[i].At = former[i].At
		}
	}
	return dated
}

// first returns the first result that fits; nil for none.
func (s *State) first(fits func(*Dated) bool) *Dated {
	for i := range s.Results {
		if fits(&s.Results[i]) {
			return &s.Results[i]
		}
	}
	return nil
}
