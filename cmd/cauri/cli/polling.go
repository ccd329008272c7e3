package cli

import (
	"context"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// polling follows a sandbox of a service without a stream: it reads the newest transactions and events again and again, and those that are
// open one by one.
type polling struct {
	api      *sandboxapi.Client
	interval time.Duration
	ready    func()
	known    map[string]*followed // by the code of the transaction's id, which its event has too
	begun    bool
}

// followed is what was told of a transaction.
type followed struct {
	status   string // empty: only the event was seen
	event    bool
	attempts int
	open     bool // more is to come
	seen     bool // in the present poll
}

const (
	// pollPage is how many of the newest transactions and events are read.
	pollPage = wire.MaxLimit
	// pollOpen bounds how many older ones are read one by one in a poll.
	pollOpen = 20
	// pollMemory bounds what is remembered, in transactions.
	pollMemory = 10_000
)

// Follow implements [changes].
func (f *polling) Follow(ctx context.Context, tell func(change) error) error {
	for {
		wait, err := f.interval, f.poll(ctx, tell)
		if err != nil {
			if wait, err = patience(err, f.begun, wait); err != nil { // the next poll finds what was missed
				return err
			}
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// poll tells what is new. The first poll tells nothing: what is older is known. Events are read first, so that the transaction of each is
// read too.
func (f *polling) poll(ctx context.Context, tell func(change) error) error {
	events, err := f.api.Events(ctx, nil, pollPage)
	if err != nil {
		return err
	}
	transactions, err := f.api.Payments(ctx, nil, pollPage)
	if err != nil {
		return err
	}
	if !f.begun {
		tell = func(change) error { return nil }
	}
	for _, one := range f.known {
		one.seen = false
	}
	for i := len(transactions) - 1; i >= 0; i-- { // oldest first
		if err := f.transaction(&transactions[i], tell); err != nil {
			return err
		}
	}
	for i := len(events) - 1; i >= 0; i-- {
		if err := f.event(&events[i], tell); err != nil {
			return err
		}
	}
	if err := f.readOpen(ctx, tell); err != nil {
		return err
	}
	if !f.begun {
		f.ready()
	}
	f.begun = true
	f.forget()
	return nil
}

// codeOf is what the ids of a transaction and of its event have in common.
func codeOf(id string) string {
	_, code, _ := strings.Cut(id, "_")
	return code
}

func (f *polling) of(id string) *followed {
	one := f.known[codeOf(id)]
	if one == nil {
		one = &followed{}
		f.known[codeOf(id)] = one
	}
	one.seen = true
	return one
}

func (f *polling) transaction(p *wire.Payment, tell func(change) error) error {
	one := f.of(p.ID)
	if one.status == p.Status {
		return nil
	}
	one.status, one.open = p.Status, true // its event is to come
	return tell(change{Entry: sandboxapi.Entry{Type: typeTransaction, Transaction: p}})
}

func (f *polling) event(e *wire.EventSummary, tell func(change) error) error {
	one := f.of(e.ID)
	fresh, attempted := !one.event, e.AttemptCount > one.attempts
	one.event, one.attempts, one.open = true, e.AttemptCount, e.State == eventQueued
	if fresh {
		if err := tell(change{Entry: sandboxapi.Entry{Type: typeEvent, Event: e}}); err != nil {
			return err
		}
	}
	if attempted {
		a := wire.DeliveryAttempt{Number: e.AttemptCount, ResponseStatus: e.LastResponseStatus, Error: e.LastError}
		return tell(change{Entry: sandboxapi.Entry{Type: typeAttempt, Event: e, Attempt: &a}})
	}
	return nil
}

// readOpen reads what is open and not among the newest.
func (f *polling) readOpen(ctx context.Context, tell func(change) error) error {
	read := 0
	for code, one := range f.known {
		if !one.open || one.seen {
			continue
		}
		if read++; read > pollOpen {
			return nil // the next poll begins with others
		}
		if err := f.readOne(ctx, code, one, tell); sandboxapi.IsNotFound(err) {
			delete(f.known, code) // by a reset
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (f *polling) readOne(ctx context.Context, code string, one *followed, tell func(change) error) error {
	if one.status == "PENDING" {
		found, err := f.api.Payment(ctx, "TX_"+code)
		if err != nil || found.Status == one.status {
			return err
		}
		if err := f.transaction(&found, tell); err != nil {
			return err
		}
	}
	found, err := f.api.Event(ctx, eventPrefix+code)
	if err != nil {
		return err
	}
	return f.event(&found.EventSummary, tell)
}

// forget drops what is final if there is too much of it. Only what is not among the newest may be dropped: it would be told again.
func (f *polling) forget() {
	if len(f.known) < pollMemory {
		return
	}
	for code, one := range f.known {
		if !one.open && !one.seen {
			delete(f.known, code)
		}
	}
}
