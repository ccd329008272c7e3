package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// grant is a grant of so many slots to the sandbox.
func (w *fixture) grant(slots int) []queues.SlotGrant {
	return []queues.SlotGrant{{DueTenant: queues.DueTenant{Tenant: w.Sandbox.Tenant}, Slots: slots}}
}

// leaseOne takes the one event that is due.
func (w *fixture) leaseOne(build ledger.BuildBody) *ledger.LeasedEvent {
	w.T.Helper()
	events := w.Lease(build)
	if len(events) != 1 {
		w.T.Fatalf("%d events are due, want 1", len(events))
	}
	return &events[0]
}

func TestLeasedEventHoldsAllThatIsSent(t *testing.T) {
	w := newFixture(t)
	made := w.Create(w.Collection("r1", payments.Success, alice))
	var org string
	event := w.leaseOne(func(organizationID string, t *payments.Transaction) ([]byte, error) {
		org = organizationID
		return []byte(t.ID.String()), nil
	})
	want := &ledger.LeasedEvent{
		Tenant:         w.Sandbox.Tenant,
		ID:             made.ID,
		Fence:          1,
		TakenAt:        event.TakenAt,
		Now:            event.TakenAt,
		OrganizationID: w.Sandbox.OrganizationID,
		Transaction:    w.Get(made.ID),
		Body:           []byte(made.ID.String()),
		URL:            w.Config.Webhook.URL,
		Retry:          sandboxes.DefaultRetryPolicy,
		SigningSecret:  secret,
	}
	if diff := cmp.Diff(want, event, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if off := event.TakenAt.Sub(read[time.Time](w, "select clock_timestamp()")).Abs(); off > time.Minute {
		t.Errorf("it was taken %s from the database's time", off)
	}
	if org != w.Sandbox.OrganizationID {
		t.Errorf("the body was built for %q", org)
	}
	if again := w.Lease(ledgertest.Body()); len(again) != 0 {
		t.Errorf("it was leased twice: %+v", again)
	}
}

func TestBodyIsBuiltOnceAndSentWithEveryAttempt(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.Success, alice))
	first := w.leaseOne(ledgertest.Body())
	never := func(string, *payments.Transaction) ([]byte, error) {
		t.Error("the body was built twice")
		return nil, errors.New("twice")
	}
	w.Due() // its lease ended
	second := w.leaseOne(never)
	w.Finish(second, ledger.AttemptResult{State: ledger.EventQueued, Error: "the receiver answered 500"})
	w.Due()
	third := w.leaseOne(never)
	for _, event := range []*ledger.LeasedEvent{second, third} {
		if diff := cmp.Diff(first.Body, event.Body); diff != "" {
			t.Errorf("body (-first +later):\n%s", diff)
		}
	}
	if first.Fence != 1 || second.Fence <= first.Fence || third.Fence <= second.Fence || third.Attempts != 1 {
		t.Errorf("fences %d, %d, %d, attempts %d", first.Fence, second.Fence, third.Fence, third.Attempts)
	}
}

// A body that cannot be built holds up its own event and no other.
func TestBodyThatCannotBeBuiltHoldsUpItsOwnEventOnly(t *testing.T) {
	w := newFixture(t)
	bad := w.Create(w.Collection("bad", payments.Success, alice))
	w.Create(w.Collection("good", payments.Success, alice))
	cannot := errors.New("cannot")
	build := func(organization string, transaction *payments.Transaction) ([]byte, error) {
		if transaction.ID == bad.ID {
			return nil, cannot
		}
		return []byte("{}"), nil
	}
	leased, _, err := w.LeaseDueEvents(t.Context(), w.grant(10), time.Minute, build)
	if err != nil || len(leased) != 2 {
		t.Fatalf("%d events were leased: %v", len(leased), err)
	}
	for _, event := range leased {
		if isBad := event.ID == bad.ID; isBad != errors.Is(event.Problem, cannot) || isBad != (event.Body == nil) {
			t.Errorf("the event of %s: %v, body %q", event.Transaction.Reference, event.Problem, event.Body)
		}
	}
	if n := w.Count("select count(*) from events where due_at is not null and body is null"); n != 1 {
		t.Errorf("%d events wait for a body, want 1", n)
	}
}

