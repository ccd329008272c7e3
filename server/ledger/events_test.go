package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func (w *fixture) events(f ledger.EventFilter, after *payments.ID, limit int) []ledger.Event {
	w.T.Helper()
	var behind *payments.EventID
	if after != nil {
		behind = &payments.EventID{ID: *after}
	}
	events, err := w.ListEvents(w.T.Context(), w.Sandbox.Tenant, f, behind, limit)
	if err != nil {
		w.T.Fatal(err)
	}
	return events
}

func (w *fixture) event(id payments.ID) *ledger.EventDetail {
	w.T.Helper()
	event, err := w.GetEvent(w.T.Context(), w.Sandbox.Tenant, w.Sandbox.OrganizationID, id, ledgertest.Body())
	if err != nil {
		w.T.Fatal(err)
	}
	return event
}

func (w *fixture) resend(id payments.ID) ledger.Event {
	w.T.Helper()
	event, err := w.ResendEvent(w.T.Context(), w.Sandbox.Tenant, id)
	if err != nil {
		w.T.Fatal(err)
	}
	return event
}

// attempted makes an event and one attempt to deliver it.
func (w *fixture) attempted(reference string, a ledger.AttemptResult) payments.ID {
	w.T.Helper()
	made := w.Create(w.Collection(reference, payments.Success, alice))
	w.Finish(w.leaseOne(ledgertest.Body()), a)
	return made.ID
}

var (
	acknowledged = ledger.AttemptResult{State: ledger.EventDelivered, ResponseStatus: 204}
	refusedOnce  = ledger.AttemptResult{State: ledger.EventQueued, ResponseStatus: 500, Error: "the receiver answered 500", RetryAfter: time.Hour}
	refusedForev = ledger.AttemptResult{State: ledger.EventFailed, ResponseStatus: 410, Error: "the receiver answered 410"}
)

func TestEventsAreListedAsTheyStand(t *testing.T) {
	w := newFixture(t)
	delivered, failed := w.attempted("delivered", acknowledged), w.attempted("failed", refusedForev)
	waits := w.attempted("waits", refusedOnce)
	leased := w.Create(w.Collection("leased", payments.Timeout, alice)).ID
	w.leaseOne(ledgertest.Body())
	fresh := w.Create(w.Collection("fresh", payments.Success, alice)).ID
	w.Pending("pending", alice) // has none
	other := w.beside("other")
	other.Create(other.Collection("other", payments.Success, alice))

	var got []string
	for _, e := range w.events(ledger.EventFilter{}, nil, 100) {
		text := fmt.Sprintf(
			"%s %s %s %d next=%v delivered=%v",
			e.Type,
			e.Status,
			e.State,
			e.Attempts,
			e.NextAttemptAt != nil,
			e.DeliveredAt != nil,
		)
		if e.LastStatus != nil {
			text += fmt.Sprint(" ", *e.LastStatus)
		}
		if e.LastError != nil {
			text += " " + *e.LastError
		}
		got = append(got, text)
		detail := w.event(e.ID).Event
		if diff := cmp.Diff(e, detail); diff != "" {
			t.Errorf("-listed +read:\n%s", diff)
		}
	}
	want := []string{
		"collection SUCCESS queued 0 next=true delivered=false",
		"collection TIMEOUT queued 0 next=false delivered=false", // being sent: the end of its lease is nobody's business
		"collection SUCCESS queued 1 next=true delivered=false 500 the receiver answered 500",
		"collection SUCCESS failed 1 next=false delivered=false 410 the receiver answered 410",
		"collection SUCCESS delivered 1 next=false delivered=true 204",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Exec("update events set due_at = now() - interval '1 s' where id = $1", postgres.UUID(leased))
	if e := w.event(leased); e.NextAttemptAt == nil {
		t.Error("an event whose lease has ended is due, and is not shown so")
	}
	ids := []payments.ID{fresh, leased, waits, failed, delivered}
	for page := range slices.Chunk(ids, 2) {
		var after *payments.ID
		if i := slices.Index(ids, page[0]); i > 0 {
			after = &ids[i-1]
		}
		for i, e := range w.events(ledger.EventFilter{}, after, 2) {
			if e.ID != page[i] {
				t.Errorf("after %v: %v, want %v", after, e.ID, page[i])
			}
		}
	}
}

func TestBodyThatWasShownIsTheOneThatIsSent(t *testing.T) {
	w := newFixture(t)
	id := w.Create(w.Collection("r1", payments.Success, alice)).ID
	shown := w.event(id).Body
	if again := w.event(id).Body; string(again) != string(shown) { // body() never builds the same twice
		t.Errorf("shown %s and then %s", shown, again)
	}
	if sent := w.leaseOne(ledgertest.Body()).Body; string(sent) != string(shown) {
		t.Errorf("sent %s, shown %s", sent, shown)
	}
}

func TestEventsOfOthersAreNotThere(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	id := other.Create(other.Collection("r1", payments.Success, alice)).ID
	pending := w.Pending("pending", alice).ID
	for _, id := range []payments.ID{id, {1}, pending} {
		_, err := w.GetEvent(t.Context(), w.Sandbox.Tenant, w.Sandbox.OrganizationID, id, ledgertest.Body())
		if !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("reading: got %v, want ErrNotFound", err)
		}
		if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, id); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("sending again: got %v, want ErrNotFound", err)
		}
	}
	if n := w.Count("select count(*) from events where body is not null or resent_after is not null"); n != 0 {
		t.Errorf("%d events were touched", n)
	}
}

