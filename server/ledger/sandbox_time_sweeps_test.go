package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// standing is a fixture whose clock stands at noon.
func standing(t *testing.T, change ...func(*sandboxes.Config)) *fixture {
	t.Helper()
	w := newFixture(t, change...)
	w.Stand(noon)
	return w
}

func (w *fixture) pendingFor(reference, msisdn string, latency time.Duration) *payments.Transaction {
	w.T.Helper()
	n := w.Collection(reference, payments.Pending, msisdn)
	n.AnswerAfter = latency
	return w.Create(n)
}

func TestSettlementFollowsTheClock(t *testing.T) {
	w := standing(t)
	w.Client("alice", alice, 1000)
	made := w.pendingFor("r", alice, 30*time.Minute)
	w.Stand(noon.Add(29 * time.Minute))
	if counts := w.Settle(); counts.Claimed != 0 {
		t.Fatalf("%+v before its time", counts)
	}
	w.Stand(noon.Add(31 * time.Minute))
	if counts := w.Settle(); counts.Claimed != 1 {
		t.Fatalf("%+v when its time had come", counts)
	}
	settled := w.Get(made.ID)
	at, due := w.eventTimes(made.ID)
	now := noon.Add(31 * time.Minute)
	if settled.Status != payments.Success || !settled.CompletedAt.Equal(now) || !at.Equal(now) || !due.Equal(now) {
		t.Errorf("%s at %s, its event of %s due at %s, want all at %s", settled.Status, settled.CompletedAt, at, due, now)
	}
	w.Conserved()
}

func TestExpiryFollowsTheClock(t *testing.T) {
	w := standing(t)
	w.Client("alice", alice, 1000, behaves(payments.Ignore))
	made := w.pendingFor("r", alice, time.Minute)
	for _, test := range []struct {
		after time.Duration
		want  payments.Status
	}{{2 * time.Minute, payments.Pending}, {59 * time.Minute, payments.Pending}, {time.Hour + time.Second, payments.Timeout}} {
		w.Stand(noon.Add(test.after))
		w.Settle()
		if got := w.Get(made.ID); got.Status != test.want {
			t.Errorf("after %s it is %s, want %s", test.after, got.Status, test.want)
		}
	}
}

func TestRequeueStuckFollowsTheClock(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	for name, stand := range map[string]time.Time{"past": noon.AddDate(-30, 0, 0), "future": noon} {
		other := w.beside(name)
		other.Client("alice-"+name, alice, 5000)
		other.Stand(stand)
		other.pendingFor("waits", alice, time.Minute)
		lost := other.pendingFor("lost", alice, time.Minute)
		if n, err := w.RequeueStuck(t.Context(), 10); err != nil || n != 0 {
			t.Fatalf("%s: %d payments were stuck under a clock that stands, %v", name, n, err)
		}
		other.Exec("update transactions set due_at = due_at + interval '1 year' where id = $1", postgres.UUID(lost.ID))
		now := stand.Add(2 * time.Hour)
		other.Stand(now)
		if n, err := w.RequeueStuck(t.Context(), 10); err != nil || n != 1 {
			t.Errorf("%s: %d payments were stuck, %v", name, n, err)
		}
		if due := read[time.Time](w, "select due_at from transactions where id = $1", postgres.UUID(lost.ID)); !due.Equal(now) {
			t.Errorf("%s: it is due at %s", name, due)
		}
	}
}