func TestLeaseEnds(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.Success, alice))
	if wait := w.waits(func() {
		if _, _, err := w.LeaseDueEvents(t.Context(), w.grant(10), 90*time.Second, ledgertest.Body()); err != nil {
			t.Fatal(err)
		}
	}, 90*time.Second); wait != "" {
		t.Error(wait)
	}
}

// waits tells what is wrong unless the one event is due the given time after do.
func (w *fixture) waits(do func(), want time.Duration) (wrong string) {
	w.T.Helper()
	before := read[time.Time](w, "select clock_timestamp()")
	do()
	after := read[time.Time](w, "select clock_timestamp()")
	due := read[*time.Time](w, "select due_at from events")
	if due == nil || due.Before(before.Add(want)) || due.After(after.Add(want)) {
		return fmt.Sprintf("it is due at %v, want %s after %s", due, want, before)
	}
	return ""
}

func TestFence(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.Success, alice))
	lost := w.leaseOne(ledgertest.Body())
	w.Due()
	holder := w.leaseOne(ledgertest.Body())
	if w.Finish(lost, ledger.AttemptResult{State: ledger.EventDelivered, ResponseStatus: 200}) {
		t.Error("an attempt of a lost lease was kept")
	}
	if got := w.Count(
		"select count(*) from delivery_attempts",
	) + w.Count(
		"select attempts from events",
	) + w.Count(
		"select count(delivered_at) from events",
	); got != 0 {
		t.Error("the attempt of a lost lease was written down")
	}
	if !w.Finish(holder, ledger.AttemptResult{State: ledger.EventFailed, ResponseStatus: 410}) {
		t.Error("the attempt of the holder was not kept")
	}
	if got := read[string](w, "select state::text from events"); got != "failed" {
		t.Errorf("the event is %s", got)
	}
}

// A worker that does not learn that its attempt was written down writes it down again.
func TestAttemptIsWrittenDownOnce(t *testing.T) {
	for _, state := range []ledger.EventState{ledger.EventQueued, ledger.EventDelivered, ledger.EventFailed} {
		t.Run(string(state), func(t *testing.T) {
			w := newFixture(t)
			w.Create(w.Collection("r1", payments.Success, alice))
			event := w.leaseOne(ledgertest.Body())
			a := ledger.AttemptResult{State: state, RetryAfter: time.Hour}
			if !w.Finish(event, a) {
				t.Error("the attempt was not kept")
			}
			w.Finish(event, a)
			if got := []int{
				w.Count("select attempts from events"),
				w.Count("select count(*) from delivery_attempts"),
			}; !cmp.Equal(
				got,
				[]int{1, 1},
			) {
				t.Errorf("counted %d attempts and kept %d, want 1", got[0], got[1])
			}
		})
	}
}

func TestAttemptsAreKept(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.Success, alice))
	started := time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
	attempts := []ledger.AttemptResult{
		{StartedAt: started, Duration: 10 * time.Second, Error: "no answer within 10s", State: ledger.EventQueued, RetryAfter: time.Hour},
		{
			StartedAt:      started.Add(time.Minute),
			Duration:       12 * time.Millisecond,
			ResponseStatus: 500,
			ResponseBody:   []byte("oh\x00no"),
			Error:          "the receiver answered 500",
			State:          ledger.EventQueued,
			RetryAfter:     5 * time.Second,
		},
		{
			StartedAt:      started.Add(time.Hour),
			Duration:       time.Millisecond,
			ResponseStatus: 204,
			ResponseBody:   []byte{},
			State:          ledger.EventDelivered,
		},
	}
	for _, a := range attempts {
		event := w.leaseOne(ledgertest.Body())
		wait := w.waits(func() {
			if !w.Finish(event, a) {
				t.Fatal("not kept")
			}
		}, a.RetryAfter)
		if a.State == ledger.EventQueued && wait != "" {
			t.Error(wait)
		}
		w.Due()
	}
	got := read[[]string](
		w,
		`select array_agg(attempt || ' ' || to_char(started_at at time zone 'utc', 'HH24:MI:SS') || ' ' || duration_ms || ' ' ||
		coalesce(response_status::text, '-') || ' ' || coalesce(encode(response_body, 'escape'), '-') || ' ' || coalesce(error, '-') order by attempt)
		from delivery_attempts`,
	)
	want := []string{
		"1 12:00:00 10000 - - no answer within 10s",
		`2 12:01:00 12 500 oh\000no the receiver answered 500`,
		"3 13:00:00 1 204  -",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if got := w.Count(
		"select count(*) from events where state = 'delivered' and due_at is null and delivered_at is not null and attempts = 3",
	); got != 1 {
		t.Error("the event is not delivered")
	}
	if again := w.Lease(ledgertest.Body()); len(again) != 0 {
		t.Error("a delivered event is due")
	}
}

