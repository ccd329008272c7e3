package faults

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Kind says what a fault applies to.
type Kind string

// The kinds of faults.
const (
	WebhookKind  Kind = "webhook"
	APIKind      Kind = "api"
	OperatorKind Kind = "operator"
)

// Kind returns the fault's kind.
func (f *Fault) Kind() Kind {
	switch {
	case f.API != nil:
		return APIKind
	case f.Operator != nil:
		return OperatorKind
	}
	return WebhookKind
}

// TargetKind is the kind of a [Target].
type TargetKind int

// The kinds of targets.
const (
	AtWebhook  TargetKind = iota // an attempt to send an event
	AtRequest                    // a request of /v1
	AtOperator                   // a request of an operator's own API
	AtStatus                     // an operator's answer about a transaction
	AtCallback                   // an operator's callback
)

// Target is a request, an attempt or a callback, with all values that a fault compares. An unknown value is empty. It
// matches no fault that compares it.
type Target struct {
	Kind      TargetKind
	Type      payments.Type
	Status    payments.Status
	Operator  payments.Operator
	Country   payments.Country
	Store     string
	MSISDN    string
	Reference string
	Request   string // the key of a request without a reference, which its repetitions have too
	Event     string
	Path      string
	Reads     bool // the request changes nothing: only a fault with a path applies
	Attempt   int
	Now       time.Time // sandbox time
	Ended     time.Time // when the transaction got its outcome, at an answer about it
	// WrongPending and WrongEnded are whether a wrong answer is drawn for a status call, if the operator tells the
	// transaction as pending, and if it tells the outcome.
	WrongPending, WrongEnded bool
	Draws                    Draws
}

// Key identifies a target together with its repetitions. A fault that applies only once applies once for each key. The
// draw of percent depends on the key. If the key is empty, the target has no repetitions.
func (t *Target) Key() string { return cmp.Or(t.Reference, t.Request) }

// Matching returns the faults that match a target, in their order. The caller applies only the first one that its
// counts allow. A fault without counts always applies, so Matching returns no fault after it.
func (s Set) Matching(t *Target) []*Fault {
	var fits []*Fault
	for i := range s {
		f := &s[i]
		if !f.actsAt(t) || !f.When.fits(t) || !f.drawn(t) {
			continue
		}
		fits = append(fits, f)
		if !f.counted(t) {
			break
		}
	}
	return fits
}

// actsAt reports whether the fault has an effect on this kind of target.
func (f *Fault) actsAt(t *Target) bool {
	o := f.Operator
	switch t.Kind {
	case AtRequest:
		return f.API != nil
	case AtOperator:
		return f.Answer() != nil
	case AtStatus:
		return o != nil && (f.StaysPending(t) || f.Flickers(t) || o.Reason != "" && t.failed())
	case AtCallback:
		return o != nil && (o.Callback != nil || o.Reason != "" && t.failed())
	}
	return f.Webhook != nil
}

func (t *Target) failed() bool { return t.Status.Terminal() && t.Status != payments.Success }

// Answer returns the change that the fault makes to a request's answer; nil for no change.
func (f *Fault) Answer() *API {
	if o := f.Operator; o != nil && (o.Status != 0 || o.DropConnection != "" || o.Delay != nil) {
		return &API{Status: o.Status, DropConnection: o.DropConnection, Delay: o.Delay}
	}
	return f.API
}

// Refuses reports whether the fault ends requests that match it, so that nothing of them is recorded.
func (f *Fault) Refuses() bool {
	a := f.Answer()
	return a != nil && (a.Status != 0 || a.DropConnection == BeforeCommit)
}

// Over reports whether the fault applies to nothing at a time, by the sandbox's clock, after it has acted some times.
func (f *Fault) Over(now time.Time, acts int64) bool {
	w := &f.When
	return w.From != nil && now.Before(*w.From) || w.Until != nil && !now.Before(*w.Until) ||
		w.First != 0 && acts >= w.First || w.Percent != nil && *w.Percent == 0
}

// StaysPending reports whether the operator still answers PENDING to a target whose transaction has its outcome.
func (f *Fault) StaysPending(t *Target) bool {
	o := f.Operator
	return o != nil && o.StatusStaysPending != nil && t.Status.Terminal() && t.Now.Before(t.Ended.Add(o.StatusStaysPending.Of()))
}

