package cli

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// The types of changes. The API's stream has all except the last.
const (
	typeTransaction = "transaction"
	typeEvent       = "event"
	typeAttempt     = "attempt"
	typeClock       = "clock"
	typeFaults      = "faults"
	typeRequest     = "request"
)

// change is a change in a sandbox: the changed object in its new state, or a logged request.
type change struct {
	sandboxapi.Entry
	Request *wire.LoggedRequest `json:"request,omitempty"`
	Fault   *faultChange        `json:"fault,omitempty"` // in place of Faults

	again bool // whether an event was queued to be sent again
}

// changes follows the changes of a sandbox.
type changes interface {
	// Follow calls tell for each change from now on, until ctx ends or tell returns an error. Each change is reported
	// at least once. The changes of one transaction or event are reported in order. Two changes in quick succession may
	// be reported as one.
	Follow(ctx context.Context, tell func(change) error) error
}

// newChanges returns a stream of a sandbox. The stream calls the function ready after its first entry, and the function
// say with each message about the connection.
func (p *program) newChanges(api *sandboxapi.Client, types []string, ready func(), say func(format string, args ...any)) *stream {
	return &stream{api: api, types: types, ready: ready, say: say, retry: p.poll, faults: faultChanges{now: p.now}}
}

// stream reads the API's stream of a sandbox, and reconnects when the connection is lost. If the stream may have missed
// changes, it reads the lists of transactions and events.
type stream struct {
	api   *sandboxapi.Client
	types []string
	ready func()                           // called when the stream is ready for the first time
	say   func(format string, args ...any) // prints a message about the connection
	retry time.Duration                    // pause before a reconnect
	clock *sandboxTime                     // set by changes of the clock; may be nil
	since time.Time                        // sandbox time from which changes are reported; zero: the start of the stream

	faults faultChanges

	last      string    // id of the last entry
	begun     time.Time // sandbox time of the start; older objects are not reported
	newest    time.Time // sandbox time of the newest reported change
	known     seenProgress
	behind    bool // whether the lists must be read
	connected bool // whether the stream was connected once
	lost      bool // whether the user was told that the connection is lost
}

