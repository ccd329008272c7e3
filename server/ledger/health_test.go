package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

var (
	acked      = ledger.AttemptResult{State: ledger.EventDelivered, ResponseStatus: 204}
	turnedAway = ledger.AttemptResult{State: ledger.EventQueued, ResponseStatus: 500, Error: "the receiver answered 500"}
	exhausted  = ledger.AttemptResult{State: ledger.EventFailed, Error: "no answer within 10s"}
)

// owe makes so many events that are due.
func (w *fixture) owe(n int) {
	w.T.Helper()
	for i := range n {
		w.Create(w.Collection(fmt.Sprintf("event-%d-%s", i, time.Now()), payments.PINInvalid, alice))
	}
}

// attempts takes as many events as there are attempts and writes these down at once, in their order.
func (w *fixture) attempts(attempts ...ledger.AttemptResult) {
	w.T.Helper()
	leased, _, err := w.LeaseDueEvents(w.T.Context(), w.SlotGrants(len(attempts)), time.Minute, ledgertest.Body())
	if err != nil || len(leased) != len(attempts) {
		w.T.Fatalf("%d events were leased for %d attempts: %v", len(leased), len(attempts), err)
	}
	var finished []ledger.FinishedAttempt
	for i := range leased {
		attempts[i].StartedAt = time.Now()
		finished = append(finished, ledger.FinishedAttempt{Event: &leased[i], AttemptResult: attempts[i]})
	}
	if kept := w.FinishAll(finished...); slices.Contains(kept, false) {
		w.T.Fatalf("kept %v", kept)
	}
}

func (w *fixture) health() string {
	w.T.Helper()
	return read[string](w, `select coalesce((select format('%s in a row, since %s, %s, %s delivered, %s failed, last: %s', failures,
		case when failing_since is null then 'never' when failing_since > now() - interval '1 minute' then 'now' else 'long' end,
		case when probe_at is null then 'open' when probe_at > now() + interval '50 seconds' then 'probed in a minute' else 'probed now' end,
		delivered, failed, coalesce(last_failure, '-')) from endpoint_health where tenant = $1), 'nothing')`, w.Sandbox.Tenant)
}

func TestHealthOfAnEndpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		batches [][]ledger.AttemptResult
		want    string
	}{
		"never tried":              {nil, "nothing"},
		"acknowledges":             {[][]ledger.AttemptResult{{acked, acked}}, "0 in a row, since never, open, 2 delivered, 0 failed, last: -"},
		"fails":                    {[][]ledger.AttemptResult{{turnedAway, exhausted}}, "2 in a row, since now, open, 0 delivered, 1 failed, last: no answer within 10s"},
		"fails again":              {[][]ledger.AttemptResult{{turnedAway}, {exhausted, turnedAway}}, "3 in a row, since now, open, 0 delivered, 1 failed, last: the receiver answered 500"},
		"fails, then acknowledges": {[][]ledger.AttemptResult{{turnedAway, turnedAway, acked}}, "0 in a row, since never, open, 1 delivered, 0 failed, last: the receiver answered 500"},
		"acknowledges, then fails": {[][]ledger.AttemptResult{{turnedAway, acked, exhausted}}, "1 in a row, since now, open, 1 delivered, 1 failed, last: no answer within 10s"},
		"works again":              {[][]ledger.AttemptResult{{turnedAway, turnedAway}, {acked}}, "0 in a row, since never, open, 1 delivered, 0 failed, last: the receiver answered 500"},
		"works for a moment only":  {[][]ledger.AttemptResult{{turnedAway, turnedAway}, {acked, turnedAway}}, "1 in a row, since now, open, 1 delivered, 0 failed, last: the receiver answered 500"},
		"fails often, but not long": {[][]ledger.AttemptResult{
			slices.Repeat([]ledger.AttemptResult{exhausted}, 15), slices.Repeat([]ledger.AttemptResult{exhausted}, 15),
		}, "30 in a row, since now, open, 0 delivered, 30 failed, last: no answer within 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			for _, batch := range c.batches {
				w.owe(len(batch))
				w.attempts(slices.Clone(batch)...)
			}
			if diff := cmp.Diff(c.want, w.health()); diff != "" {
				t.Errorf("health (-want +got):\n%s", diff)
			}
		})
	}
}

