package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/worker"
)

// advance has the clock advanced.
func (w *fixture) advance(by time.Duration) clocks.Advance {
	w.t.Helper()
	a, err := w.Advance(w.t.Context(), w.sandbox.Tenant, clocks.AdvanceTarget{By: &by})
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// advanced waits until an advance is over.
func (w *fixture) advanced(a clocks.Advance) (state clocks.AdvanceState) {
	w.t.Helper()
	eventually(w.t, func() string {
		var err error
		if state, err = w.AdvanceState(w.t.Context(), w.sandbox.Tenant, a); err != nil {
			return err.Error()
		}
		if state.UnderWay {
			return "the advance is still under way"
		}
		return ""
	})
	return state
}

// now is sandbox time.
func (w *fixture) now() time.Time {
	w.t.Helper()
	clock, err := w.Clock(w.t.Context(), w.sandbox.Tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	return clock.Now
}

// reload reads the sandbox as the api knows it.
func (w *fixture) reload() {
	w.t.Helper()
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.sandbox, _ = directory.ByKey(sandboxes.KeyHash{1})
}

// gaps are the times between the attempts at an event, in sandbox time.
func (w *fixture) gaps(id payments.ID) (gaps []time.Duration) {
	w.t.Helper()
	starts := read[[]time.Time](w, "select array_agg(started_at order by attempt) from delivery_attempts where event_id = $1", id[:])
	for i := 1; i < len(starts); i++ {
		gaps = append(gaps, starts[i].Sub(starts[i-1]))
	}
	return gaps
}

func failing(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }

// bySchedule are the gaps of the default schedule, with the jitter of the worker of these tests, which is none.
var bySchedule = []time.Duration{5 * time.Second, 25 * time.Second, 125 * time.Second, 625 * time.Second, 3125 * time.Second}

// ignored makes a sandbox whose payer ignores its prompts, with the default schedule, and a payment that waits.
func (w *fixture) ignored() payments.ID {
	w.t.Helper()
	w.config.Webhook.Retry = sandboxes.DefaultRetryPolicy
	if _, err := w.ApplySandbox(w.t.Context(), w.config); err != nil {
		w.t.Fatal(err)
	}
	w.reload()
	w.alices(payments.Ignore, 1_000_000)
	return w.pay("ignored", payments.Pending)
}

// timedOut looks at what three hours made of a payment that its payer ignores, and whose event nobody acknowledges.
func (w *fixture) timedOut(id payments.ID) {
	w.t.Helper()
	transaction, err := w.GetTransaction(w.t.Context(), w.sandbox.Tenant, id)
	if err != nil || transaction.Status != payments.Timeout || transaction.CompletedAt == nil {
		w.t.Fatalf("got %+v, %v", transaction, err)
	}
	if took := transaction.CompletedAt.Sub(transaction.CreatedAt); took != time.Hour {
		w.t.Errorf("it timed out after %s, want the pendingTimeout of an hour", took)
	}
	if diff := cmp.Diff(bySchedule, w.gaps(id)); diff != "" {
		w.t.Errorf("the gaps between the attempts (-want +got):\n%s", diff)
	}
	if first := read[time.Time](w, "select min(started_at) from delivery_attempts"); !first.Equal(*transaction.CompletedAt) {
		w.t.Errorf("the first attempt began at %s, and the payment was over at %s", first, transaction.CompletedAt)
	}
	if state := read[string](w, "select state::text from events"); state != string(ledger.EventFailed) {
		w.t.Errorf("the event is %s, want failed", state)
	}
	if came := w.hook.deliveries(); len(came) != 6 {
		w.t.Errorf("%d deliveries came, want 6", len(came))
	}
}

func TestAdvanceTimesOutAndRetries(t *testing.T) {
	w := newFixture(t, failing)
	id := w.ignored()
	began := w.now()
	w.run()
	a := w.advance(3 * time.Hour)
	state := w.advanced(a)
	w.timedOut(id)
	want := &clocks.AdvanceCounts{Expired: 1, FailedAttempts: 6}
	if diff := cmp.Diff(want, state.Ended); diff != "" {
		t.Errorf("the counts (-want +got):\n%s", diff)
	}
	if a.Target.Sub(began) < 3*time.Hour || state.Now.Before(a.Target) {
		t.Errorf("the clock went from %s to %s, with the target %s", began, state.Now, a.Target)
	}
	eventually(t, func() string { // the clock of a Real sandbox runs on from the target
		if now := w.now(); !now.After(state.Now) {
			return fmt.Sprintf("the clock still stands at %s", now)
		}
		return ""
	})
}

// Wherever a worker is stopped, another one goes on: nothing is lost, and nothing done twice.
func TestAdvanceGoesOnWithAnotherWorker(t *testing.T) {
	var came atomic.Int64
	third, gone := make(chan struct{}), make(chan struct{})
	w := newFixture(t, func(answer http.ResponseWriter, _ *http.Request) {
		if came.Add(1) == 3 {
			close(third)
			<-gone
		}
		answer.WriteHeader(http.StatusInternalServerError)
	})
	id := w.ignored()
	stop := w.run()
	a := w.advance(3 * time.Hour)
	<-third
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	w.run()
	close(gone)
	<-stopped
	if state := w.advanced(a); state.Ended == nil || state.Ended.Expired != 1 || state.Ended.FailedAttempts != 6 {
		t.Errorf("the advance ended as %+v with %+v", state, state.Ended)
	}
	w.timedOut(id)
}

// A worker that loses the database with its work half done is followed by another one when its leases end.
func TestAdvanceOutlivesItsWorker(t *testing.T) {
	w := newFixture(t, nil)
	id := w.ignored()
	a := w.advance(3 * time.Hour)
	died := ledgertest.OpenAs(t, w.url, ledgertest.Worker)
	lease, err := died.LeaseClock(t.Context(), w.sandbox.Tenant, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := died.MoveClock(t.Context(), lease, lease.Now.Add(30*time.Minute), clocks.AdvanceCounts{}); err != nil {
		t.Fatal(err)
	}
	w.exec("update clocks set leased_until = now()") // the lease is over
	w.run()
	if state := w.advanced(a); state.Ended == nil || state.Ended.Expired != 1 || state.Ended.Delivered != 1 {
		t.Errorf("the advance ended as %+v", state)
	}
	if _, err := died.MoveClock(t.Context(), lease, lease.Now.Add(time.Hour), clocks.AdvanceCounts{}); err == nil {
		t.Error("whose lease was lost moved the clock")
	}
	if got := w.ended(id); got.CompletedAt.Sub(got.CreatedAt) != time.Hour {
		t.Errorf("it timed out after %s", got.CompletedAt.Sub(got.CreatedAt))
	}
}

// However much callers record meanwhile, the clock reaches its target, and nothing happens before its cause.
func TestAdvanceWhilePaymentsArrive(t *testing.T) {
	w := newFixture(t, nil)
	w.alices(payments.Approve, 1_000_000_000)
	w.run()
	w.advanced(w.advance(time.Minute)) // gives the sandbox its clock
	w.reload()
	enough, cancel := context.WithCancel(t.Context())
	var paying sync.WaitGroup
	var paid atomic.Int64
	for caller := range 2 {
		paying.Go(func() {
			for i := 0; enough.Err() == nil && i < 200; i++ {
				status := []payments.Status{payments.Pending, payments.Success}[i%2]
				if _, err := w.tryToPay(fmt.Sprintf("meanwhile-%d-%d", caller, i), status); err != nil {
					t.Error(err)
					return
				}
				paid.Add(1)
			}
		})
	}
	eventually(t, func() string {
		if paid.Load() == 0 {
			return "nothing was recorded"
		}
		return ""
	})
	a := w.advance(48 * time.Hour)
	if state := w.advanced(a); state.Ended == nil || state.Now.Before(a.Target) {
		t.Errorf("the advance ended as %+v, with the target %s", state, a.Target)
	}
	cancel()
	paying.Wait()
	w.advanced(w.advance(2 * time.Hour))
	if wrong := read[int](w, `select count(*) from transactions t left join events e using (tenant, id)
		left join delivery_attempts a on a.tenant = t.tenant and a.event_id = t.id
		where t.status <> 'SUCCESS' or e.state <> 'delivered' or t.completed_at < t.created_at or e.created_at < t.completed_at
			or a.started_at < e.created_at or a.attempt <> 1`); wrong > 0 {
		t.Errorf("%d of %d payments were lost, or happened in another order", wrong, paid.Load())
	}
	if came := len(w.hook.deliveries()); came != int(paid.Load()) {
		t.Errorf("%d deliveries came of %d payments", came, paid.Load())
	}
}

// A suspension stops an advance where it stands. Then the clock runs on, and nothing is left of the advance.
func TestSuspensionStopsAnAdvance(t *testing.T) {
	waiting, suspended := make(chan struct{}), make(chan struct{})
	w := newFixture(t, func(answer http.ResponseWriter, _ *http.Request) {
		close(waiting)
		<-suspended
		answer.WriteHeader(http.StatusNoContent)
	})
	w.ignored()
	w.run()
	a := w.advance(3 * time.Hour)
	<-waiting
	w.config.Suspended = true
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	close(suspended)
	eventually(t, func() string {
		if read[bool](w, "select target is not null or stands_at is not null from clocks") {
			return "the advance goes on"
		}
		return ""
	})
	state := w.advanced(a)
	if state.Ended != nil || state.Now.After(a.Target.Add(-time.Hour)) || state.Now.Before(a.Target.Add(-3*time.Hour)) {
		t.Errorf("it ended as %+v, with the target %s, and the event was an hour after the beginning", state, a.Target)
	}
}

// A change of the clock's mode, again and again, changes nothing for what waits: a payment ends at its time, and its event is sent by the
// schedule.
func TestChangesOfTheModeDelayNothing(t *testing.T) {
	w := newFixture(t, failing)
	id := w.ignored()
	w.run()
	// Whenever the clock runs by itself, nothing is due for minutes: by the schedule it is after 60, 62 and a half, 73 and 125 minutes.
	for i, minutes := range []time.Duration{30, 20, 20, 5, 30, 40} {
		mode := []sandboxes.ClockMode{sandboxes.ManualClock, sandboxes.RealClock}[i%2]
		w.configure(func(c *sandboxes.Config) { c.Clock = sandboxes.ClockConfig{Mode: mode} })
		if state := w.advanced(w.advance(minutes * time.Minute)); state.Ended == nil {
			t.Fatalf("advance %d ended as %+v", i+1, state)
		}
	}
	w.timedOut(id)
}

// A sandbox that is deleted while its clock is advanced, and whose rows stay, keeps no worker busy for ever.
func TestRetentionStopsAnAdvance(t *testing.T) {
	w := newFixture(t, nil)
	w.advance(time.Hour)
	if err := w.RetainSandbox(t.Context(), w.config.UID); err != nil {
		t.Fatal(err)
	}
	w.run()
	eventually(t, func() string {
		if read[bool](w, "select target is not null from clocks") {
			return "the advance goes on"
		}
		return ""
	})
}

// A manual clock stands at the target, and what is due later waits for the next advance.
func TestManualClockStands(t *testing.T) {
	w := newFixture(t, nil)
	start := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	w.config.Clock = sandboxes.ClockConfig{Mode: sandboxes.ManualClock, Start: &start}
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	w.exec("update clocks set stands_at = $1, last_stamp = '-infinity'", start) // as after a reset
	w.reload()
	w.alices(payments.Ignore, 1000)
	id := w.pay("r1", payments.Pending)
	w.run()
	if state := w.advanced(w.advance(59 * time.Minute)); state.Ended == nil || *state.Ended != (clocks.AdvanceCounts{}) {
		t.Errorf("the advance ended as %+v", state)
	}
	if got := w.now(); !got.Equal(start.Add(59 * time.Minute)) {
		t.Errorf("the clock is at %s", got)
	}
	next, err := w.Advance(t.Context(), w.sandbox.Tenant, clocks.AdvanceTarget{NextDue: true})
	if err != nil {
		t.Fatal(err)
	}
	state := w.advanced(next)
	if got := w.ended(id); state.Ended == nil || state.Ended.Expired != 1 || !got.CompletedAt.Equal(next.Target) ||
		got.CompletedAt.Sub(got.CreatedAt) != time.Hour {
		t.Errorf("the advance ended as %+v, the payment as %+v", state, got)
	}
}

// A worker that advances as many clocks as it may still advances another one: one of them makes room, and goes on later.
func TestClocksMakeRoom(t *testing.T) {
	w := newFixture(t, nil)
	like := w.pay("like", payments.PINInvalid)
	began, over := make(chan struct{}), make(chan struct{})
	var came atomic.Int64
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		switch came.Add(1) {
		case 1:
			close(began)
		case 5:
			<-over // the other one is there
		}
		time.Sleep(1100 * time.Millisecond) // longer than a turn
	}))
	t.Cleanup(slow.Close)
	end := sync.OnceFunc(func() { close(over) })
	defer end()
	tenant := w.beside("slow", slow.URL)
	w.queue(like, 5, tenant)
	day := 24 * time.Hour
	a, err := w.Advance(t.Context(), tenant, clocks.AdvanceTarget{By: &day})
	if err != nil {
		t.Fatal(err)
	}
	w.exec(`update events set due_at = now() + n * interval '1 hour'
		from (select id, row_number() over () as n from events where tenant = $1) hourly
		where tenant = $1 and events.id = hourly.id`, tenant)
	w.run(func(o *worker.Options) { o.Clocks = 1 })
	<-began
	w.advanced(w.advance(time.Hour))
	if state, err := w.AdvanceState(t.Context(), tenant, a); err != nil || !state.UnderWay {
		t.Errorf("the slow advance is %+v, %v", state, err)
	}
	end()
	eventually(t, func() string {
		state, err := w.AdvanceState(t.Context(), tenant, a)
		if err != nil || state.Ended == nil {
			return fmt.Sprintf("the slow advance is %+v, %v", state, err)
		}
		if *state.Ended != (clocks.AdvanceCounts{Delivered: 5}) {
			t.Fatalf("the slow advance did %+v", *state.Ended)
		}
		return ""
	})
	if sent := read[int](w, `select count(*)::int from events e join delivery_attempts d on d.tenant = e.tenant and d.event_id = e.id
		where e.tenant = $1 and e.state = 'delivered' and d.attempt = 1 and d.started_at = e.delivered_at`, tenant); sent != 5 {
		t.Errorf("%d of 5 events were sent once, at their time", sent)
	}
}