func TestAnswersByHandFollowTheClock(t *testing.T) {
	w := standing(t)
	w.Client("alice", alice, 5000, behaves(payments.Manual))
	for i, answer := range []payments.Answer{payments.AnswerApprove, payments.AnswerCancel, payments.AnswerWrongPIN} {
		made := w.pendingFor(string(answer), alice, time.Minute)
		now := noon.Add(time.Duration(i+1) * time.Second)
		w.Stand(now)
		answered := w.answer(alice, made.ID, answer)
		at, due := w.eventTimes(made.ID)
		if answered.Status != answer.Outcome() || !answered.CompletedAt.Equal(now) || !at.Equal(now) || !due.Equal(now) {
			t.Errorf("%s: %s at %s, its event of %s due at %s, want all at %s", answer, answered.Status, answered.CompletedAt, at, due, now)
		}
	}
	late := w.pendingFor("late", alice, time.Minute)
	w.Stand(noon.Add(2 * time.Hour))
	if _, _, err := w.AnswerPrompt(t.Context(), w.Sandbox.Tenant, alice, late.ID, payments.AnswerApprove); err == nil {
		t.Error("it was approved after its time")
	}
	if got := w.Get(late.ID); got.Status != payments.Timeout || !got.CompletedAt.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("%s at %s", got.Status, got.CompletedAt)
	}
	w.Conserved()
}

// While a clock is being advanced, one worker does what is due in its sandbox.
func TestSweepsLeaveAnAdvanceAlone(t *testing.T) {
	w := standing(t, unknownNumbersForwarded)
	w.Client("alice", alice, 5000)
	w.Pending("pending", alice)
	w.Pending("forwarded", stranger)
	w.Create(w.Collection("told", payments.PINInvalid, alice))
	due := func() (n [3]int) {
		for i, list := range []func() ([]queues.DueTenant, error){
			func() ([]queues.DueTenant, error) { return w.TenantsToSettle(t.Context()) },
			func() ([]queues.DueTenant, error) { return w.TenantsToForward(t.Context()) },
			func() ([]queues.DueTenant, error) { return w.TenantsToDeliver(t.Context()) },
		} {
			found, err := list()
			if err != nil {
				t.Fatal(err)
			}
			n[i] = len(found)
		}
		return n
	}
	if got := due(); got != [3]int{1, 1, 1} {
		t.Fatalf("to settle, to forward, to deliver: %v", got)
	}
	w.Exec("update clocks set target = $1", noon.Add(time.Hour))
	if got := due(); got != [3]int{} {
		t.Errorf("while the clock is being advanced, to settle, to forward, to deliver: %v", got)
	}
}

func unknownNumbersForwarded(c *sandboxes.Config) {
	c.Environments = append([]sandboxes.EnvironmentConfig(nil), c.Environments...)
	c.Environments[0].UnknownPolicy = payments.Passthrough
}

// Attempts are due by the clock; the lease ends although the clock stands.
func TestDeliveryFollowsTheClock(t *testing.T) {
	w := standing(t)
	n := w.Collection("r", payments.PINInvalid, alice)
	n.AnswerAfter = 10 * time.Second
	made := w.Create(n)
	if got := w.Lease(ledgertest.Body()); len(got) != 0 {
		t.Fatalf("%d events before their time", len(got))
	}
	now := noon.Add(time.Minute)
	w.Stand(now)
	_, due := w.eventTimes(made.ID)
	killed := w.leaseOne(ledgertest.Body())
	if !killed.Now.Equal(now) || time.Since(killed.TakenAt).Abs() > 24*time.Hour {
		t.Errorf("taken at %s by the clock, and at %s by the database", killed.Now, killed.TakenAt)
	}
	if _, after := w.eventTimes(made.ID); !after.Equal(due) {
		t.Errorf("its lease made it due at %s instead of %s", after, due)
	}
	if got := w.Lease(ledgertest.Body()); len(got) != 0 {
		t.Fatalf("%d events were leased twice", len(got))
	}
	if e := w.event(made.ID); e.NextAttemptAt != nil {
		t.Errorf("it is being sent, and sent next at %s", e.NextAttemptAt)
	}
	w.Exec("update events set leased_until = now()") // time passes, the clock stands
	second := w.leaseOne(ledgertest.Body())
	if w.Finish(killed, acknowledged) {
		t.Error("an attempt was kept whose lease was over")
	}
	w.Finish(second, refusedOnce) // to be sent again in an hour
	if e := w.event(made.ID); e.NextAttemptAt == nil || !e.NextAttemptAt.Equal(now.Add(time.Hour)) || !e.History[0].StartedAt.Equal(now) {
		t.Errorf("attempted at %s, next at %s", e.History[0].StartedAt, e.NextAttemptAt)
	}
	if got := w.Lease(ledgertest.Body()); len(got) != 0 {
		t.Errorf("%d events were leased while the clock stood", len(got))
	}
	w.Stand(now.Add(time.Hour))
	w.Finish(w.leaseOne(ledgertest.Body()), acknowledged)
	e := w.event(made.ID)
	started := e.History[1].StartedAt
	if e.State != ledger.EventDelivered || !started.Equal(now.Add(time.Hour)) || e.DeliveredAt.Before(started) {
		t.Errorf("%s at %s by an attempt of %s", e.State, e.DeliveredAt, started)
	}
	again := now.Add(48 * time.Hour)
	w.Stand(again)
	if resent, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, made.ID); err != nil || !resent.NextAttemptAt.Equal(again) {
		t.Errorf("sent again at %v, %v", resent.NextAttemptAt, err)
	}
	w.leaseOne(ledgertest.Body())
	if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, made.ID); err == nil {
		t.Error("it was queued while it was being sent")
	}
}

