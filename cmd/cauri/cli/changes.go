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
)

// The types of changes. All but the last are those of the stream.
const (
	typeTransaction = "transaction"
	typeEvent       = "event"
	typeAttempt     = "attempt"
	typeClock       = "clock"
	typeRequest     = "request"
)

// change is something of a sandbox as it is after it changed, or a request that was answered.
type change struct {
	sandboxapi.Entry
	Request *wire.LoggedRequest `json:"request,omitempty"`

	again bool // an event that is to be sent again, now
}

// changes follows the changes of a sandbox.
type changes interface {
	// Follow calls tell for each change from now on, until ctx ends or tell returns an error. It tells each change at
	// least once, and the changes of one transaction or event in their order. It may tell two close changes as one.
	Follow(ctx context.Context, tell func(change) error) error
}

// newChanges returns a [stream] of a sandbox. The stream calls ready when it has begun to follow, and say to tell the
// user about its connection.
func (p *program) newChanges(api *sandboxapi.Client, types []string, ready func(), say func(format string, args ...any)) *stream {
	return &stream{api: api, types: types, ready: ready, say: say, retry: p.poll}
}

// stream follows the stream of a sandbox, and connects again when the connection is lost. It reads the lists if the
// service says that changes may be missing.
type stream struct {
	api   *sandboxapi.Client
	types []string
	ready func()                           // is called when the stream has begun
	say   func(format string, args ...any) // to the user, about the connection
	retry time.Duration                    // between two connections
	clock *sandboxTime                     // is told what the clock says; nil: nobody asks

	last      string    // id of the last entry
	begun     time.Time // sandbox time. What is older was there before
	newest    time.Time // sandbox time of what was told last
	known     memory
	behind    bool // the lists are to be read
	connected bool // once
	lost      bool // the connection, and the user knows it
}

// Follow implements [changes].
func (s *stream) Follow(ctx context.Context, tell func(change) error) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	s.begun, s.newest = now, now
	for {
		err := s.api.Stream(ctx, s.types, &s.last, func(e sandboxapi.Entry) error { return s.entry(ctx, e, tell) })
		wait, fatal := patience(err, s.connected, s.retry)
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

// reason returns an error without the words that say that the API was not reached.
func reason(err error) error {
	var unreachable *sandboxapi.UnreachableError
	if errors.As(err, &unreachable) {
		return unreachable.Err
	}
	return err
}

// patience returns how long to wait after an error before the next try, at least atLeast. It returns the error itself
// if a retry does not help, and if the API was never reached.
func patience(err error, begun bool, atLeast time.Duration) (time.Duration, error) {
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

// pause waits, and returns an error if ctx ends first.
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

// now returns the sandbox time, as exact as the times of transactions and events.
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
		if s.behind {
			if err := s.readLists(ctx, tell); err != nil {
				return err
			}
			s.behind = false
		}
		if s.lost {
			s.say("Connected again. What happened meanwhile follows.")
		}
		if !s.connected {
			s.ready()
		}
		s.connected, s.lost = true, false
	case typeTransaction:
		return s.transaction(e.Transaction, tell)
	case typeEvent:
		return s.event(e.Event, tell)
	case typeAttempt:
		return s.attempt(e.Event, e.Attempt, tell)
	case typeClock:
		return tell(change{Entry: e})
	}
	return nil // of a type that this program does not know
}

func (s *stream) wants(kind string) bool { return slices.Contains(s.types, kind) }

// old reports whether something was there before the following began.
func (s *stream) old(at string) bool { return moment(at).Before(s.begun) }

// transaction tells a transaction when it is made, and when it is final.
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

// event tells an event when it is recorded, and when it is queued to be sent again. Its other changes are told as
// attempts.
func (s *stream) event(e *wire.EventSummary, tell func(change) error) error {
	before := s.known.of(e.ID)
	recorded := before.state == "" && !s.old(e.CreatedAt)
	again := before.state != "" && before.state != eventQueued && e.State == eventQueued
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

// reached notes the sandbox time of what was told.
func (s *stream) reached(at string) {
	if at := moment(at); at.After(s.newest) {
		s.newest = at
	}
}

const (
	// overlap is how far before the last told change the lists are read again: a change may be committed after its
	// time.
	overlap = time.Minute
	// missedAtMost is the most entries that are read of a list.
	missedAtMost = 100_000
)

// readLists tells the changes that were missed, from the lists of the transactions and of the events.
func (s *stream) readLists(ctx context.Context, tell func(change) error) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	if now.Before(s.newest) { // a reset put the clock back, and nothing is left of what was told
		s.begun, s.newest = time.Time{}, time.Time{}
	}
	from := s.newest.Add(-overlap)
	if from.Before(s.begun) {
		from = s.begun
	}
	since := url.Values{}
	if !from.IsZero() {
		since.Set("created_after", MachineTime(from.Add(-time.Millisecond))) // the parameter leaves the moment itself out
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

// missedEvent tells what is new of an event, and of its transaction, which may be older than the list.
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
	if err := s.event(e, tell); err != nil {
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
		s.known.set(id, progress{}) // by a reset
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.event(&found.EventSummary, tell); err != nil {
		return err
	}
	for i := range found.Attempts {
		if err := s.attempt(&found.EventSummary, &found.Attempts[i], tell); err != nil {
			return err
		}
	}
	return nil
}

// readQueued tells the attempts of events that are older than the list.
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

// progress is what was told of a transaction or of an event.
type progress struct {
	state    string // empty: nothing
	attempts int
}

// memory is what was told, by ids. It forgets the oldest.
type memory struct{ recent, older map[string]progress }

// remembered is how many ids are remembered at least.
const remembered = 20_000

func (m *memory) of(id string) progress {
	if found, ok := m.recent[id]; ok {
		return found
	}
	return m.older[id]
}

func (m *memory) set(id string, what progress) {
	if m.recent == nil || len(m.recent) >= remembered {
		m.older, m.recent = m.recent, map[string]progress{}
	}
	m.recent[id] = what
}

// in returns the ids of the transactions or events in a state.
func (m *memory) in(state string) (ids []string) {
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