// The clocks of many sandboxes whose receivers hang keep no other one's clock waiting: most of its advances wait for no attempt to end.
func TestNoClockDelaysAnother(t *testing.T) {
	w := newFixture(t, nil)
	like := w.pay("like", payments.PINInvalid)
	release, ended := make(chan struct{}), &moments{}
	hanging := httptest.NewServer(hang(release, ended))
	t.Cleanup(hanging.Close)
	defer close(release) // before the worker stops, which waits for its attempts
	var slow []int64
	for i := range 20 {
		slow = append(slow, w.beside(fmt.Sprint("slow-", i), hanging.URL))
	}
	w.queue(like, 5, slow...)
	day, hour := 24*time.Hour, time.Hour
	for _, tenant := range slow {
		if _, err := w.Advance(t.Context(), tenant, clocks.AdvanceTarget{By: &day}); err != nil {
			t.Fatal(err)
		}
	}
	w.run()
	eventually(t, func() string {
		if n := read[int](w, "select count(*)::int from clocks where leased_until > now()"); n < len(slow) {
			return fmt.Sprintf("%d of %d clocks are being advanced", n, len(slow))
		}
		return ""
	})
	const advances = 10
	waited, began := 0, time.Now()
	for range advances {
		from := time.Now()
		w.advanced(w.advance(hour))
		if ended.between(from, time.Now()) > 0 {
			waited++
		}
	}
	t.Logf("%d advances one after the other took %s; %d saw an attempt that hung end", advances, time.Since(began), waited)
	if waited > advances/2 {
		t.Errorf("%d of %d advances ended only after an attempt at another sandbox's receiver had ended", waited, advances)
	}
	if n := read[int](w, "select count(*)::int from clocks where target is not null"); n != len(slow) {
		t.Errorf("%d clocks are still being advanced, want %d", n, len(slow))
	}
}
