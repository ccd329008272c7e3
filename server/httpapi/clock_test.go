package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// advances moves clocks to their targets as a worker does that finds nothing due, until the test ends or stop is called.
func (f *fixture) advances() (stop func()) {
	f.t.Helper()
	stored := ledgertest.OpenAs(f.t, f.db, ledgertest.Worker)
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	stop = func() { cancel(); working.Wait() }
	f.t.Cleanup(stop)
	working.Go(func() {
		for ctx.Err() == nil {
			due, err := stored.ClocksToAdvance(ctx, 1)
			if err != nil && ctx.Err() == nil {
				f.t.Error(err)
				return
			}
			for _, sandbox := range due {
				if err := reach(ctx, stored, sandbox.Tenant); err != nil && ctx.Err() == nil && !errors.Is(err, clocks.ErrClockLeaseLost) {
					f.t.Error(err)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
			}
		}
	})
	return stop
}

// done is what every advance of these tests does.
var done = clocks.AdvanceCounts{Settled: 1, Expired: 2, Delivered: 3, FailedAttempts: 4}

func reach(ctx context.Context, stored *ledgertest.Store, tenant int64) error {
	lease, err := stored.LeaseClock(ctx, tenant, time.Minute)
	if err != nil {
		return err
	}
	if _, err := stored.MoveClock(ctx, lease, lease.Target, clocks.AdvanceCounts{Settled: 1, Delivered: 1}); err != nil {
		return err
	}
	return stored.EndAdvance(ctx, lease, true, clocks.AdvanceCounts{Expired: 2, Delivered: 2, FailedAttempts: 4})
}

func (f *fixture) clock() object {
	f.t.Helper()
	got := f.call("GET", "/v1/clock", nil)
	if got.status != http.StatusOK {
		f.t.Fatalf("the clock: %d %s", got.status, got.raw)
	}
	return got.body
}

func timeOf(t *testing.T, value any) time.Time {
	t.Helper()
	text, _ := value.(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestAdvanceIsAnsweredAtItsTarget(t *testing.T) {
	f := newFixture(t)
	f.advances()
	before := timeOf(t, f.clock()["now"])
	got := f.call("POST", "/v1/clock/advance", object{"by": "61m"})
	if got.status != http.StatusOK || got.body["settled"] != 1.0 || got.body["expired"] != 2.0 || got.body["delivered"] != 3.0 ||
		got.body["failedAttempts"] != 4.0 {
		t.Fatalf("answered %d %s, want the counts of %+v", got.status, got.raw, done)
	}
	after := timeOf(t, got.body["now"])
	if after.Sub(before) < 61*time.Minute {
		t.Errorf("the clock went from %s to %s", before, after)
	}
	clock := f.clock()
	if clock["mode"] != "Real" || clock["target"] != nil || timeOf(t, clock["now"]).Before(after) {
		t.Errorf("the clock: %v", clock)
	}
	month := after.AddDate(0, 1, 0).UTC().Format(time.RFC3339)
	got = f.call("POST", "/v1/clock/advance", object{"to": month})
	if got.status != http.StatusOK || timeOf(t, got.body["now"]).Before(timeOf(t, month)) {
		t.Errorf("answered %d %s, want %s or later", got.status, got.raw, month)
	}
	if got := f.call("POST", "/v1/clock/advance", object{"to": "nextDue"}); got.status != http.StatusOK {
		t.Errorf("nothing is due, and nextDue answered %d %s", got.status, got.raw)
	}
}

// What is recorded after an advance has sandbox time, and is due in it.
func TestRecordedInSandboxTime(t *testing.T) {
	f := newFixture(t)
	f.advances()
	f.client("alice", alice, 50_000)
	moved := f.call("POST", "/v1/clock/advance", object{"by": "240h"})
	paid := f.call("POST", "/v1/payments", payment("later", object{"msisdn": alice}))
	if created := timeOf(t, paid.body["createdAt"]); created.Before(timeOf(t, moved.body["now"]).Truncate(time.Millisecond)) {
		t.Errorf("created at %s, the clock was at %v before", created, moved.body["now"])
	}
	clock := f.clock()
	if clock["nextDueAt"] == nil {
		t.Fatalf("a pending payment, and nothing will be due: %v", clock)
	}
	next := f.call("POST", "/v1/clock/advance", object{"to": "nextDue"})
	if next.status != http.StatusOK || timeOf(t, next.body["now"]).Before(timeOf(t, clock["nextDueAt"])) {
		t.Errorf("answered %d %s, want the moment %v", next.status, next.raw, clock["nextDueAt"])
	}
	if due := f.clock()["due"].(object); due["transactions"] != 1.0 || due["events"] != 0.0 {
		t.Errorf("due: %v, want the payment", due)
	}
}

func TestAdvanceRefusals(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		body   object
		status int
		want   string
	}{
		{object{}, 400, "is required, for example 61m; or send to"},
		{object{"by": "1h", "to": "nextDue"}, 400, "cannot be sent together with to"},
		{object{"by": "tomorrow"}, 400, "a duration such as 61m or 3h30m"},
		{object{"by": "5"}, 400, "a duration such as 61m or 3h30m"},
		{object{"by": "9600h1ms"}, 400, "at most 9600h (400 days)"},
		{object{"by": "999999999h999999999h"}, 400, "at most 9600h (400 days)"},
		{object{"to": "2026-12-01"}, 400, "a time like 2026-12-01T00:00:00Z, or nextDue"},
		{object{"to": "2026-02-30T00:00:00Z"}, 400, "a time like 2026-12-01T00:00:00Z, or nextDue"},
		{object{"to": "2199-12-01T00:00:00Z"}, 400, "at most 9600h (400 days)"},
		{object{"to": "9999-12-01T00:00:00Z"}, 400, "must stay before 2201-01-01T00:00:00Z"},
		{object{"by": "1h", "wait": "61s"}, 400, "from 0s to 60s"},
		{object{"by": "1h", "wait": "-1s"}, 400, "from 0s to 60s"},
		{object{"by": 60}, 400, "expected string"},
		{object{"to": "2020-01-01T00:00:00Z"}, 422, "clock_backwards"},
		{object{"by": "-1s"}, 422, "clock_backwards"},
	} {
		got := f.call("POST", "/v1/clock/advance", c.body)
		if got.status != c.status || !strings.Contains(got.raw, c.want) {
			t.Errorf("%v is answered by %d %s, want %d and %q", c.body, got.status, got.raw, c.status, c.want)
		}
	}
	if clocked := read[bool](f, "select bool_or(clocked) from organizations"); clocked {
		t.Error("a refused advance gave the sandbox a clock")
	}
}

// A clock goes to the end of the year 2200, and no call brings it further.
func TestClockEnds(t *testing.T) {
	f := newFixture(t)
	f.advances()
	f.client("alice", alice, 50_000)
	f.call("POST", "/v1/clock/advance", object{"by": "1s"})
	f.call("POST", "/v1/payments", payment("later", object{"msisdn": alice}))
	const last = "2200-12-31T23:59:59.999999Z"
	f.exec("update clocks set ahead = '0', stands_at = $1::timestamptz - interval '1 second'", last)
	f.exec("update transactions set due_at = $1::timestamptz + interval '1 hour'", last)
	for range 2 {
		for _, body := range []object{{"by": "2s"}, {"by": "9600h"}, {"to": "2201-01-01T00:00:00Z"}, {"to": "nextDue"}} {
			got := f.call("POST", "/v1/clock/advance", body)
			if got.status != http.StatusBadRequest || !strings.Contains(got.raw, "must stay before 2201-01-01T00:00:00Z") {
				t.Errorf("%v is answered by %d %s", body, got.status, got.raw)
			}
		}
		f.exec("update clocks set stands_at = null, ahead = $1::timestamptz - interval '1 second' - now()", last) // a real clock
	}
	f.exec("update clocks set stands_at = $1::timestamptz - interval '1 second'", last)
	if got := f.call("POST", "/v1/clock/advance", object{"to": last}); got.status != http.StatusOK { // it runs on from there
		t.Errorf("the last moment is answered by %d %s", got.status, got.raw)
	}
}

// The clock goes to one target at a time: who wants to go there waits too, and who wants to go elsewhere is told where it goes.
func TestAdvanceUnderWay(t *testing.T) {
	f := newFixture(t)
	const advance = "/v1/clock/advance"
	started := f.call("POST", advance, object{"by": "1h", "wait": "0s"})
	target, _ := started.body["target"].(string)
	if started.status != http.StatusAccepted || target == "" {
		t.Fatalf("answered %d %s, want 202 with a target", started.status, started.raw)
	}
	if clock := f.clock(); clock["target"] != target {
		t.Errorf("the clock says %v, want the target %s", clock, target)
	}
	if got := f.call("POST", advance, object{"by": "2h"}); got.status != http.StatusConflict || got.body["error"] != "clock_busy" ||
		got.body["detail"].(object)["target"] != target {
		t.Errorf("answered %d %s, want clock_busy with %s", got.status, got.raw, target)
	}
	if got := f.call("POST", advance, object{"to": target, "wait": "50ms"}); got.status != http.StatusAccepted {
		t.Errorf("answered %d %s, want 202", got.status, got.raw)
	}
	joined := make(chan response, 2)
	for range cap(joined) {
		go func() { joined <- f.call("POST", advance, object{"to": target, "wait": "60s"}) }()
	}
	f.advances()
	for range cap(joined) {
		if got := <-joined; got.status != http.StatusOK || got.body["delivered"] != 3.0 {
			t.Errorf("answered %d %s, want 200 with all counts", got.status, got.raw)
		}
	}
}

// Who is told that the clock is not there yet waits on by its target, also if it gets there between two requests, and whether the clock
// stands or runs.
func TestAdvanceThatEndsBetweenTwoRequests(t *testing.T) {
	for _, mode := range []sandboxes.ClockMode{sandboxes.RealClock, sandboxes.ManualClock} {
		t.Run(string(mode), func(t *testing.T) {
			f := newFixture(t)
			f.config.Clock = sandboxes.ClockConfig{Mode: mode}
			f.sandbox(f.config, key)
			started := f.call("POST", "/v1/clock/advance", object{"by": "1h", "wait": "0s"})
			f.advances()
			soon(t, "the clock is there", func() bool { return f.clock()["target"] == nil })
			for range 2 {
				got := f.call("POST", "/v1/clock/advance", object{"to": started.body["target"]})
				if got.status != http.StatusOK || got.body["settled"] != 1.0 || got.body["delivered"] != 3.0 {
					t.Errorf("answered %d %s, want the counts of the advance", got.status, got.raw)
				}
			}
			if got := f.call("POST", "/v1/clock/advance", object{"to": "2020-01-01T00:00:00Z"}); got.body["error"] != "clock_backwards" {
				t.Errorf("a time in the past is answered %d %s", got.status, got.raw)
			}
		})
	}
}

// A caller that goes away is not waited for: its place among the held answers is free again.
func TestAdvanceWhoseCallerLeaves(t *testing.T) {
	f := newFixture(t)
	registry := prometheus.NewRegistry()
	f = f.serve(func(o *fronts.Options) {
		o.Held, o.Metrics = httpfront.HeldBounds{Sandbox: 1}, telemetry.NewAPI(registry)
	})
	started := f.call("POST", "/v1/clock/advance", object{"by": "1h", "wait": "0s"})
	body := fmt.Sprintf(`{"to": %q, "wait": "60s"}`, started.body["target"])
	conn := f.dial()
	if _, err := fmt.Fprintf(conn, "POST /v1/clock/advance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", key, len(body), body); err != nil {
		t.Fatal(err)
	}
	turnedAway := func() bool { // says the metric of answers that were not held
		t.Helper()
		found := func() (n float64) {
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, family := range families {
				if family.GetName() == "cauri_api_answers_not_held_total" {
					for _, m := range family.GetMetric() {
						n += m.GetCounter().GetValue()
					}
				}
			}
			return n
		}
		before := found()
		f.call("POST", "/v1/clock/advance", object{"to": started.body["target"], "wait": "1ms"})
		return found() > before
	}
	soon(t, "the caller is waited for", turnedAway)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	soon(t, "the caller is not waited for any more", func() bool { return !turnedAway() })
}

// A caller is told what ended an advance before its target.
func TestAdvanceThatEndsEarly(t *testing.T) {
	f := newFixture(t)
	waiting := make(chan response)
	advance := func() {
		f.follow()
		go func() { waiting <- f.call("POST", "/v1/clock/advance", object{"by": "1h", "wait": "60s"}) }()
		for began := time.Now(); !read[bool](f, "select count(*) = 1 from clocks where target is not null"); time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute {
				f.t.Fatal("no advance began")
			}
		}
	}
	advance()
	f.config.Suspended = true
	f.sandbox(f.config, key)
	if got := <-waiting; got.status != http.StatusServiceUnavailable || got.body["error"] != "suspended" {
		t.Errorf("answered %d %s, want suspended", got.status, got.raw)
	}
	f.config.Suspended = false
	f.sandbox(f.config, key)
	f.exec("update clocks set target = null")
	advance()
	f.config.Reset = "again"
	f.sandbox(f.config, key)
	if got := <-waiting; got.status != http.StatusConflict || got.body["error"] != "clock_reset" {
		t.Errorf("answered %d %s, want clock_reset", got.status, got.raw)
	}
	if clock := f.clock(); clock["target"] != nil {
		t.Errorf("after the reset the clock is %v", clock)
	}
}
