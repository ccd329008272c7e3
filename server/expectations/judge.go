package expectations

import (
	"cmp"
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
	ReasonEvaluatedLate    = "EvaluatedLate"    // it cannot be told any more whether a line was met in time
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
	Late     bool        `json:"-"` // as in [Result]
}

// sentence returns what is expected and what was observed.
func (d *Dated) sentence() string { return fmt.Sprintf("%s. Observed: %s.", d.Line, d.Observed) }

// Failure returns why a line that is not met failed.
func (s *State) Failure(line *Dated) string {
	switch {
	case line.Never:
		return line.sentence() + " The line cannot be met any more."
	case line.Late:
		return line.sentence() + " The line was evaluated too late to tell whether it was met in time."
	case s.Reason == ReasonDeadlineExceeded:
		return line.sentence() + " The line was not met in time."
	case s.Reason == ReasonUnreadable:
		return line.sentence() + " " + s.Message
	}
	return line.sentence() + " The line was not met when another one had failed."
}

// Moment returns the time for which an expectation is evaluated at the time now. What happens after the time at which the
// verdict falls does not count, however late it is evaluated. The parameter former is the state after the last
// evaluation, or the zero State.
func (t Terms) Moment(former *State, now time.Time) time.Time {
	if end := t.end(former); end.Before(now) {
		return end
	}
	return now
}

// end returns when the verdict falls if nothing changes any more.
func (t Terms) end(s *State) time.Time {
	if s.MetSince != nil {
		return s.MetSince.Add(t.Settle)
	}
	return t.Deadline
}

// Judge returns the state after an evaluation for the time at, which [Terms.Moment] returns. The parameter former is the
// state after the last evaluation, or the zero State.
func (t Terms) Judge(former *State, results []Result, at time.Time) State {
	s := State{Verdict: Open, Results: date(former.Results, results, at)}
	unmet := s.first(func(d *Dated) bool { return !d.Met && !d.Late })
	never := s.first(func(d *Dated) bool { return d.Never })
	late := s.first(func(d *Dated) bool { return d.Late })
	over := !at.Before(t.Deadline)
	switch {
	case never != nil:
		s.Verdict, s.Reason = Failed, ReasonExceeded
		s.Message = s.Failure(never)
	case unmet == nil && late == nil:
		s.settle(t, former.MetSince, at)
	case unmet != nil && over:
		s.Verdict, s.Reason = Failed, ReasonDeadlineExceeded
		s.Message = s.Failure(unmet)
	case over:
		s.Verdict, s.Reason = Failed, ReasonEvaluatedLate
		s.Message = s.Failure(late)
	default:
		s.Reason = ReasonNotMet
		s.Message = cmp.Or(unmet, late).sentence()
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

// NextLook returns when an open expectation has to be evaluated again even if nothing changes. It was evaluated at the
// time now, from the state former to the state s.
func (t Terms) NextLook(former, s *State, now time.Time) time.Time {
	end := t.end(s)
	switch again := now.Add(unreadablePause); {
	case s.Reason == ReasonUnreadable && again.Before(end):
		return again
	case s.Reason != ReasonUnreadable && t.Moment(former, now).Before(now):
		return now // it was evaluated for a time that has passed
	}
	return end
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
		dated[i] = Dated{Line: r.Line, Met: r.Met, Observed: r.Observed, Seen: r.Seen, At: now, Never: r.Never, Late: r.Late}
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
