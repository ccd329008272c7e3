package grade

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	cause "github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
)

// Card is a report card: the result of a check, or of its part so far.
type Card struct {
	Battery    int       `json:"battery"`
	Letter     Letter    `json:"letter"` // empty: there is none yet, or nothing follows from the answers
	Results    []Result  `json:"results"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt"` // zero: it runs
}

// Result is the result of a line.
type Result struct {
	Line    string   `json:"line"` // id of the line
	Outcome Outcome  `json:"outcome"`
	Reason  Reason   `json:"reason,omitempty"` // why a line is skipped, and for Rewritten why it failed
	Answers []Answer `json:"answers,omitempty"`
}

// Outcome says whether a line holds.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // it counts neither way
)

// Reason says why a line counts neither way. Only [Rewritten] says why it failed.
type Reason string

// The reasons.
const (
	NeedsTransaction Reason = "needs_tx_id"    // the receiver refuses transactions that it does not know
	NeedsAllow       Reason = "needs_allow"    // it would tell of a refund that did not happen
	NotAccepted      Reason = "not_accepted"   // a genuine event was refused, so nothing follows from others
	NoStandard       Reason = "not_looked_at"  // the receiver does not look at webhook-signature
	NoAnswer         Reason = "without_answer" // there was no answer
	Unreached        Reason = "unreached"      // nothing accepts connections there
	WrongURL         Reason = "wrong_url"      // every event has the answer of a path that is not there
	SameAnswer       Reason = "same_answer"    // genuine and forged events are refused in the same way
	Broken           Reason = "broken"         // the receiver fails with an error at every event
	Rewritten        Reason = "rewritten"      // the receiver verifies what it has parsed and written again
)

// letterOf returns the letter of a receiver: the worst that a failed line allows. Without a genuine event that was
// accepted or refused, only E is said.
func letterOf(results []Result) Letter {
	letter, undecided := A, false
	for _, r := range results {
		if r.Outcome == Failed {
			letter = max(letter, lineOf(r.Line).Fails)
		}
		undecided = undecided || r.Line == lineGenuine && r.Outcome == Skipped
	}
	if undecided && letter < E {
		return ""
	}
	return letter
}

// lineOf returns a line of the battery. A line of another version has only its id.
func lineOf(id string) Line {
	lines := Lines()
	if i := slices.IndexFunc(lines, func(l Line) bool { return l.ID == id }); i >= 0 {
		return lines[i]
	}
	return Line{ID: id, What: english.Say("%s", id)}
}

// Of returns the line of a result.
func (r *Result) Of() Line { return lineOf(r.Line) }

// LetterOf returns the letter of a group of lines; empty if none of them counts.
func (c *Card) LetterOf(g Group) (letter Letter) {
	for _, r := range c.Results {
		if line := lineOf(r.Line); line.Group == g && r.Outcome != Skipped {
			letter = max(letter, A)
			if r.Outcome == Failed {
				letter = max(letter, line.Fails)
			}
		}
	}
	return letter
}

// Failed returns the lines that failed, the gravest first.
func (c *Card) Failed() (failed []*Result) {
	for i := range c.Results {
		if c.Results[i].Outcome == Failed {
			failed = append(failed, &c.Results[i])
		}
	}
	slices.SortStableFunc(failed, func(a, b *Result) int { return cmp.Compare(lineOf(b.Line).Fails, lineOf(a.Line).Fails) })
	return failed
}

// Count returns how many lines have an outcome.
func (c *Card) Count(o Outcome) (n int) {
	for _, r := range c.Results {
		if r.Outcome == o {
			n++
		}
	}
	return n
}

// Slowest returns the answer that took longest, also one that took too long; the zero value if there was none.
func (c *Card) Slowest() (slowest Answer) {
	for _, r := range c.Results {
		for _, a := range r.Answers {
			if (a.Status != 0 || a.Late) && a.DurationMs >= slowest.DurationMs {
				slowest = a
			}
		}
	}
	return slowest
}

// reasons are the reasons in words.
var reasons = map[Reason]english.Text{
	NeedsTransaction: "needs tx_id: your receiver refuses payments that it does not know",
	NeedsAllow:       "needs allow: it tells of a refund that did not happen",
	NotAccepted:      "not sent: a genuine event was refused",
	NoStandard:       "your receiver does not look at webhook-signature",
	NoAnswer:         "there was no answer",
	WrongURL:         "the URL may be wrong",
	SameAnswer:       "genuine and forged events have the same answer",
	Broken:           "genuine and forged events have the same answer",
}