// fallen is a fixture whose endpoint has failed for long and waits for its next probe; so many events wait with it.
func fallen(t *testing.T, waiting int) *fixture {
	t.Helper()
	w := newFixture(t)
	w.owe(20)
	w.attempts(slices.Repeat([]ledger.AttemptResult{turnedAway}, 19)...)
	w.Exec("update endpoint_health set failing_since = now() - interval '5 minutes'")
	w.Exec("delete from delivery_attempts")
	w.Exec("delete from events where attempts > 0")
	w.attempts(exhausted)
	w.owe(waiting)
	w.Due()
	return w
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	t.Run("opens at the 20th failure after five minutes", func(t *testing.T) {
		w := fallen(t, 5)
		if got, want := w.health(), "20 in a row, since long, probed in a minute, 0 delivered, 1 failed, last: no answer within 10s"; got != want {
			t.Errorf("health: %s, want %s", got, want)
		}
		if got := w.SlotGrants(100); len(got) != 0 {
			t.Errorf("there is something due: %v", got)
		}
		if got, _, err := w.LeaseDueEvents(t.Context(), w.grant(100), time.Minute, ledgertest.Body()); err != nil || len(got) != 0 {
			t.Errorf("%d events were leased by one who does not know yet, %v", len(got), err)
		}
	})
	t.Run("lets one event through a minute, which uses up no retry", func(t *testing.T) {
		w := fallen(t, 5)
		for range 8 { // more often than the event has retries
			w.Exec("update endpoint_health set probe_at = now()")
			probe := w.leaseOne(ledgertest.Body())
			if !probe.Probe || probe.Attempts != probe.Uncounted {
				t.Fatalf("probe %t, %d attempts, %d of them uncounted", probe.Probe, probe.Attempts, probe.Uncounted)
			}
			if got := w.SlotGrants(100); len(got) != 0 {
				t.Error("a second probe is due")
			}
			if got, _, err := w.LeaseDueEvents(t.Context(), w.grant(100), time.Minute, ledgertest.Body()); err != nil || len(got) != 0 {
				t.Errorf("%d events were leased beside the probe, %v", len(got), err)
			}
			if !w.Finish(probe, turnedAway) {
				t.Fatal("not kept")
			}
		}
		if got := w.Count("select count(*) from events where state = 'queued' and due_at <= now()"); got != 5 {
			t.Errorf("%d events wait, want all 5", got)
		}
		// Eight probes of five events, each numbered by its event's own count.
		if got := w.Count(
			"select count(*) from delivery_attempts a join events e on e.id = a.event_id where a.attempt <= e.attempts and e.state = 'queued'",
		); got != 8 {
			t.Errorf("%d attempts are kept, want 8", got)
		}
		if got := w.Count("select count(*) from events where state = 'queued' and attempts between 1 and 2"); got != 5 {
			t.Errorf("%d events had their turn, want all 5", got)
		}
		if got, want := w.health(), "28 in a row, since long, probed in a minute, 0 delivered, 1 failed, last: the receiver answered 500"; got != want {
			t.Errorf("health: %s, want %s", got, want)
		}
	})
	t.Run("closes at the first success, when all that waited is due", func(t *testing.T) {
		w := fallen(t, 5)
		w.Exec("update endpoint_health set probe_at = now()")
		if !w.Finish(w.leaseOne(ledgertest.Body()), acked) {
			t.Fatal("not kept")
		}
		if got := w.Lease(ledgertest.Body()); len(got) != 4 || got[0].Probe {
			t.Errorf("%d events are due, want 4", len(got))
		}
		if got, want := w.health(), "0 in a row, since never, open, 1 delivered, 1 failed, last: no answer within 10s"; got != want {
			t.Errorf("health: %s, want %s", got, want)
		}
	})
	t.Run("one of several workers probes", func(t *testing.T) {
		w := fallen(t, 5)
		w.Exec("update endpoint_health set probe_at = now()")
		seen := w.SlotGrants(100)
		total := 0
		for range 3 {
			got, _, err := w.LeaseDueEvents(t.Context(), seen, time.Minute, ledgertest.Body())
			if err != nil {
				t.Fatal(err)
			}
			total += len(got)
		}
		if total != 1 {
			t.Errorf("%d events were leased by three that saw one probe due", total)
		}
	})
	t.Run("leaves other sandboxes alone", func(t *testing.T) {
		w := fallen(t, 5)
		other := w.beside("other")
		other.owe(3)
		if got := w.Lease(ledgertest.Body()); len(got) != 3 || got[0].Tenant != other.Sandbox.Tenant {
			t.Errorf("%d events are due, want the other's 3", len(got))
		}
	})
}

