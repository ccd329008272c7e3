package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// The overview says that payments work only if no limit, no disabled environment and no fault refuses them.
func TestOverviewSaysWhyPaymentsAreRefused(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	f.pay(key, stranger, "ref-1", "")
	with := func(want string, change func(*sandboxes.Config)) {
		t.Helper()
		config := f.config
		change(&config)
		f.apply(config, key)
		f.of("checkout")
		got := b.get(checkout + "/overview")
		if _, lead, _ := strings.Cut(got.text, `id="lead">`); !strings.HasPrefix(lead, want) {
			t.Errorf("want %q, and the page is %s", want, words(got.text))
		}
	}
	with("Payments work.", func(*sandboxes.Config) {})
	with("Payments are refused: all environments of the sandbox are disabled.", func(c *sandboxes.Config) {
		c.Environments = []sandboxes.EnvironmentConfig{c.Environments[0]}
		c.Environments[0].Enabled = false
	})
	with("The fault down refuses requests on purpose.", func(c *sandboxes.Config) {
		c.Faults = []byte(`[{"name":"slow","api":{"delay":"1ms"}},{"name":"past","when":{"until":"2020-01-01T00:00:00Z"},"api":{"status":503}},` +
			`{"name":"down","when":{"first":2},"api":{"status":503}}]`)
	})
	f.exec("insert into fault_counts (tenant, name, digest, acts, last_at) select tenant, 'down', $1, 2, now() from organizations where name = 'checkout'",
		f.of("checkout").Faults[2].Digest())
	b.get(checkout+"/overview").has(t, "Overview Payments work.") // the fault is over
	quota := func(c *sandboxes.Config) { c.MonthlyQuota = new(int64(1)) }
	with("Payments work.", quota)
	f.pay(key, stranger, "ref-2", "")
	with("Payments are refused: the quota of 1 transaction a month is used up.", quota)
	with("Requests are refused: there was 1 in the last minute, which is the limit.", func(c *sandboxes.Config) {
		c.RateLimit = new(int32(1))
		f.exec("insert into rate_usage (tenant, second, granted) select tenant, extract(epoch from now())::bigint, 1 from organizations where name = 'checkout'")
	})
	if got := f.ask(key, http.MethodGet, "/v1/payments", ""); got != http.StatusTooManyRequests {
		t.Errorf("a request answers %d", got)
	}
}

// The events of a receiver that hangs wait for each other while a worker sends them. The overview blames Cauri only if none does.
func TestSlowReceiverIsNotTakenForAMissingWorker(t *testing.T) {
	for name, mode := range map[string]sandboxes.ClockMode{"a real clock": sandboxes.RealClock, "a clock of its own": sandboxes.ManualClock} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.config.Clock.Mode = mode
			f.heard()
			b, tenant := f.signedIn(checkout, key), f.of("checkout").Tenant
			missing := func(when string, want bool, says string) {
				t.Helper()
				page := b.get(checkout + "/overview")
				page.has(t, says)
				if got := strings.Contains(page.text, "no worker of Cauri is at work here"); got != want {
					t.Errorf("%s: the overview says that no worker is at work: %t", when, got)
				}
			}
			lease := func() *ledger.LeasedEvent {
				t.Helper()
				slots := []queues.SlotGrant{{DueTenant: queues.DueTenant{Tenant: tenant}, Slots: 1}}
				events, _, err := f.store.LeaseDueEvents(t.Context(), slots, time.Hour, ledgertest.Body())
				if err != nil || len(events) != 1 {
					t.Fatalf("%d events are leased, %v", len(events), err)
				}
				return &events[0]
			}
			finish := func(e *ledger.LeasedEvent, result ledger.AttemptResult) {
				t.Helper()
				result.StartedAt = e.Now
				if _, err := f.store.FinishAttempts(t.Context(), []ledger.FinishedAttempt{{Event: e, AttemptResult: result}}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 4 {
				f.pay(key, stranger, fmt.Sprintf("ref-%d", i), "")
			}
			missing("at first", false, "Payments work.")
			f.exec("update events set due_at = due_at - interval '2 minutes' where tenant = $1", tenant)
			missing("nobody sends", true, "What is due is late")
			first := lease()
			missing("the first attempt hangs", false, "Payments work.")
			finish(first, ledger.AttemptResult{State: ledger.EventQueued, RetryAfter: time.Hour, Error: "no answer within 10s"})
			missing("it has failed", false, "127.0.0.1:1 gives no answer within 10 s")
			finish(lease(), ledger.AttemptResult{State: ledger.EventDelivered, ResponseStatus: 204, Duration: 8 * time.Second})
			f.exec("delete from unacknowledged_events")
			missing("the next one was acknowledged late", false, "Payments work")
			f.exec("update endpoint_health set changed_at = now() - interval '61 seconds'")
			missing("the worker is gone", true, "What is due is late")
			lease()
			missing("it is back", false, "Payments work")
			f.exec("update events set leased_until = leased_until - interval '2 hours', due_at = due_at - case when leased_until is null " +
				"then interval '2 hours' else '0' end where leased")
			missing("it died with the lease", true, "What is due is late")
		})
	}
}

// What is not there is not told: a paused receiver may have failed for more than a day.
func TestPausedReceiverWithoutNewEvents(t *testing.T) {
	f := newFixture(t)
	f.heard()
	f.failing(f.pay(key, stranger, "ref-1", ""), "the receiver answered 500")
	b := f.signedIn(checkout, key)
	b.get(checkout+"/overview").has(t, "1 of the last 24 hours not acknowledged, 1 event waits")
	f.exec("delete from unacknowledged_events")
	f.exec("update endpoint_health set probe_at = now() + interval '1 minute'")
	got := b.get(checkout + "/overview")
	got.has(t, "Receiver fails", "1 event waits")
	if strings.Contains(got.text, "of the last 24 hours") {
		t.Errorf("the overview counts nothing: %s", words(got.text))
	}
}

// The overview and the list of events say at once that no event is ever sent to a URL.
func TestForbiddenURLIsToldAtOnce(t *testing.T) {
	f := newFixture(t)
	f.heard()
	f.config.Webhook.URL, f.config.Webhook.Refusal = "http://localhost:3000/x", "events may not be sent to 127.0.0.1: it is this machine itself"
	f.apply(f.config, key)
	f.of("checkout")
	b := f.signedIn(checkout, key)
	b.get(checkout+"/overview").has(t, "Payments work, and one thing needs you. Cauri may not send to localhost:3000", "Address is not allowed", "no event waits")
	b.get(checkout+"/webhooks").has(t, "Cauri may not send to localhost:3000")
}