// Follow implements changes.
func (s *stream) Follow(ctx context.Context, tell func(change) error) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	if s.behind = !s.since.IsZero(); s.behind {
		now = s.since
	}
	s.begun, s.newest = now, now
	if s.wants(typeFaults) {
		if _, err := s.api.Faults(ctx); sandboxapi.IsNotFound(err) { // a service without this part refuses the type
			s.types = slices.DeleteFunc(slices.Clone(s.types), func(kind string) bool { return kind == typeFaults })
		}
	}
	defer s.faults.stop()
	for {
		err := s.api.Stream(ctx, s.types, &s.last, func(e sandboxapi.Entry) error { return s.entry(ctx, e, tell) })
		wait, fatal := retryPause(err, s.connected, s.retry)
		if fatal != nil {
			return fatal
		}
		if !s.lost {
			s.say("The connection is lost: %s. Trying again.", Message(reason(err)))
			s.lost = true
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// reason returns the cause of an [sandboxapi.UnreachableError], and other errors unchanged.
func reason(err error) error {
	var unreachable *sandboxapi.UnreachableError
	if errors.As(err, &unreachable) {
		return unreachable.Err
	}
	return err
}

// retryPause returns the pause before the next try after an error. The pause is not shorter than atLeast. It returns the
// error if a retry does not help, or if the API was never reached (begun is false).
func retryPause(err error, begun bool, atLeast time.Duration) (time.Duration, error) {
	var refused *sandboxapi.RefusedError
	var unreachable *sandboxapi.UnreachableError
	switch {
	case errors.As(err, &unreachable) && begun:
		return atLeast, nil
	case errors.As(err, &refused) && (refused.Status == http.StatusTooManyRequests || refused.Status >= http.StatusInternalServerError):
		return max(atLeast, refused.RetryAfter), nil
	}
	return 0, err
}

// pause waits for a duration. If ctx ends first, it returns the error of ctx.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// now returns the sandbox time, with the precision of the times of transactions and events.
func (s *stream) now(ctx context.Context) (time.Time, error) {
	clock, err := s.api.Clock(ctx)
	if err == nil && s.clock != nil {
		s.clock.set(&clock)
	}
	return moment(clock.Now).Truncate(time.Millisecond), err
}

// entry handles one entry of the stream.
func (s *stream) entry(ctx context.Context, e sandboxapi.Entry, tell func(change) error) error {
	switch e.Type {
	case sandboxapi.EntryReset:
		s.behind = true
	case sandboxapi.EntryReady:
		if !s.connected {
			s.ready()
		}
		s.connected = true
		if s.behind {
			if err := s.readLists(ctx, tell); err != nil {
				return err
			}
			s.behind = false
		}
		if s.lost {
			s.say("Connected again. What happened meanwhile follows.")
		}
		s.lost = false
		return s.readFaults(ctx, tell)
	case typeTransaction:
		return s.transaction(e.Transaction, tell)
	case typeEvent:
		return s.event(e.Event, e.Resent, tell)
	case typeAttempt:
		return s.attempt(e.Event, e.Attempt, tell)
	case typeClock:
		return tell(change{Entry: e})
	case typeFaults:
		return s.tellFaults(ctx, e.Faults.Data, tell)
	}
	return nil // an unknown type
}

func (s *stream) wants(kind string) bool { return slices.Contains(s.types, kind) }

// old reports whether a time is before the start of the stream.
func (s *stream) old(at string) bool { return moment(at).Before(s.begun) }

// transaction reports a transaction when it is created and when it is final.
func (s *stream) transaction(p *wire.Payment, tell func(change) error) error {
	at := p.CreatedAt
	if p.CompletedAt != nil {
		at = *p.CompletedAt
	}
	if s.known.of(p.ID).state != p.Status && !s.old(at) && s.wants(typeTransaction) {
		if err := tell(change{Entry: sandboxapi.Entry{Type: typeTransaction, Transaction: p}}); err != nil {
			return err
		}
	}
	s.known.set(p.ID, progress{state: p.Status})
	s.reached(at)
	return nil
}

// event reports an event when it is recorded, and when it is queued to be sent again. Other changes of an event are
// reported as attempts.
func (s *stream) event(e *wire.EventSummary, again bool, tell func(change) error) error {
	before := s.known.of(e.ID)
	recorded := before.state == "" && !s.old(e.CreatedAt)
	if e.Event == payments.CallbackEvent { // the stream does not say it of callbacks
		again = before.state != "" && before.state != eventQueued && e.State == eventQueued
	}
	if (recorded || again) && s.wants(typeEvent) {
		if err := tell(change{Entry: sandboxapi.Entry{Type: typeEvent, Event: e}, again: again}); err != nil {
			return err
		}
	}
	s.known.set(e.ID, progress{state: e.State, attempts: before.attempts})
	s.reached(e.CreatedAt)
	return nil
}

func (s *stream) attempt(e *wire.EventSummary, a *wire.DeliveryAttempt, tell func(change) error) error {
	before := s.known.of(e.ID)
	if a.Number <= before.attempts || s.old(a.StartedAt) || !s.wants(typeAttempt) {
		return nil
	}
	if err := tell(change{Entry: sandboxapi.Entry{Type: typeAttempt, Event: e, Attempt: a}}); err != nil {
		return err
	}
	s.known.set(e.ID, progress{state: e.State, attempts: a.Number})
	return nil
}

// reached updates s.newest with the time of a reported change.
func (s *stream) reached(at string) {
	if at := moment(at); at.After(s.newest) {
		s.newest = at
	}
}

const (
	// overlap is the duration before the newest reported change that readLists reads again. A change may be committed
	// later than its timestamp.
	overlap = time.Minute
	// missedAtMost is the maximum number of entries that are read from a list.
	missedAtMost = 100_000
)

// readLists reports missed changes. It reads them from the lists of transactions and events.
func (s *stream) readLists(ctx context.Context, tell func(change) error) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	if now.Before(s.newest) { // a reset set the clock back and removed everything
		s.begun, s.newest = time.Time{}, time.Time{}
	}
	from := s.newest.Add(-overlap)
	if from.Before(s.begun) {
		from = s.begun
	}
	since := url.Values{}
	if !from.IsZero() {
		since.Set("created_after", MachineTime(from.Add(-time.Millisecond))) // the API's list begins after this time
	}
	if s.wants(typeTransaction) {
		transactions, err := s.api.Payments(ctx, since, missedAtMost)
		if err != nil {
			return err
		}
		for i := range slices.Backward(transactions) {
			if err := s.transaction(&transactions[i], tell); err != nil {
				return err
			}
		}
	}
	events, err := s.api.Events(ctx, since, missedAtMost)
	if err != nil {
		return err
	}
	for i := range slices.Backward(events) {
		if err := s.missedEvent(ctx, &events[i], tell); err != nil {
			return err
		}
	}
	return s.readQueued(ctx, tell)
}

// missedEvent reports the missed changes of an event, and of its transaction, which may be too old for the list.
func (s *stream) missedEvent(ctx context.Context, e *wire.EventSummary, tell func(change) error) error {
	if s.wants(typeTransaction) && s.known.of(e.TxID).state != e.Status {
		found, err := s.api.Payment(ctx, e.TxID)
		if err != nil && !sandboxapi.IsNotFound(err) {
			return err
		}
		if err == nil {
			if err := s.transaction(&found, tell); err != nil {
				return err
			}
		}
	}
	if err := s.event(e, false, tell); err != nil {
		return err
	}
	if e.AttemptCount <= s.known.of(e.ID).attempts || !s.wants(typeAttempt) {
		return nil
	}
	return s.missedAttempts(ctx, e.ID, tell)
}

func (s *stream) missedAttempts(ctx context.Context, id string, tell func(change) error) error {
	found, err := s.api.Event(ctx, id)
	if sandboxapi.IsNotFound(err) {
		s.known.set(id, progress{}) // a reset removed the event
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.event(&found.EventSummary, false, tell); err != nil {
		return err
	}
	for i := range found.Attempts {
		if err := s.attempt(&found.EventSummary, &found.Attempts[i], tell); err != nil {
			return err
		}
	}
	return nil
}

// readQueued reports the missed attempts of queued events that are too old for the list.
func (s *stream) readQueued(ctx context.Context, tell func(change) error) error {
	if !s.wants(typeAttempt) {
		return nil
	}
	for _, id := range s.known.in(eventQueued) {
		if err := s.missedAttempts(ctx, id, tell); err != nil {
			return err
		}
	}
	return nil
}

// progress is the last reported state of a transaction or an event.
type progress struct {
	state    string // empty: not reported
	attempts int
}

// seenProgress has the progress of transactions and events, by id. When the map recent is full, it replaces the map older,
// whose ids are forgotten.
type seenProgress struct{ recent, older map[string]progress }

// remembered is the maximum number of ids in memory.recent.
const remembered = 20_000

func (m *seenProgress) of(id string) progress {
	if found, ok := m.recent[id]; ok {
		return found
	}
	return m.older[id]
}

func (m *seenProgress) set(id string, what progress) {
	if m.recent == nil || len(m.recent) >= remembered {
		m.older, m.recent = m.recent, map[string]progress{}
	}
	m.recent[id] = what
}

// in returns the ids of the transactions or events in a state.
func (m *seenProgress) in(state string) (ids []string) {
	for id, what := range m.recent {
		if what.state == state {
			ids = append(ids, id)
		}
	}
	for id, what := range m.older {
		if _, newer := m.recent[id]; !newer && what.state == state {
			ids = append(ids, id)
		}
	}
	return ids
}
