package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const expectationUID = "44444444-4444-4444-4444-444444444444"

// expect has the workers evaluate lines. They have to be met at once for change to leave out.
func (w *fixture) expect(lines string, change ...func(*sandboxes.ExpectationConfig)) {
	w.T.Helper()
	c := sandboxes.ExpectationConfig{UID: expectationUID, Lines: []byte(lines), Within: time.Hour}
	for _, f := range change {
		f(&c)
	}
	if err := w.BeginExpectation(w.T.Context(), w.Config.UID, c); err != nil {
		w.T.Fatal(err)
	}
}

// evaluated evaluates what a worker would evaluate now, as its role, and says what is known then.
func (w *fixture) evaluated(run string) string {
	w.T.Helper()
	worker := ledgertest.OpenAs(w.T, w.URL, ledgertest.Worker)
	if err := w.FlushActivity(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	due, err := worker.EvaluateAll(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	state, err := w.FindExpectation(w.T.Context(), expectationUID, run)
	if err != nil {
		w.T.Fatal(err)
	}
	said := fmt.Sprintf("%d %s %s", due, state.Verdict, state.Reason)
	for _, r := range state.Results {
		said += fmt.Sprintf(", %t %s", r.Met, r.Observed)
	}
	return said
}

func (w *fixture) wantEvaluated(want string) {
	w.T.Helper()
	if diff := cmp.Diff(want, w.evaluated("")); diff != "" {
		w.T.Error(diff)
	}
}

const paidOnce = `[{"transactions":{"where":{"orderRef":"r1","status":"SUCCESS"},"count":1}},{"nothingElse":true}]`

func TestExpectationIsMet(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	w.expect(paidOnce, func(c *sandboxes.ExpectationConfig) { c.Settle = time.Hour })
	w.wantEvaluated("1 Open NotMet, false 0 transactions, true no other transaction")
	w.wantEvaluated("0 Open NotMet, false 0 transactions, true no other transaction") // nothing happened
	w.Create(w.Collection("r1", payments.Success, alice))
	w.wantEvaluated("1 Open Settling, true 1 transaction, true no other transaction")
	w.wantEvaluated("0 Open Settling, true 1 transaction, true no other transaction")
	w.Exec("update expectations set met_since = met_since - interval '1 hour', due_at = now()")
	w.wantEvaluated("1 Met Met, true 1 transaction, true no other transaction")
	w.Create(w.Collection("r2", payments.Success, alice))
	w.wantEvaluated("0 Met Met, true 1 transaction, true no other transaction") // a verdict does not change
}

func TestExpectationFails(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	w.expect(paidOnce)
	w.Exec("update expectations set deadline = now()")
	w.wantEvaluated("1 Failed DeadlineExceeded, false 0 transactions, true no other transaction")

	w.expect(paidOnce)
	w.Create(w.Collection("r2", payments.PINInvalid, alice))
	if got := w.evaluated(""); got[:len("1 Failed Exceeded")] != "1 Failed Exceeded" {
		t.Error(got)
	}
}

// What a line says of deliveries and callbacks changes with an attempt, however long after the payment it is made.
func TestExpectationOfDeliveries(t *testing.T) {
	w := newFixture(t)
	w.expect(`[{"events":{"where":{"event":"payment.completed"},"state":"delivered","count":1}}]`)
	w.Create(w.Collection("r1", payments.Success, alice))
	w.wantEvaluated("1 Open NotMet, false 0 events")
	event := w.leaseOne(ledgertest.Body())
	w.wantEvaluated("0 Open NotMet, false 0 events")
	if _, err := w.FinishAttempts(t.Context(), []ledger.FinishedAttempt{{
		Event: event, AttemptResult: ledger.AttemptResult{StartedAt: time.Now(), State: ledger.EventDelivered},
	}}); err != nil {
		t.Fatal(err)
	}
	w.wantEvaluated("1 Met Met, true 1 event")
}

func TestExpectationOfCallbacks(t *testing.T) {
	w := newFixture(t)
	w.expect(`[{"events":{"where":{"event":"operator.callback"},"state":"delivered","count":1}}]`)
	w.asked("r1", "http://shop.example/callback")
	w.wantEvaluated("1 Open NotMet, false 0 events")
	leased := w.leaseCallbacks(1)
	w.wantEvaluated("0 Open NotMet, false 0 events")
	w.finishCallback(&leased[0], ledger.AttemptResult{StartedAt: time.Now(), State: ledger.EventDelivered})
	w.wantEvaluated("1 Met Met, true 1 event")
}

func TestExpectationSinceCreation(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	w.Create(w.Collection("r0", payments.Success, alice))
	w.expect(paidOnce, func(c *sandboxes.ExpectationConfig) { c.SinceCreation = true })
	w.wantEvaluated("1 Open NotMet, false 0 transactions, true no other transaction")
	w.Create(w.Collection("r1", payments.Success, alice))
	w.wantEvaluated("1 Met Met, true 1 transaction, true no other transaction")
}

func TestExpectationOfASandboxThatIsReset(t *testing.T) {
	w := newFixture(t)
	w.expect(paidOnce)
	w.wantEvaluated("1 Open NotMet, false 0 transactions, true no other transaction")
	decided := sandboxes.ExpectationConfig{UID: "55555555-5555-5555-5555-555555555555", Lines: []byte(paidOnce), Within: time.Hour}
	if err := w.BeginExpectation(t.Context(), w.Config.UID, decided); err != nil {
		t.Fatal(err)
	}
	w.Exec("update expectations set verdict = 'Met', due_at = null where uid = $1", decided.UID)
	w.Config.Reset = "again"
	w.Apply()
	worker := ledgertest.OpenAs(t, w.URL, ledgertest.Worker)
	if n, err := worker.FailExpectationsOfResets(t.Context()); n != 1 || err != nil {
		t.Errorf("%d have failed, with the error %v", n, err)
	}
	w.wantEvaluated("0 Failed SandboxReset, false 0 transactions, true no other transaction")
	if state, err := w.FindExpectation(t.Context(), decided.UID, ""); state.Verdict != expectations.Met || err != nil {
		t.Errorf("what was decided is %s, with the error %v", state.Verdict, err)
	}
	w.expect(paidOnce, func(c *sandboxes.ExpectationConfig) { c.Run = "2" })
	if got, want := w.evaluated("2"), "1 Open NotMet, false 0 transactions, true no other transaction"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := w.FindExpectation(t.Context(), expectationUID, ""); !errors.Is(err, sandboxes.ErrNoExpectation) {
		t.Errorf("the former run has the error %v", err)
	}
}

// Nobody evaluates a sandbox whose data are kept after its deletion.
func TestExpectationOfASandboxThatIsRetained(t *testing.T) {
	w := newFixture(t)
	w.expect(paidOnce)
	w.Exec("update organizations set retained_at = now()")
	worker := ledgertest.OpenAs(t, w.URL, ledgertest.Worker)
	if n, err := worker.FailExpectationsOfResets(t.Context()); n != 1 || err != nil {
		t.Errorf("%d have failed, with the error %v", n, err)
	}
	w.wantEvaluated("0 Failed SandboxReset")
}

// The controller learns of what a resource shows, and not of each transaction that changes what was observed.
func TestChangedExpectations(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	w.expect(`[{"transactions":{"count":"5..6"}}]`)
	w.evaluated("")
	w.Exec("update expectations set changed_at = now() - interval '1 minute'")
	since := time.Now()
	w.Create(w.Collection("r1", payments.Success, alice))
	w.evaluated("")
	if changed, err := w.ChangedExpectations(t.Context(), since); len(changed) != 0 || err != nil {
		t.Errorf("%v have changed, with the error %v", changed, err)
	}
	w.Exec("update expectations set deadline = now(), due_at = now()")
	w.evaluated("")
	if changed, err := w.ChangedExpectations(t.Context(), since); len(changed) != 1 || changed[0].UID != expectationUID || err != nil {
		t.Errorf("%v have changed, with the error %v", changed, err)
	}
	w.Exec("update expectations set changed_at = now() - interval '2 days'")
	if err := w.RemoveOldUsage(t.Context()); err != nil || w.Count("select count(*) from expectations") != 0 {
		t.Errorf("what was decided long ago is still there, with the error %v", err)
	}
}

// The time of within is real time: it runs while the sandbox is suspended, and while its clock stands.
func TestExpectationOfASandboxThatStands(t *testing.T) {
	for name, stand := range map[string]func(*sandboxes.Config){
		"suspended":        func(c *sandboxes.Config) { c.Suspended = true },
		"a standing clock": func(c *sandboxes.Config) { c.Clock.Mode = sandboxes.ManualClock },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			stand(&w.Config)
			w.Apply()
			w.expect(paidOnce)
			w.wantEvaluated("1 Open NotMet, false 0 transactions, true no other transaction")
			w.Exec("update expectations set deadline = now(), due_at = now()")
			w.wantEvaluated("1 Failed DeadlineExceeded, false 0 transactions, true no other transaction")
		})
	}
}