func TestLeasesUnderAClockAreGivenBack(t *testing.T) {
	w := standing(t, unknownNumbersForwarded)
	w.Create(w.Collection("told", payments.PINInvalid, alice))
	w.Pending("forwarded", stranger)
	event, forward := w.leaseOne(ledgertest.Body()), w.forward()
	if err := w.GiveBackEvents(t.Context(), []ledger.LeasedEvent{*event}); err != nil {
		t.Fatal(err)
	}
	if err := w.GiveBackForwards(t.Context(), []ledger.Forward{*forward}); err != nil {
		t.Fatal(err)
	}
	w.leaseOne(ledgertest.Body())
	w.forward()
}

// A lease from before the sandbox had a clock ends as it would have.
func TestLeaseOfBeforeTheClock(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("told", payments.PINInvalid, alice))
	before := w.leaseOne(ledgertest.Body())
	w.RunAhead(365 * 24 * time.Hour)
	if got := w.Lease(ledgertest.Body()); len(got) != 0 {
		t.Fatalf("%d events were leased twice", len(got))
	}
	w.Exec("update events set due_at = now()")
	after := w.leaseOne(ledgertest.Body())
	if after.Fence <= before.Fence {
		t.Errorf("leases %d and %d", before.Fence, after.Fence)
	}
}

// Each attempt has both times.
func TestAttemptsHaveBothTimes(t *testing.T) {
	w := standing(t)
	made := w.Create(w.Collection("told", payments.PINInvalid, alice))
	leased := w.leaseOne(ledgertest.Body())
	w.Finish(leased, ledger.AttemptResult{State: ledger.EventDelivered})
	got := w.event(made.ID).History[0]
	if !got.StartedAt.Equal(noon) || !got.RealStartedAt.Equal(leased.TakenAt) || time.Since(got.RealStartedAt).Abs() > time.Hour {
		t.Errorf("it began at %s, in real time at %s", got.StartedAt, got.RealStartedAt)
	}
}

// Without a clock both times are one, and the row stores it once.
func TestAttemptsWithoutAClockHaveOneTime(t *testing.T) {
	w := newFixture(t)
	made := w.Create(w.Collection("told", payments.PINInvalid, alice))
	leased := w.leaseOne(ledgertest.Body())
	w.Finish(leased, ledger.AttemptResult{State: ledger.EventDelivered})
	if got := w.event(made.ID).History[0]; !got.StartedAt.Equal(leased.TakenAt) || !got.RealStartedAt.Equal(leased.TakenAt) {
		t.Errorf("it began at %s, in real time at %s", got.StartedAt, got.RealStartedAt)
	}
	if n := w.Count("select count(*) from delivery_attempts where real_started_at is not null"); n != 0 {
		t.Error("real_started_at repeats started_at")
	}
}

