// Package faults holds the faults that a sandbox's resource declares, decides which of them match, and draws for the
// field percent, with the same result for the same seed. It keeps no state: the ledger counts how often each fault
// applied.
package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Set is the faults of a sandbox, in the order of its resource. Of the faults that match and have not reached their
// limits, only the first applies.
type Set []Fault

// Fault is one fault of a sandbox. It has exactly one of Webhook, API and Operator.
type Fault struct {
	Name     string    `json:"name"`
	When     When      `json:"when,omitzero"`
	Webhook  *Webhook  `json:"webhook,omitempty"`
	API      *API      `json:"api,omitempty"`
	Operator *Operator `json:"operator,omitempty"`

	// Of a fault that was set while the sandbox ran, and zero for a fault of the resource.

	Number int64     `json:"-"` // of its setting
	Ends   time.Time `json:"-"` // by the clock of the process that read it; zero: when it is removed
}

// When has the conditions of a fault. Each field that is set must match.
type When struct {
	Type      payments.Type     `json:"type,omitempty"`
	Status    payments.Status   `json:"status,omitempty"` // not compared for a request
	Operator  payments.Operator `json:"operator,omitempty"`
	Country   payments.Country  `json:"country,omitempty"`
	Store     string            `json:"store,omitempty"`
	MSISDN    string            `json:"msisdn,omitempty"`
	Reference string            `json:"reference,omitempty"` // a glob: * is any text, ? any character
	Event     string            `json:"event,omitempty"`     // type of an event; compared for a webhook only
	Path      string            `json:"path,omitempty"`      // a glob over the path within the sandbox; compared for a request only
	Attempt   int               `json:"attempt,omitempty"`   // of the event; for a request, the number of requests with its reference
	Percent   *int              `json:"percent,omitempty"`   // 0 to 100
	First     int64             `json:"first,omitempty"`     // it applies at most this many times; 0: no limit
	From      *time.Time        `json:"from,omitempty"`      // sandbox time
	Until     *time.Time        `json:"until,omitempty"`     // sandbox time, exclusive
	Every     bool              `json:"every,omitempty"`     // apply more than once for a reference
}

// Webhook is what a fault does to the delivery of an event.
type Webhook struct {
	Drop           bool      `json:"drop,omitempty"`
	Duplicate      int       `json:"duplicate,omitempty"` // how many times it is sent in all
	Spacing        *Duration `json:"spacing,omitempty"`   // time between two copies
	Overlap        bool      `json:"overlap,omitempty"`   // all copies leave at the same moment
	OutOfOrder     bool      `json:"outOfOrder,omitempty"`
	Delay          *Duration `json:"delay,omitempty"`
	BeforeAnswer   bool      `json:"beforeAnswer,omitempty"`
	BadSignature   bool      `json:"badSignature,omitempty"`
	StaleTimestamp *Duration `json:"staleTimestamp,omitempty"` // age of the timestamp
	Truncate       bool      `json:"truncate,omitempty"`
	ContentType    string    `json:"contentType,omitempty"`
	UnknownField   bool      `json:"unknownField,omitempty"`
	UnknownEvent   bool      `json:"unknownEvent,omitempty"`
}

// API is what a fault does to the answer to a request.
type API struct {
	Status         int            `json:"status,omitempty"`
	RetryAfter     *Duration      `json:"retryAfter,omitempty"`
	DropConnection DropConnection `json:"dropConnection,omitempty"`
	Delay          *Duration      `json:"delay,omitempty"` // real time
	MalformedBody  bool           `json:"malformedBody,omitempty"`
}

// Operator is what a fault does to the messages of an operator's own API: the answers to requests, the callback of a
// transaction, and the answers to queries about a transaction.
type Operator struct {
	Status             int            `json:"status,omitempty"`
	DropConnection     DropConnection `json:"dropConnection,omitempty"`
	Delay              *Duration      `json:"delay,omitempty"` // real time
	Callback           *Callback      `json:"callback,omitempty"`
	StatusStaysPending *Duration      `json:"statusStaysPending,omitempty"` // after the outcome, in sandbox time
	StatusFlickers     bool           `json:"statusFlickers,omitempty"`     // some status calls get a wrong answer
	Reason             string         `json:"reason,omitempty"`             // of a failure, in place of the operator's own
}

// OfCallback returns what the fault does to a callback. It returns the zero value for a nil fault, and for a fault
// without effect on callbacks.
func (f *Fault) OfCallback() Callback {
	if f == nil || f.Operator == nil || f.Operator.Callback == nil {
		return Callback{}
	}
	return *f.Operator.Callback
}

// Callback is what a fault does to the callback of a transaction.
type Callback struct {
	Drop         bool      `json:"drop,omitempty"`
	Duplicate    int       `json:"duplicate,omitempty"` // how many times it is sent in all
	Overlap      bool      `json:"overlap,omitempty"`   // all copies leave at the same moment
	Delay        *Duration `json:"delay,omitempty"`
	BeforeAnswer bool      `json:"beforeAnswer,omitempty"`
}

// DropConnection is the moment at which a connection is dropped.
type DropConnection string

// The moments of a drop.
const (
	BeforeCommit DropConnection = "BeforeCommit" // nothing is recorded
	AfterCommit  DropConnection = "AfterCommit"  // recorded, and the answer is lost
)

// Duration is a time.Duration in the text form of Go, as in resources: 500ms, 1h30m.
type Duration time.Duration

// UnmarshalText reads the text form. It returns the error of [time.ParseDuration].
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// MarshalText writes the text form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Of returns the duration, 0 for nil.
func (d *Duration) Of() time.Duration {
	if d == nil {
		return 0
	}
	return time.Duration(*d)
}

// Parse reads the faults of a resource from JSON. The set is nil if the resource has no faults.
func Parse(stored []byte) (Set, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	var s Set
	if err := json.Unmarshal(stored, &s); err != nil {
		return nil, fmt.Errorf("reading the sandbox's faults: %w", err)
	}
	return s, nil
}

// ParseSet reads a fault that was set while the sandbox ran, from an entry in the form of the resource.
func ParseSet(number int64, entry []byte, ends time.Time) (f Fault, err error) {
	if err := json.Unmarshal(entry, &f); err != nil {
		return Fault{}, fmt.Errorf("reading a fault that was set: %w", err)
	}
	f.Number, f.Ends = number, ends
	return f, nil
}

// At returns the faults that have not ended at a time, by the clock of this process.
func (s Set) At(now time.Time) Set {
	ended := func(f Fault) bool { return !f.Ends.IsZero() && !now.Before(f.Ends) }
	if !slices.ContainsFunc(s, ended) {
		return s
	}
	return slices.DeleteFunc(slices.Clone(s), ended)
}

// CountName is the name under which the acts of the fault are counted. Each setting of a fault counts for itself. No
// name in a resource has a space.
func (f *Fault) CountName() string {
	if f.Number == 0 {
		return f.Name
	}
	return f.Name + " #" + strconv.FormatInt(f.Number, 10)
}

// Header is the answer header with the name of the fault that applied.
const Header = "X-Cauri-Fault"