// Flickers reports whether the operator gives a wrong answer to a status call.
func (f *Fault) Flickers(t *Target) bool {
	if f.Operator == nil || !f.Operator.StatusFlickers {
		return false
	}
	if !t.Status.Terminal() || f.StaysPending(t) {
		return t.WrongPending
	}
	return t.WrongEnded
}

func (w *When) fits(t *Target) bool {
	switch {
	case w.Type != "" && w.Type != t.Type,
		w.Status != "" && w.Status != t.Status,
		w.Operator != "" && w.Operator != t.Operator,
		w.Country != "" && w.Country != t.Country,
		w.Store != "" && w.Store != t.Store,
		w.MSISDN != "" && w.MSISDN != t.MSISDN,
		w.Event != "" && w.Event != t.Event,
		w.Attempt != 0 && w.Attempt != t.Attempt,
		w.From != nil && t.Now.Before(*w.From),
		w.Until != nil && !t.Now.Before(*w.Until),
		w.Reference != "" && (t.Reference == "" || !match(w.Reference, t.Reference)),
		w.Path != "" && (t.Path == "" || !match(w.Path, t.Path)),
		t.Reads && w.Path == "":
		return false
	}
	return true
}

// drawn reports the result of the draw by percent. For a target without a key it returns true: [Fault.DrawnAs] draws.
func (f *Fault) drawn(t *Target) bool {
	return f.When.Percent == nil || t.Key() == "" || t.Draws.Chance("fault "+f.Name, t.Key(), *f.When.Percent)
}

// DrawnAs reports the result of the draw by percent for a target without a key. n is the number of earlier draws.
func (f *Fault) DrawnAs(n int64, d Draws) bool {
	return f.When.Percent == nil || d.Below("place of fault "+f.Name, strconv.FormatInt(n, 10), 100) < int64(*f.When.Percent)
}

// DrawsByCount reports whether [Fault.DrawnAs] draws by percent for a target with this [Target.Key].
func (f *Fault) DrawsByCount(reference string) bool { return f.When.Percent != nil && reference == "" }

// Once reports whether the fault applies only once to the [Target.Key] of t.
func (f *Fault) Once(t *Target) bool {
	switch {
	case t.Key() == "":
		return false
	case t.Kind == AtStatus, t.Kind == AtCallback:
		return true
	}
	return (t.Kind != AtWebhook || f.When.Percent != nil) && !f.When.Every
}

// GoesOn reports whether a fault that has applied to the key of a target also applies to this target, without a new
// count. This holds for callbacks and status answers of operators: a fault of a transaction applies to all of them.
func (t *Target) GoesOn() bool { return t.Kind == AtStatus || t.Kind == AtCallback }

// counted reports whether the fault applies only if its counts in the database allow it.
func (f *Fault) counted(t *Target) bool {
	return f.When.First != 0 || f.Once(t) || f.DrawsByCount(t.Key())
}

// Digest returns a hash of the whole entry. The hash identifies the stored counts, so a changed entry counts from 0.
func (f *Fault) Digest() []byte {
	entry, err := json.Marshal(f)
	if err != nil {
		panic(err) // it was read from JSON
	}
	sum := sha256.Sum256(entry)
	return sum[:16]
}

// Named returns the fault of this name, nil for none.
func (s Set) Named(name string) *Fault {
	for i := range s {
		if s[i].Name == name {
			return &s[i]
		}
	}
	return nil
}

// longestMatched is the length of the longest text that a glob may match, in bytes. No reference and no path of an API is
// longer, and the time of a match grows with it.
const longestMatched = 500

// match reports whether text matches a glob, in which * stands for any text, even none, and ? for any one character.
func match(glob, text string) bool {
	if len(text) > longestMatched {
		return false
	}
	pattern, rest := []rune(glob), []rune(text)
	star, behind := -1, 0 // the last star, and where the text after it begins
	p, t := 0, 0
	for t < len(rest) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, behind = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == rest[t]):
			p++
			t++
		case star >= 0: // the star takes one more character
			behind++
			p, t = star+1, behind
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