func TestEventOfASandboxWithoutAnEndpointIsRecorded(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.Webhook = nil })
	w.Client("alice", alice, 5000)
	w.Create(w.Collection("booked", payments.Success, alice))
	w.Create(w.Collection("recorded", payments.UnknownMSISDN, alice))
	w.Pending("settled", alice)
	w.Settle()
	check := func(when string) {
		t.Helper()
		if got := w.Count("select count(*) from events where state = 'recorded' and due_at is null"); got != 3 {
			t.Errorf("%s: %d events are recorded, want 3", when, got)
		}
		if got := w.Lease(ledgertest.Body()); len(got) != 0 {
			t.Errorf("%s: %d events are due", when, len(got))
		}
	}
	check("without an endpoint")
	w.Config.Webhook = &sandboxes.WebhookConfig{URL: "http://127.0.0.1:1/", Retry: sandboxes.DefaultRetryPolicy}
	w.Apply()
	check("with an endpoint that was added later")
}

func TestEventsAreShelvedWhenTheEndpointGoes(t *testing.T) {
	w := newFixture(t)
	stays := w.beside("stays")
	kept := stays.Create(stays.Collection("r1", payments.Success, alice))
	w.Create(w.Collection("r1", payments.Success, alice))
	webhook := w.Config.Webhook
	w.Config.Webhook = nil
	w.Apply()
	if got := w.leaseOne(ledgertest.Body()); got.ID != kept.ID {
		t.Errorf("leased %s, want %s", got.ID, kept.ID)
	}
	if got := w.Count("select count(*) from events where state = 'recorded' and due_at is null and tenant = $1", w.Sandbox.Tenant); got != 1 {
		t.Error("the event was not shelved")
	}
	w.Config.Webhook = webhook
	w.Apply()
	if got := w.Lease(ledgertest.Body()); len(got) != 0 {
		t.Errorf("the shelved event was taken from the shelf")
	}
}

func TestAttemptGoesWhereTheEndpointIsThen(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.Success, alice))
	w.Config.Webhook = &sandboxes.WebhookConfig{
		URL:   "http://elsewhere/",
		Retry: sandboxes.RetryPolicy{MaxRetries: 2, InitialDelay: time.Millisecond, Factor: 1.5, MaxDelay: time.Minute},
	}
	w.Apply()
	event := w.leaseOne(ledgertest.Body())
	if diff := cmp.Diff(*w.Config.Webhook, sandboxes.WebhookConfig{URL: event.URL, Retry: event.Retry}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDeletedSandboxSendsNothing(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.Success, alice))
	event := w.leaseOne(ledgertest.Body())
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	if w.Finish(event, ledger.AttemptResult{State: ledger.EventQueued}) {
		t.Error("an attempt of a deleted sandbox was kept")
	}
	if got := w.Lease(ledgertest.Body()); len(got) != 0 {
		t.Errorf("%d events are due", len(got))
	}
}

func TestConcurrentLeasesAreDisjoint(t *testing.T) {
	w := newFixture(t)
	const total = 300
	w.Client("alice", alice, 1000*total)
	w.Multiply(w.Pending("r", alice), total-1)
	w.Settle()
	var mu sync.Mutex
	leased, built := map[payments.ID]int{}, atomic.Int32{}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for {
				events, _, err := w.LeaseDueEvents(context.Background(), w.grant(7), time.Minute, func(string, *payments.Transaction) ([]byte, error) {
					built.Add(1)
					return []byte("body"), nil
				})
				if err != nil {
					t.Error(err)
					return
				}
				if len(events) == 0 {
					return
				}
				var finished []ledger.FinishedAttempt
				for i := range events {
					mu.Lock()
					leased[events[i].ID]++
					mu.Unlock()
					finished = append(finished, ledger.FinishedAttempt{
						Event: &events[i], AttemptResult: ledger.AttemptResult{StartedAt: time.Now(), State: ledger.EventDelivered},
					})
				}
				if kept, err := w.FinishAttempts(context.Background(), finished); slices.Contains(kept, false) || err != nil {
					t.Errorf("kept %v, %v", kept, err)
				}
			}
		})
	}
	wg.Wait()
	for id, times := range leased {
		if times != 1 {
			t.Errorf("%s was leased %d times", id, times)
		}
	}
	// Sweeps that find everything locked by others go away with nothing, so that some may be left; none may be lost.
	left := w.Count("select count(*) from events where state = 'queued' and due_at <= now()")
	if len(leased)+left != total || int(built.Load()) != len(leased) {
		t.Errorf("%d leased, %d left, %d built, want %d", len(leased), left, built.Load(), total)
	}
}