// Observed returns the answers of a line in words; for a line that was not sent, the reason.
func (r *Result) Observed() english.Phrase {
	switch line := r.Of(); {
	case line.Group == Time && len(r.Answers) == 1:
		return english.Say("the slowest in %s ms", fmt.Sprint(r.Answers[0].DurationMs))
	case r.Reason == Rewritten:
		return english.Say("%s: it writes the body again", r.statuses())
	case r.Answers != nil && (r.Reason == WrongURL || r.Reason == SameAnswer || r.Reason == Broken):
		return english.Say("%s: %s", r.statuses(), english.Say(reasons[r.Reason]))
	case r.Reason != "" && r.Reason != NoAnswer && r.Reason != Unreached:
		return english.Say(reasons[r.Reason])
	case len(r.Answers) == 1 && r.Answers[0].Status != 0:
		return english.Say("%s in %s ms", fmt.Sprint(r.Answers[0].Status), fmt.Sprint(r.Answers[0].DurationMs))
	}
	return r.statuses()
}

// statuses returns the statuses of the answers, without their durations.
func (r *Result) statuses() english.Phrase {
	said := english.Say(reasons[NoAnswer])
	for i, a := range r.Answers {
		one := english.Say("%s", cmp.Or(a.Error, fmt.Sprint(a.Status)))
		if i == 0 {
			said = one
		} else {
			said = english.Say("%s, then %s", said, one)
		}
	}
	return said
}

// Sentence says in one sentence what was seen.
func (c *Card) Sentence() english.Phrase {
	failed := c.Failed()
	switch {
	case c.FinishedAt.IsZero():
		return english.Say("The check runs.")
	case c.Letter == "":
		return c.Results[0].undecided()
	case len(failed) == 0 && c.untried() > 0:
		return english.Say("It answers each event that was sent as expected. Not tried: %s of %s lines.", fmt.Sprint(c.untried()), fmt.Sprint(len(c.Results)))
	case len(failed) == 0:
		return english.Say("It answers each event as expected.")
	}
	line := failed[0].Of()
	answers := failed[0].Answers
	switch {
	case failed[0].Reason == Rewritten:
		return english.Say("It answers %s to %s: it writes the body again before it verifies.", failed[0].statuses(), line.What)
	case line.Group == Time:
		return english.Say("Its slowest answer took %s ms.", fmt.Sprint(c.Slowest().DurationMs))
	case answers[len(answers)-1].Status == 0:
		return english.Say("It does not answer to %s: %s.", line.What, failed[0].statuses())
	}
	return english.Say("It answers %s to %s.", failed[0].statuses(), line.What)
}

// untried returns how many lines are not known to hold: those that were skipped, but those about signatures that the receiver does not
// look at.
func (c *Card) untried() (n int) {
	for i := range c.Results {
		if r := &c.Results[i]; r.Outcome == Skipped && r.Reason != NoStandard {
			n++
		}
	}
	return n
}

// undecided says why nothing follows from the answer to a genuine event.
func (r *Result) undecided() english.Phrase {
	switch r.Reason {
	case Unreached:
		switch why := r.Answers[0].cause(); {
		case why.Code == cause.NotDelivered:
			return english.Say("No program was reached at the URL: %s.", r.statuses())
		case r.Answers[0].Host == "": // the card is older than this field
			return english.Say("No program was reached at the URL: %s. %s", r.statuses(), why.Do)
		default:
			return english.Say("No program was reached at the URL: %s. %s. %s", r.statuses(), why.What, why.Do)
		}
	case WrongURL:
		return english.Say("The URL may be wrong: the answer is %s to every event, genuine or forged. If it is right, name a payment that "+
			"your receiver knows.", r.statuses())
	case Broken:
		return english.Say("It answers %s to every event, genuine or forged: its log says why. If it refuses payments that it does not know, "+
			"name a payment that it knows.", r.statuses())
	case SameAnswer:
		return english.Say("It answers %s to every event, genuine or forged: it holds another secret, or refuses payments that it does not "+
			"know. Then name a payment that it knows.", r.statuses())
	}
	return english.Say("It answers %s to an event of a payment that it does not know: name a payment that it knows.", r.statuses())
}