// counts are those of the endpoint's health, which have to be what the events say.
func (w *fixture) counts() (delivered, failed int) {
	w.T.Helper()
	const held = "select coalesce(max(delivered), 0)::int || ' ' || coalesce(max(failed), 0)::int from endpoint_health where tenant = $1"
	const said = "select count(*) filter (where state = 'delivered') || ' ' || count(*) filter (where state = 'failed') from events where tenant = $1"
	if health, events := read[string](w, held, w.Sandbox.Tenant), read[string](w, said, w.Sandbox.Tenant); health != events {
		w.T.Errorf("delivered and failed are counted as %s, the events say %s", health, events)
	}
	_, _ = fmt.Sscan(read[string](w, said, w.Sandbox.Tenant), &delivered, &failed)
	return delivered, failed
}

func TestResentEventIsSentAsBeforeAndItsScheduleBeginsAnew(t *testing.T) {
	cases := map[string]ledger.AttemptResult{"delivered": acknowledged, "failed": refusedForev, "waits for a retry": refusedOnce}
	for name, first := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			id := w.attempted("r1", first)
			before := w.event(id).Body
			w.counts()
			if e := w.resend(id); e.State != ledger.EventQueued || e.NextAttemptAt == nil || e.DeliveredAt != nil || e.Attempts != 1 {
				t.Errorf("queued: %+v", e)
			}
			if delivered, failed := w.counts(); delivered+failed != 0 {
				t.Errorf("%d delivered, %d failed while it is queued", delivered, failed)
			}
			event := w.leaseOne(ledgertest.Body())
			if event.ID != id || string(event.Body) != string(before) || event.Attempts != 1 || event.Uncounted != 1 {
				t.Errorf("leased: %+v", event)
			}
			if !w.Finish(event, acknowledged) {
				t.Error("its attempt was not kept")
			}
			after := w.event(id)
			var numbers []int
			for _, a := range after.History {
				numbers = append(numbers, a.Number)
			}
			if after.State != ledger.EventDelivered || !slices.Equal(numbers, []int{1, 2}) {
				t.Errorf("%s after the attempts %v", after.State, numbers)
			}
			w.counts()
		})
	}
}

func TestEventThatIsBeingSentIsNotSentTwice(t *testing.T) {
	w := newFixture(t)
	id := w.Create(w.Collection("r1", payments.Success, alice)).ID
	lost := w.leaseOne(ledgertest.Body())
	if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, id); !errors.Is(err, ledger.ErrBeingSent) {
		t.Fatalf("got %v, want ErrBeingSent", err)
	}
	w.Due() // its worker died, or is slow
	w.resend(id)
	if w.Finish(lost, ledger.AttemptResult{State: ledger.EventFailed, Error: "late"}) {
		t.Error("an attempt whose lease had ended undid the resending")
	}
	if event := w.leaseOne(ledgertest.Body()); !w.Finish(event, acknowledged) {
		t.Error("the attempt was not kept")
	}
	w.counts()
}

// The answer to a resending tells what was queued, even if a worker delivers it before it is read.
func TestWhatIsQueuedAgainIsToldBeforeItIsSent(t *testing.T) {
	w := newFixture(t)
	event, callback := w.Create(w.Collection("r1", payments.Success, alice)).ID, w.asked("r2", "http://127.0.0.1:1/paid")
	for table, asked := range map[string]struct {
		resend func(payments.ID) ledger.Event
		id     payments.ID
	}{"events": {w.resend, event}, "native_callbacks": {w.resendCallback, callback}} {
		reading, err := w.SQL.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reading.Exec(t.Context(), "lock table transactions in access exclusive mode"); err != nil {
			t.Fatal(err)
		}
		waiting := func() int {
			return w.Count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
		}
		var told ledger.Event
		var delivered atomic.Bool
		var both sync.WaitGroup
		both.Go(func() { told = asked.resend(asked.id) })
		ledgertest.Eventually(t, func() bool { return waiting() == 1 })
		both.Go(func() {
			w.Exec("update "+table+" set state = 'delivered', delivered_at = now() where id = $1", postgres.UUID(asked.id))
			delivered.Store(true)
		})
		ledgertest.Eventually(t, func() bool { return delivered.Load() || waiting() == 2 })
		if err := reading.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		both.Wait()
		if told.State != ledger.EventQueued {
			t.Errorf("%s: what was queued again is told to be %s", table, told.State)
		}
	}
}