// Lines that take too long to evaluate say so, and hold up no other expectation of their sandbox.
func TestExpectationThatTakesTooLong(t *testing.T) {
	w := newFixture(t)
	w.expect(`[{"float":{"currency":"RWF","equals":0}}]`)
	other := sandboxes.ExpectationConfig{
		UID: "55555555-5555-5555-5555-555555555555", Lines: []byte(`[{"nothingElse":true}]`), Within: time.Hour,
	}
	if err := w.BeginExpectation(t.Context(), w.Config.UID, other); err != nil {
		t.Fatal(err)
	}
	slow := ledgertest.Connect(t, w.URL)
	if _, err := slow.Exec(t.Context(), "begin; lock table floats in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	w.wantEvaluated("1 Open TooManyRows")
	if n := w.Count("select count(*) from expectations where due_at < now() + interval '30 seconds' and due_at < deadline"); n != 1 {
		t.Error("it is not evaluated again before its deadline")
	}
	if state, err := w.FindExpectation(t.Context(), other.UID, ""); state.Verdict != expectations.Met || err != nil {
		t.Errorf("the other one is %s, with the error %v", state.Verdict, err)
	}
	w.Exec("update expectations set deadline = now(), due_at = now() where verdict = 'Open'")
	w.wantEvaluated("1 Failed TooManyRows")
}

// A worker that is killed while it evaluates has written nothing: another one evaluates the same, and until then skips it.
func TestExpectationOfAWorkerThatIsKilled(t *testing.T) {
	w := newFixture(t)
	w.expect(paidOnce)
	killed := ledgertest.Connect(t, w.URL)
	if _, err := killed.Exec(t.Context(), "begin"); err != nil {
		t.Fatal(err)
	}
	if _, err := killed.Exec(t.Context(), "select 1 from expectations for update"); err != nil {
		t.Fatal(err)
	}
	w.wantEvaluated("1 Open ")
	var id int
	if err := killed.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	w.Exec("select pg_terminate_backend($1, 10000)", id)
	w.wantEvaluated("1 Open NotMet, false 0 transactions, true no other transaction")
}