func TestProbesFollowTheClock(t *testing.T) {
	w := standing(t)
	w.owe(20)
	for _, event := range w.Lease(ledgertest.Body()) {
		w.Finish(&event, ledger.AttemptResult{State: ledger.EventQueued, Error: "no answer", RetryAfter: time.Second})
	}
	paused := func() bool { return read[bool](w, "select probe_at is not null from endpoint_health") }
	if paused() {
		t.Fatal("paused though no time has passed")
	}
	w.Stand(noon.Add(ledger.BreakerAfter + time.Minute))
	for _, event := range w.Lease(ledgertest.Body()) {
		w.Finish(&event, ledger.AttemptResult{State: ledger.EventQueued, Error: "no answer", RetryAfter: time.Second})
	}
	if !paused() {
		t.Fatal("not paused though it failed for minutes of the clock")
	}
	w.Stand(noon.Add(ledger.BreakerAfter + time.Minute + ledger.ProbeInterval - time.Second))
	if got := w.Lease(ledgertest.Body()); len(got) != 0 {
		t.Fatalf("%d events were sent before the probe", len(got))
	}
	w.Stand(noon.Add(ledger.BreakerAfter + 2*time.Minute + ledger.ProbeInterval))
	if probe := w.leaseOne(ledgertest.Body()); !probe.Probe {
		t.Error("it is no probe")
	}
}

// An operator outside of Cauri is asked by the clock, and once more when the payment's time is over.
func TestForwardingFollowsTheClock(t *testing.T) {
	w := standing(t, unknownNumbersForwarded)
	made := w.Pending("r", stranger)
	killed := w.forward()
	if got := w.forwards(time.Hour); len(got) != 0 {
		t.Fatalf("%d collections were leased twice", len(got))
	}
	w.Exec("update transactions set leased_until = now()")
	f := w.forward()
	if w.deferForward(killed, ledger.Deferred{After: time.Second}) {
		t.Error("a result was kept whose lease was over")
	}
	if f.Expired || f.Age > time.Minute {
		t.Errorf("expired: %t, %s old", f.Expired, f.Age)
	}
	w.deferForward(f, ledger.Deferred{Accepted: true, After: 30 * time.Second})
	if got := w.forwards(time.Hour); len(got) != 0 {
		t.Fatalf("%d collections are to be asked after while the clock stands", len(got))
	}
	w.Stand(noon.Add(time.Minute))
	f = w.forward()
	if f.Expired || f.Age != time.Minute {
		t.Errorf("expired: %t, %s old", f.Expired, f.Age)
	}
	w.deferForward(f, ledger.Deferred{Accepted: true, After: 30 * time.Second})
	over := noon.Add(2 * time.Hour)
	w.Stand(over)
	f = w.forward()
	if !f.Expired || !f.Accepted {
		t.Errorf("when its time is over: expired %t, accepted %t", f.Expired, f.Accepted)
	}
	w.settleForward(f, ledger.OperatorResult{Status: payments.Timeout})
	at, due := w.eventTimes(made.ID)
	if got := w.Get(made.ID); got.Status != payments.Timeout || !got.CompletedAt.Equal(over) || !at.Equal(over) || !due.Equal(over) {
		t.Errorf("%s at %s, its event of %s due at %s", got.Status, got.CompletedAt, at, due)
	}
}