// A failed event that is sent again by hand and delivered is counted as delivered, and no more as failed.
func TestCountersFollowAnEventThatIsSentAgain(t *testing.T) {
	w := newFixture(t)
	made := w.Create(w.Collection("r1", payments.PINInvalid, alice))
	w.attempts(exhausted)
	if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, made.ID); err != nil {
		t.Fatal(err)
	}
	w.attempts(acked)
	if got := w.health(); !strings.Contains(got, "1 delivered, 0 failed") {
		t.Error(got)
	}
}

// Each due tenant gets the slots that it was granted, so that one's queue does not delay another's event, and a tenant
// that is not there gets nothing.
func TestDueTenantsGetTheirSlots(t *testing.T) {
	w := newFixture(t)
	w.owe(9)
	other, third := w.beside("other"), w.beside("third")
	other.owe(2)
	third.owe(1)
	grants := []queues.SlotGrant{
		{DueTenant: queues.DueTenant{Tenant: w.Sandbox.Tenant}, Slots: 4}, {DueTenant: queues.DueTenant{Tenant: other.Sandbox.Tenant}, Slots: 4},
		{DueTenant: queues.DueTenant{Tenant: 1 << 40}, Slots: 4},
	}
	leased, found, err := w.LeaseDueEvents(t.Context(), grants, time.Minute, ledgertest.Body())
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]int{w.Sandbox.Tenant: 4, other.Sandbox.Tenant: 2}
	if diff := cmp.Diff(want, found); diff != "" || len(leased) != 6 {
		t.Errorf("%d leased, found (-want +got):\n%s", len(leased), diff)
	}
}

func TestWhatHasNothingDue(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"suspended": "update organizations set suspended = true",
		"retained":  "update organizations set retained_at = now()",
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.owe(3)
			w.Pending("forwarded", stranger)
			seen := w.SlotGrants(10)
			w.Exec(change)
			if got := w.SlotGrants(10); len(got) != 0 || len(seen) != 1 {
				t.Errorf("due are %v, found %v before", got, seen)
			}
			if got, _, err := w.LeaseDueEvents(t.Context(), seen, time.Minute, ledgertest.Body()); err != nil || len(got) != 0 {
				t.Errorf("%d events were leased, %v", len(got), err)
			}
			if due, err := w.TenantsToForward(t.Context()); err != nil || len(due) != 0 {
				t.Errorf("due to forward are %v, %v", due, err)
			}
			if got, _, err := w.LeaseDueForwards(t.Context(), w.grant(10), time.Minute); err != nil || len(got) != 0 {
				t.Errorf("%d collections were leased, %v", len(got), err)
			}
			if got := w.Count("select count(*) from events where state = 'queued' and fence = 0"); got != 3 {
				t.Errorf("%d events wait untouched, want 3", got)
			}
		})
	}
}

// An event of a type that the endpoint does not want any more is put aside, unless somebody asked for that very event.
func TestEventOfATypeThatIsNotWanted(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("aside", payments.PINInvalid, alice))
	asked := w.Create(w.Collection("asked", payments.PINInvalid, alice))
	if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, asked.ID); err != nil {
		t.Fatal(err)
	}
	w.Due()
	w.Exec("update organizations set webhook_types = '{refund}'")
	if got := w.leaseOne(ledgertest.Body()); got.ID != asked.ID {
		t.Errorf("leased %s, want the one that was asked for", got.ID)
	}
	if got := w.Count("select count(*) from events where state = 'recorded' and due_at is null and not leased"); got != 1 {
		t.Errorf("%d events were put aside, want 1", got)
	}
}

