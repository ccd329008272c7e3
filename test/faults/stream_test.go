package faults

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/test/system"
)

// listener listens to a sandbox, and connects again after the last entry whenever its stream ends.
type listener struct {
	mu           sync.Mutex
	ready        bool
	resets       int
	streams      int
	transactions map[string]system.Transaction // as they were told last, by id
	events       map[string]system.StreamEvent
	attempts     map[string]bool
	problems     []string
}

// tell remembers an entry, and looks whether it goes back.
func (l *listener) tell(entry system.StreamEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch entry.Type {
	case "ready":
		l.ready = true
	case "reset":
		l.resets++
	case "transaction":
		t := entry.Transaction.Transaction
		if before := l.transactions[t.ID]; before.Status != "" && before.Status != "PENDING" && before.Status != t.Status {
			l.problems = append(l.problems, fmt.Sprintf("%s was told %s, and then %s", t.ID, before.Status, t.Status))
		}
		l.transactions[t.ID] = t
	case "event":
		if before := l.events[entry.Event.ID]; before.AttemptCount > entry.Event.AttemptCount {
			l.problems = append(l.problems, fmt.Sprintf("%s was told with %d attempts, and then with %d", entry.Event.ID,
				before.AttemptCount, entry.Event.AttemptCount))
		}
		l.events[entry.Event.ID] = *entry.Event
	case "attempt":
		l.attempts[fmt.Sprint(entry.Event.ID, " ", entry.Attempt.Number)] = true
	}
}

// listen listens until the test stops it. Of its streams it ends some by itself.
func (w *fixture) listen(m *system.Merchant) (l *listener, stop func()) {
	w.t.Helper()
	l = &listener{transactions: map[string]system.Transaction{}, events: map[string]system.StreamEvent{}, attempts: map[string]bool{}}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for last := ""; ctx.Err() == nil; {
			stream, leave := context.WithTimeout(ctx, time.Duration(500+rand.IntN(2500))*time.Millisecond)
			last, _ = m.Client.Stream(stream, last, l.tell) // the api may be down
			leave()
			l.mu.Lock()
			l.streams++
			l.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	w.until(time.Minute, "the stream is ready", func(context.Context) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.ready {
			return fmt.Errorf("it has begun %d times", l.streams)
		}
		return nil
	})
	return l, sync.OnceFunc(func() {
		cancel()
		<-ended
	})
}

// heard waits until what was told last of everything is what the database has.
func (w *fixture) heard(m *system.Merchant, l *listener) {
	w.t.Helper()
	w.until(time.Minute, "the stream has told everything", func(ctx context.Context) error {
		transactions, events, attempts := map[string]string{}, map[string]string{}, map[string]bool{}
		rows, err := w.SQL.Query(ctx, `select t.id, t.status::text, e.state::text, coalesce(e.attempts, 0)
			from transactions t left join events e using (tenant, id) where t.tenant = $1`, m.Tenant)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id [16]byte
			var status string
			var state *string
			var made int
			if err := rows.Scan(&id, &status, &state, &made); err != nil {
				return err
			}
			transactions[payments.ID(id).String()] = status
			if state == nil {
				continue
			}
			event := webhooks.EventID(id)
			events[event] = fmt.Sprint(*state, " ", made)
			for n := range made {
				attempts[fmt.Sprint(event, " ", n+1)] = true
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for id, status := range transactions {
			if l.transactions[id].Status != status {
				return fmt.Errorf("%s is %s and was told as %q", id, status, l.transactions[id].Status)
			}
		}
		for id, state := range events {
			if told := fmt.Sprint(l.events[id].State, " ", l.events[id].AttemptCount); told != state {
				return fmt.Errorf("%s is %s and was told as %s", id, state, told)
			}
		}
		for attempt := range attempts {
			if !l.attempts[attempt] {
				return fmt.Errorf("the attempt %s was not told", attempt)
			}
		}
		if extra := len(l.transactions) - len(transactions); extra != 0 {
			return fmt.Errorf("%d transactions were told that are not there: %v", extra, slices.Collect(maps.Keys(l.transactions)))
		}
		return nil
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	w.report(l.problems)
	if l.resets > 0 {
		w.t.Errorf("%d times the stream did not know what has changed", l.resets)
	}
	w.t.Logf("%d transactions and %d attempts were told by %d streams", len(l.transactions), len(l.attempts), l.streams)
}

// Api and workers are killed under load, while one who listens comes and goes: every change is told, and none goes back.
func TestStreamTellsEverything(t *testing.T) {
	rounds := 1
	if os.Getenv("CAURI_TEST_WHOLE") != "" {
		rounds = 8
	}
	w := newFixture(t)
	api := w.api("api")
	workers := []*system.Worker{w.worker("worker-0"), w.worker("worker-1")}
	m := w.merchant("told", api, system.Acknowledge)
	l, stopListening := w.listen(m)
	defer stopListening()
	progress, stop := w.shopping(m, 4)
	defer stop()
	for range rounds {
		w.progresses(progress, 4+rand.Int64N(8))
		api.Kill()
		api = w.api("api")
		w.progresses(progress, 2+rand.Int64N(4))
		victim := rand.IntN(len(workers))
		workers[victim].Kill()
		workers[victim] = w.worker(fmt.Sprintf("worker-%d", victim))
	}
	w.progresses(progress, 4)
	w.booked(m, stop())
	w.drained(m)
	w.heard(m, l)
}
