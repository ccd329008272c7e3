package worker_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

// What is due, and what receivers are told the time by, is the database's clock. The receiver of the tests refuses a timestamp
// that is five minutes off.
func TestWorkerWhoseClockIsWrong(t *testing.T) {
	for name, off := range map[string]time.Duration{"slow": -10 * time.Minute, "fast": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			w := newFixture(t, func(rw http.ResponseWriter, _ *http.Request) {
				if tries.Add(1) == 1 {
					rw.WriteHeader(http.StatusInternalServerError)
				}
			})
			wrong := func() time.Time { return time.Now().Add(off) }
			w.pay("r1", payments.Pending)
			w.run(func(o *worker.Options) {
				o.Now = wrong
				o.Sender = webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", wrong)
			})
			w.until(ledger.EventDelivered, 1)
			if got := read[int](w, "select count(*)::int from delivery_attempts where abs(extract(epoch from started_at - now())) < 60"); got != 2 {
				t.Errorf("%d attempts began at the database's time, want 2", got)
			}
		})
	}
}

// The endpoint has failed for long: the events wait, and one probe that is acknowledged sends all of them.
func TestEndpointThatWorksAgain(t *testing.T) {
	w := newFixture(t, nil)
	for _, reference := range []string{"r1", "r2", "r3", "r4", "r5"} {
		w.pay(reference, payments.PINInvalid)
	}
	if _, err := w.sql.Exec(t.Context(), `insert into endpoint_health (tenant, failures, failing_since, probe_at)
		values ($1, 40, now() - interval '1 hour', now() + interval '1 hour')`, w.sandbox.Tenant); err != nil {
		t.Fatal(err)
	}
	w.run()
	quiet := time.After(300 * time.Millisecond) // several polls
	<-quiet
	if got := len(w.hook.deliveries()); got != 0 {
		t.Fatalf("%d events were sent before the next probe", got)
	}
	if _, err := w.sql.Exec(t.Context(), "update endpoint_health set probe_at = now()"); err != nil {
		t.Fatal(err)
	}
	w.until(ledger.EventDelivered, 5)
	if got := read[string](w, "select failures || ' ' || delivered || ' ' || (probe_at is null) from endpoint_health"); got != "0 5 true" {
		t.Errorf("health: %s", got)
	}
}

func TestProbeThatFailsUsesUpNoRetry(t *testing.T) {
	w := newFixture(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) })
	w.pay("r1", payments.PINInvalid)
	if _, err := w.sql.Exec(t.Context(), `insert into endpoint_health (tenant, failures, failing_since, probe_at)
		values ($1, 40, now() - interval '1 hour', now())`, w.sandbox.Tenant); err != nil {
		t.Fatal(err)
	}
	w.run()
	for range 6 { // the event has 3 retries
		before := len(w.hook.deliveries())
		eventually(t, func() string {
			if len(w.hook.deliveries()) == before {
				return "no probe is made"
			}
			return ""
		})
		eventually(t, func() string {
			if read[int](w, "select count(*)::int from events where leased") > 0 {
				return "the probe is not written down"
			}
			return ""
		})
		if _, err := w.sql.Exec(t.Context(), "update endpoint_health set probe_at = now()"); err != nil {
			t.Fatal(err)
		}
	}
	if got := read[string](w, "select state || ' ' || (attempts - probes) from events"); got != "queued 0" {
		t.Errorf("the event is %s", got)
	}
}