func TestPreviousSecretsSignUntilTheirTimeIsOver(t *testing.T) {
	t.Parallel()
	// $1 and $2 are sealed secrets; the present one is the secret of every fixture.
	for name, c := range map[string]struct {
		change string
		want   []string
	}{
		"within its time":  {"previous_secret = $1, previous_secret_until = now() + interval '1 hour'", []string{"first"}},
		"after its time":   {"previous_secret = $1, previous_secret_until = now()", nil},
		"no previous one":  {"previous_secret = null, previous_secret_until = null", nil},
		"one past reading": {"previous_secret = '\\x00', previous_secret_until = now() + interval '1 hour'", nil},
		"the present one":  {"previous_secret = signing_secret, previous_secret_until = now() + interval '1 hour'", nil},
		"two": {`previous_secret = $1, previous_secret_until = now() + interval '1 hour',
			older_secrets = array[$2::bytea], older_secrets_until = array[now() + interval '1 minute']`, []string{"first", "second"}},
		"two, and one of another secret that is over": {`previous_secret = $1, previous_secret_until = now() + interval '1 hour',
			older_secrets = array[$2::bytea, $1], older_secrets_until = array[now() + interval '1 minute', now()]`, []string{"first", "second"}},
		"an older one past reading": {`previous_secret = $1, previous_secret_until = now() + interval '1 hour',
			older_secrets = array['\\x00'::bytea, $2], older_secrets_until = array[now() + interval '2 minutes', now() + interval '1 minute']`,
			[]string{"first", "second"}},
	} {
		t.Run(name, func(t *testing.T) {
			keys := ledgertest.Ring(t, ledgertest.NewKey(t))
			w := newFixture(t)
			s := w.Opened(ledgertest.Options{KeyRing: keys})
			if err := s.ApplyCredentials(t.Context(), w.Config.UID, sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: "present"}); err != nil {
				t.Fatal(err)
			}
			w.Reload()
			w.owe(1)
			w.Exec("update organizations set previous_secret = null, previous_secret_until = null")
			w.Exec("update organizations set "+c.change+" where $1::bytea is not null and $2::bytea is not null",
				ledgertest.Seal(t, keys, w.Config.UID, "first"), ledgertest.Seal(t, keys, w.Config.UID, "second"))
			w.Store = s
			got := w.leaseOne(ledgertest.Body())
			if got.Problem != nil || got.SigningSecret != "present" || !slices.Equal(got.PreviousSecrets, c.want) {
				t.Errorf("signed by %q and %q, %v", got.SigningSecret, got.PreviousSecrets, got.Problem)
			}
		})
	}
}

// What one of a batch lost is the others' gain.
func TestBatchOfAttempts(t *testing.T) {
	w := newFixture(t)
	w.owe(3)
	other := w.beside("other")
	other.owe(2)
	leased := w.Lease(ledgertest.Body())
	w.Exec("update events set fence = fence + 1 where id = $1", postgres.UUID(leased[1].ID)) // somebody else has it now
	w.Exec("update events set due_at = now() where due_at is not null")
	var finished []ledger.FinishedAttempt
	for i := range leased {
		a := acked
		a.StartedAt, a.Error = time.Now(), ""
		if i == 2 {
			a = ledger.AttemptResult{
				StartedAt:  time.Now(),
				State:      ledger.EventQueued,
				Error:      "a \x00 and \xff from who knows where",
				RetryAfter: time.Hour,
			}
		}
		finished = append(finished, ledger.FinishedAttempt{Event: &leased[i], AttemptResult: a})
	}
	want := []bool{true, false, true, true, true}
	if diff := cmp.Diff(want, w.FinishAll(finished...)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(make([]bool, 5), w.FinishAll(finished...)); diff != "" {
		t.Errorf("kept when it was said again (-want +got):\n%s", diff)
	}
	if got := w.Count("select count(*) from delivery_attempts"); got != 4 {
		t.Errorf("%d attempts were written down, want 4", got)
	}
	if got := w.Count("select sum(delivered)::int from endpoint_health"); got != 3 {
		t.Errorf("%d events are counted as delivered, want 3", got)
	}
}

func TestLeasesAreGivenBack(t *testing.T) {
	w := newFixture(t)
	w.owe(3)
	w.Pending("forwarded", stranger)
	events, forward := w.Lease(ledgertest.Body()), w.forward()
	w.Exec("update events set fence = fence + 1 where id = $1", postgres.UUID(events[0].ID)) // lost
	if err := w.GiveBackEvents(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if got := w.Count("select count(*) from events where due_at <= now() and not leased and attempts = 0 and state = 'queued'"); got != 2 {
		t.Errorf("%d events are due, want 2", got)
	}
	if w.Finish(&events[1], acked) {
		t.Error("a lease that was given back was good for something")
	}
	if err := w.GiveBackForwards(t.Context(), []ledger.Forward{*forward}); err != nil {
		t.Fatal(err)
	}
	if again := w.forward(); again.Failures != 0 || again.Accepted || again.Expired {
		t.Errorf("got %+v", again)
	}
}