func TestSecretThatCannotBeReadIsToldOf(t *testing.T) {
	cases := map[string]func(w *fixture) *ledgertest.Store{
		"changed": func(w *fixture) *ledgertest.Store {
			w.Exec("update organizations set signing_secret = set_byte(signing_secret, 20, get_byte(signing_secret, 20) # 1)")
			return w.Store
		},
		"of another sandbox": func(w *fixture) *ledgertest.Store {
			w.beside("other")
			w.Exec("update organizations set signing_secret = (select signing_secret from organizations where name = 'other')")
			return w.Store
		},
		"not there yet": func(w *fixture) *ledgertest.Store {
			w.Exec("update organizations set signing_secret = null")
			return w.Store
		},
		"no key ring": func(w *fixture) *ledgertest.Store { return w.Opened(ledgertest.Options{}) },
		"another key ring": func(w *fixture) *ledgertest.Store {
			return w.Opened(ledgertest.Options{KeyRing: ledgertest.Ring(w.T, ledgertest.NewKey(w.T))})
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.Create(w.Collection("r1", payments.Success, alice))
			events, _, err := prepare(w).LeaseDueEvents(t.Context(), w.grant(10), time.Minute, ledgertest.Body())
			if err != nil || len(events) != 1 || events[0].Problem == nil || events[0].SigningSecret != "" {
				t.Errorf("got %+v, %v", events, err)
			}
		})
	}
}

// The event of an answer that is held is due when the answer is, never before it.
func TestEventOfAHeldAnswerIsDueWithTheAnswer(t *testing.T) {
	for _, status := range []payments.Status{payments.Success, payments.PINInvalid} {
		t.Run(string(status), func(t *testing.T) {
			w := newFixture(t)
			n := w.Collection("r1", status, alice)
			n.AnswerAfter = time.Hour
			made := w.Create(n)
			if got := w.Lease(ledgertest.Body()); len(got) != 0 {
				t.Error("it is due before its answer")
			}
			if due := read[time.Time](w, "select due_at from events"); !due.Equal(made.CreatedAt.Add(n.AnswerAfter)) {
				t.Errorf("due at %s, created at %s", due, made.CreatedAt)
			}
			w.Due()
			w.leaseOne(ledgertest.Body())
		})
	}
}

func TestDeliveryWithoutADatabase(t *testing.T) {
	t.Parallel()
	s := ledgertest.Open(t, "postgres://u:p@127.0.0.1:1/x")
	_, _, err := s.LeaseDueEvents(t.Context(), make([]queues.SlotGrant, 1), time.Minute, ledgertest.Body())
	if !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("leasing: %v", err)
	}
	if _, err := s.TenantsToDeliver(t.Context()); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("the queue statistics: %v", err)
	}
	finished := []ledger.FinishedAttempt{{Event: &ledger.LeasedEvent{}, AttemptResult: ledger.AttemptResult{State: ledger.EventQueued}}}
	if kept, err := s.FinishAttempts(t.Context(), finished); !errors.Is(err, postgres.ErrUnavailable) || kept != nil {
		t.Errorf("finishing: %v, %v", kept, err)
	}
	if err := s.GiveBackEvents(t.Context(), make([]ledger.LeasedEvent, 1)); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("giving back: %v", err)
	}
	if _, err := ledgertest.SettleDue(t.Context(), s, 1); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("settling: %v", err)
	}
	if text := fmt.Sprint(s.Ping(t.Context())); text == "<nil>" {
		t.Error("the database answers")
	}
}