// Pages go on where they ended while the clock stands and more is recorded.
func TestListsUnderAClock(t *testing.T) {
	w := standing(t)
	for i := range 6 {
		w.Create(w.Collection(fmt.Sprint("r", i), payments.PINInvalid, alice))
		if i == 3 {
			w.Stand(noon.Add(time.Hour))
		}
	}
	var listed, told []string
	var after *payments.ID
	var afterEvent *payments.EventID
	for page := range 3 {
		found, err := w.ListTransactions(t.Context(), w.Sandbox.Tenant, lists.Filter{}, after, 2)
		if err != nil || len(found) != 2 {
			t.Fatalf("page %d: %d transactions, %v", page, len(found), err)
		}
		events, err := w.ListEvents(t.Context(), w.Sandbox.Tenant, ledger.EventFilter{}, afterEvent, 2)
		if err != nil || len(events) != 2 {
			t.Fatalf("page %d: %d events, %v", page, len(events), err)
		}
		for i := range found {
			listed, told = append(listed, found[i].Reference), append(told, w.Get(events[i].ID).Reference)
		}
		after, afterEvent = &found[1].ID, new(events[1].EventID())
		w.Create(w.Collection(fmt.Sprint("later", page), payments.PINInvalid, alice))
	}
	if diff := cmp.Diff([]string{"r5", "r4", "r3", "r2", "r1", "r0"}, listed); diff != "" {
		t.Errorf("transactions (-want +listed):\n%s", diff)
	}
	if diff := cmp.Diff(listed[1:], told[1:]); diff != "" { // the first page of events was read after more was recorded
		t.Errorf("events (-want +listed):\n%s", diff)
	}
	recent, err := w.ListTransactions(t.Context(), w.Sandbox.Tenant, lists.Filter{CreatedAfter: new(noon.Add(30 * time.Minute))}, nil, 10)
	if err != nil || len(recent) != 5 {
		t.Errorf("%d transactions of the last hour, %v", len(recent), err)
	}
}

// A clock that stands, or is ahead, is no measure of how late the workers are.
func TestNoLagUnderAClock(t *testing.T) {
	w := standing(t, unknownNumbersForwarded)
	w.Client("alice", alice, 5000)
	w.Pending("pending", alice)
	w.Pending("forwarded", stranger)
	w.Create(w.Collection("told", payments.PINInvalid, alice))
	for _, table := range []string{"transactions", "events"} {
		w.Exec("update " + table + " set due_at = now() - interval '1 year' where due_at is not null")
	}
	w.Exec("insert into endpoint_health (tenant, probe_at) values ($1, now())", w.Sandbox.Tenant)
	if diff := cmp.Diff(queues.Statistics{}, w.queueStatistics()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	told := map[payments.Status]*time.Duration{}
	s := w.Opened(ledgertest.Options{OnSettled: func(status payments.Status, lag *time.Duration) { told[status] = lag }})
	if _, err := ledgertest.SettleDue(t.Context(), s, 10); err != nil {
		t.Fatal(err)
	}
	if lag, settled := told[payments.Success]; !settled || lag != nil {
		t.Errorf("settled: %t, with a lag of %v", settled, lag)
	}
}

// What a sandbox of another time keeps is removed by its age in the time of the database.
func TestRetentionUnderAClock(t *testing.T) {
	for name, stand := range map[string]time.Time{"past": noon.AddDate(-20, 0, 0), "future": noon} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.Stand(stand)
			old, young := w.attempted("old", acknowledged), w.attempted("young", acknowledged)
			w.Exec("insert into quota_usage (tenant, month, used) values ($1, $2, 1), ($1, $3, 1)", w.Sandbox.Tenant, stand, stand.AddDate(-2, 0, 0))
			if got := w.removeAged(); got != 0 {
				t.Errorf("%d events were removed that had just been recorded", got)
			}
			w.Exec("update events set recorded_at = now() - $2::interval where id = $1", postgres.UUID(old), month+time.Minute)
			w.Exec("update events set recorded_at = now() - $2::interval where id = $1", postgres.UUID(young), month-time.Minute)
			if got := w.removeAged(); got != 1 {
				t.Errorf("%d events were removed, want 1", got)
			}
			if n := w.Count("select count(*) from events where id = $1", postgres.UUID(young)); n != 1 {
				t.Error("the young one is gone")
			}
			if err := w.RemoveOldUsage(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := read[[]time.Time](w, "select array_agg(month) from quota_usage"); len(left) != 1 || left[0].Year() != stand.Year() {
				t.Errorf("the quotas that are left are of %v", left)
			}
		})
	}
}