// An answer that is held is never overtaken by its event.
func TestEventThatWaitsForItsAnswerGoesOnWaiting(t *testing.T) {
	w := newFixture(t)
	n := w.Collection("r1", payments.Success, alice)
	n.AnswerAfter = time.Hour
	id := w.Create(n).ID
	if e := w.resend(id); e.NextAttemptAt == nil || time.Until(*e.NextAttemptAt) < 50*time.Minute {
		t.Errorf("it is due at %v", e.NextAttemptAt)
	}
	if due := w.Lease(ledgertest.Body()); len(due) != 0 {
		t.Errorf("it is sent before its transaction is answered")
	}
}

func TestEventIsSentByHandWhateverItsType(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) {
		c.Webhook = &sandboxes.WebhookConfig{
			URL:   "http://127.0.0.1:1/hook",
			Retry: sandboxes.DefaultRetryPolicy,
			Types: []payments.Type{payments.Refund},
		}
	})
	id := w.Create(w.Collection("r1", payments.Success, alice)).ID
	if e := w.event(id); e.State != ledger.EventRecorded {
		t.Fatalf("it is %s", e.State)
	}
	w.resend(id)
	w.Finish(w.leaseOne(ledgertest.Body()), refusedOnce)
	w.Due()
	w.Finish(w.leaseOne(ledgertest.Body()), acknowledged) // its retries are not put aside either
	if e := w.event(id); e.State != ledger.EventDelivered || e.Attempts != 2 {
		t.Errorf("it is %s after %d attempts", e.State, e.Attempts)
	}
}

func TestEventWithNowhereToGoIsNotQueued(t *testing.T) {
	w := newFixture(t)
	id := w.attempted("r1", acknowledged)
	w.Config.Webhook = nil
	w.Apply()
	if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, id); !errors.Is(err, ledger.ErrNoEndpoint) {
		t.Fatalf("got %v, want ErrNoEndpoint", err)
	}
	if e := w.event(id); e.State != ledger.EventDelivered {
		t.Errorf("it is %s", e.State)
	}
	w.counts()
}

// Without an endpoint, an event is sent again only for those who follow, and changes nothing else. It is told each time.
func TestResendForThoseWhoFollow(t *testing.T) {
	w := newFixture(t)
	id := w.attempted("r1", acknowledged)
	w.Config.Webhook = nil
	w.Apply()
	r := watched(w)
	for range 2 {
		if e, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, id); err != nil || e.State != ledger.EventDelivered {
			t.Fatalf("it is %s, %v", e.State, err)
		}
		if got := r.next(10).Changes; len(got) != 1 || !got[0].Resent || got[0].Event.ID != id {
			t.Errorf("told is %+v", got)
		}
	}
	w.counts()
}

func TestHistoryIsBounded(t *testing.T) {
	w := newFixture(t)
	id := w.attempted("r1", acknowledged)
	w.Exec(
		`insert into delivery_attempts (tenant, event_id, attempt, started_at, duration_ms)
			select tenant, event_id, i, started_at, duration_ms from delivery_attempts, generate_series(2, 250) i`,
	)
	w.Exec("update events set attempts = 250")
	got := w.event(id).History
	if len(got) != ledger.MaxHistory || got[0].Number != 151 || got[len(got)-1].Number != 250 {
		t.Errorf("%d attempts from %d to %d", len(got), got[0].Number, got[len(got)-1].Number)
	}
}

// A worker that sends the event while it is being read is not contradicted.
func TestBodyOfAWorkerThatWasFirstIsShown(t *testing.T) {
	w := newFixture(t)
	id := w.Create(w.Collection("r1", payments.Success, alice)).ID
	var sent []byte
	late := func(string, *payments.Transaction) ([]byte, error) {
		sent = w.leaseOne(ledgertest.Body()).Body
		return []byte("late"), nil
	}
	event, err := w.GetEvent(t.Context(), w.Sandbox.Tenant, w.Sandbox.OrganizationID, id, late)
	if err != nil || string(event.Body) != string(sent) {
		t.Errorf("%v: shown %s, sent %s", err, event.Body, sent)
	}
}
