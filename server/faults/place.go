package faults

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
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

// Where is a kind of [Place].
type Where int

// The kinds of places.
const (
	AtWebhook  Where = iota // an attempt to send an event
	AtRequest               // a request of /v1
	AtOperator              // a request of an operator's own API
	AtStatus                // an operator's answer about a transaction that has its outcome
	AtCallback              // an operator's callback
)

// Place is a request, an attempt or a callback, with all values that a fault compares. A value that is not known is
// empty, and does not match a fault that compares it.
type Place struct {
	Where     Where
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
	Draws     Draws
}

// Key identifies a place together with its repetitions. A fault that applies only once applies once for each key, and
// percent is drawn by the key. If the key is empty, each request stands alone.
func (p *Place) Key() string { return cmp.Or(p.Reference, p.Request) }

// At returns the faults that match a place, in their order. Of these, only the first whose counts allow it applies: the
// caller, who has the counts, decides that. A fault without counts is the last.
func (s Set) At(p *Place) []*Fault {
	var fits []*Fault
	for i := range s {
		f := &s[i]
		if !f.actsAt(p) || !f.When.fits(p) || !f.drawn(p) {
			continue
		}
		fits = append(fits, f)
		if !f.counted(p) {
			break
		}
	}
	return fits
}

// actsAt reports whether the fault has an effect on this kind of place.
func (f *Fault) actsAt(p *Place) bool {
	o := f.Operator
	switch p.Where {
	case AtRequest:
		return f.API != nil
	case AtOperator:
		return f.Answer() != nil
	case AtStatus:
		return o != nil && (f.StaysPending(p) || o.Reason != "" && p.failed())
	case AtCallback:
		return o != nil && (o.Callback != nil || o.Reason != "" && p.failed())
	}
	return f.Webhook != nil
}

func (p *Place) failed() bool { return p.Status.Terminal() && p.Status != payments.Success }

// Answer returns what the fault does to the answer to a request, nil if it does not change the answer.
func (f *Fault) Answer() *API {
	if o := f.Operator; o != nil && (o.Status != 0 || o.DropConnection != "" || o.Delay != nil) {
		return &API{Status: o.Status, DropConnection: o.DropConnection, Delay: o.Delay}
	}
	return f.API
}

// StaysPending reports whether the operator still answers PENDING at p, although the transaction has its outcome.
func (f *Fault) StaysPending(p *Place) bool {
	o := f.Operator
	return o != nil && o.StatusStaysPending != nil && p.Now.Before(p.Ended.Add(o.StatusStaysPending.Of()))
}

func (w *When) fits(p *Place) bool {
	switch {
	case w.Type != "" && w.Type != p.Type,
		w.Status != "" && w.Status != p.Status,
		w.Operator != "" && w.Operator != p.Operator,
		w.Country != "" && w.Country != p.Country,
		w.Store != "" && w.Store != p.Store,
		w.MSISDN != "" && w.MSISDN != p.MSISDN,
		w.Event != "" && w.Event != p.Event,
		w.Attempt != 0 && w.Attempt != p.Attempt,
		w.From != nil && p.Now.Before(*w.From),
		w.Until != nil && !p.Now.Before(*w.Until),
		w.Reference != "" && (p.Reference == "" || !match(w.Reference, p.Reference)),
		w.Path != "" && (p.Path == "" || !match(w.Path, p.Path)),
		p.Reads && w.Path == "":
		return false
	}
	return true
}

// drawn draws by percent. Without a key it returns true, and [Fault.DrawnAs] draws by a counter.
func (f *Fault) drawn(p *Place) bool {
	return f.When.Percent == nil || p.Key() == "" || p.Draws.Chance("fault "+f.Name, p.Key(), *f.When.Percent)
}

// DrawnAs draws by percent at a place without a reference. n is how many times
// percent was drawn for the fault before.
func (f *Fault) DrawnAs(n int64, d Draws) bool {
	return f.When.Percent == nil || d.Below("place of fault "+f.Name, decimal(n), 100) < int64(*f.When.Percent)
}

// DrawsByCount reports whether percent is drawn by a counter, see [Fault.DrawnAs], for this [Place.Key].
func (f *Fault) DrawsByCount(reference string) bool { return f.When.Percent != nil && reference == "" }

// Once reports whether the fault applies only once to the [Place.Key] of p.
func (f *Fault) Once(p *Place) bool {
	switch {
	case p.Key() == "":
		return false
	case p.Where == AtStatus, p.Where == AtCallback:
		return true
	}
	return (p.Where != AtWebhook || f.When.Percent != nil) && !f.When.Every
}

// GoesOn reports whether a fault that has applied to the key of a place applies to this place too, and is not counted
// again. This is so for an operator's callback, and for each of its answers about a status: a fault of one transaction
// applies to all of them.
func (p *Place) GoesOn() bool { return p.Where == AtStatus || p.Where == AtCallback }

// counted reports whether the fault applies only if its counts in the database allow it.
func (f *Fault) counted(p *Place) bool {
	return f.When.First != 0 || f.Once(p) || f.DrawsByCount(p.Key())
}

// Digest is a hash of the whole entry. Counts are stored under it, so that they begin at 0 when an entry is changed.
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

// match reports whether text matches a glob, in which * stands for any text, even none, and ? for any one character.
func match(glob, text string) bool {
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
