package faults

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Kind is what a fault disturbs.
type Kind string

// The kinds of faults.
const (
	WebhookKind Kind = "webhook"
	APIKind     Kind = "api"
)

// Kind is the fault's kind.
func (f *Fault) Kind() Kind {
	if f.API != nil {
		return APIKind
	}
	return WebhookKind
}

// Place is a request or an attempt, with all that faults may ask of it. A field that is not known there is empty, and a fault that asks for
// it does not act.
type Place struct {
	Type      payments.Type
	Status    payments.Status
	Operator  payments.Operator
	Country   payments.Country
	Store     string
	MSISDN    string
	Reference string
	Request   string // what a request without a reference has in common with its repetitions
	Event     string
	Path      string
	Reads     bool // the request changes nothing: only a fault that asks for the path acts
	Attempt   int
	Now       time.Time // sandbox time
	Draws     Draws
}

// Key is what a fault acts on once, and what percent is drawn by; empty: each time is another one.
func (p *Place) Key() string { return cmp.Or(p.Reference, p.Request) }

// At returns the faults of a kind that fit a place, in their order. The first of them that its counts allow acts, alone: whoever has the
// counts decides that. A fault that needs none is the last.
func (s Set) At(kind Kind, p *Place) []*Fault {
	var fits []*Fault
	for i := range s {
		f := &s[i]
		if f.Kind() != kind || !f.When.fits(p) || !f.drawn(p) {
			continue
		}
		fits = append(fits, f)
		if !f.counted(p.Key()) {
			break
		}
	}
	return fits
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

// drawn draws by percent. Without a reference nothing is drawn here, but by a counter: see [Fault.DrawnAs].
func (f *Fault) drawn(p *Place) bool {
	return f.When.Percent == nil || p.Key() == "" || p.Draws.Chance("fault "+f.Name, p.Key(), *f.When.Percent)
}

// DrawnAs draws by percent at a place without a reference: it is the n-th where the fault fitted.
func (f *Fault) DrawnAs(n int64, d Draws) bool {
	return f.When.Percent == nil || d.Below("place of fault "+f.Name, decimal(n), 100) < int64(*f.When.Percent)
}

// DrawsByCount reports whether percent is drawn by a counter at a place with this reference.
func (f *Fault) DrawsByCount(reference string) bool { return f.When.Percent != nil && reference == "" }

// Once reports whether the fault acts only once for this reference.
func (f *Fault) Once(reference string) bool {
	return (f.API != nil || f.When.Percent != nil) && !f.When.Every && reference != ""
}

// counted reports whether counts decide if the fault acts.
func (f *Fault) counted(reference string) bool {
	return f.When.First != 0 || f.Once(reference) || f.DrawsByCount(reference)
}

// Digest tells two entries of the same name apart: where an entry changes, its counts begin anew.
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

// match reports whether text is of the form of a glob: * is any text, also an empty one, and ? any character.
func match(glob, text string) bool {
	pattern, rest := []rune(glob), []rune(text)
	star, behind := -1, 0 // the last star, and where the text behind it begins
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
