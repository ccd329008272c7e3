package controllers_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// newExpectation expects one payment in checkout.
func (c *cluster) newExpectation(change ...func(*v1alpha1.Expectation)) *v1alpha1.Expectation {
	expectation := &v1alpha1.Expectation{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "paid-once"},
		Spec: v1alpha1.ExpectationSpec{
			SandboxRef: v1alpha1.SandboxReference{Name: "checkout"},
			Settle:     "0s",
			Expect: []v1alpha1.ExpectedLine{
				{NothingElse: new(true)}, {Transactions: &v1alpha1.ExpectedTransactions{Count: intstr.FromInt32(1)}},
			},
		},
	}
	for _, f := range change {
		f(expectation)
	}
	return expectation
}

// conditions waits until an Expectation has exactly these conditions for its present spec. work runs before each look.
func (c *cluster) expectationConditions(e *v1alpha1.Expectation, work func(), want ...string) {
	c.Helper()
	c.until(func(ctx context.Context) string {
		if work != nil {
			work()
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(e), e); err != nil {
			return err.Error()
		}
		if e.Status.ObservedGeneration != e.Generation {
			return "the present generation was not observed"
		}
		return cmp.Diff(want, inShort(e.Status.Conditions))
	})
}

// workers evaluates all expectations as the workers do.
func (c *cluster) workers() func() {
	store := ledgertest.OpenAs(c, c.databaseURL, ledgertest.Worker)
	return func() {
		c.Helper()
		if _, err := store.FailExpectationsOfResets(c.Context()); err != nil {
			c.Fatal(err)
		}
		if _, err := store.EvaluateAll(c.Context()); err != nil {
			c.Fatal(err)
		}
	}
}

var (
	open    = []string{"Met False NotMet", "Failed False NotMet", "Reconciling True NotMet"}
	met     = []string{"Met True Met", "Failed False Met"}
	nothing = func(e *v1alpha1.Expectation) { e.Spec.Expect = e.Spec.Expect[:1] }
)

func failedBy(reason string) []string {
	return []string{"Met False " + reason, "Failed True " + reason, "Stalled True " + reason}
}

func TestExpectationIsMet(t *testing.T) {
	c := newCluster(t)
	e := c.newExpectation(nothing)
	c.create(e)
	c.kstatus(e, status.InProgressStatus)
	c.start()
	c.expectationConditions(e, nil, "Met False SandboxNotFound", "Failed False SandboxNotFound", "Reconciling True SandboxNotFound")
	c.kstatus(e, status.InProgressStatus)
	c.create(c.newSandbox())
	c.expectationConditions(e, nil, open...)
	c.kstatus(e, status.InProgressStatus)
	if e.Status.StartedAt == nil || e.Status.DecidedAt != nil {
		t.Errorf("the status is %+v", e.Status)
	}
	if c.count("select count(*) from expectations where name = 'paid-once'") != 1 {
		t.Error("the row does not have the name of the resource")
	}
	c.expectationConditions(e, c.workers(), met...)
	c.kstatus(e, status.CurrentStatus)
	want := []v1alpha1.ExpectationResult{{Line: "nothing else", Met: true, Observed: "no other transaction", At: e.Status.Results[0].At}}
	if diff := cmp.Diff(want, e.Status.Results); diff != "" || e.Status.Line != "" || e.Status.DecidedAt == nil {
		t.Errorf("%s\nthe status is %+v", diff, e.Status)
	}
	c.delete(e)
	c.until(func(context.Context) string {
		if c.count("select count(*) from expectations") > 0 {
			return "the row is still there"
		}
		return ""
	})
}

func TestExpectationFailsAndRunsAgain(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	e := c.newExpectation()
	c.create(e)
	work := c.workers()
	c.expectationConditions(e, work, open...)
	c.until(func(context.Context) string {
		work() // the evaluation before may have come before the row
		c.refresh(e)
		return cmp.Diff("transactions: 1", e.Status.Line)
	})
	c.row("update expectations set deadline = now(), due_at = now() returning 1", nil, new(int))
	c.expectationConditions(e, work, failedBy("DeadlineExceeded")...)
	c.kstatus(e, status.FailedStatus)
	const want = "transactions: 1. Observed: 0 transactions. The line was not met in time."
	if diff := cmp.Diff(want, message(e.Status.Conditions, v1alpha1.ConditionFailed)); diff != "" {
		t.Error(diff)
	}
	edit(c, e, func(e *v1alpha1.Expectation) { e.Spec.Run = "2" })
	c.kstatusBecomes(e, status.InProgressStatus)
	c.expectationConditions(e, work, open...)
}

// A controller that is killed while an Expectation is open goes on with it, and neither its time nor its results are lost.
func TestExpectationOfAControllerThatEnds(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	e := c.newExpectation(nothing)
	c.create(e)
	c.expectationConditions(e, nil, open...)
	c.stop()
	before := e.Status.StartedAt
	c.workers()()
	c.start()
	c.expectationConditions(e, nil, met...)
	if diff := cmp.Diff(before, e.Status.StartedAt); diff != "" {
		t.Error(diff)
	}
	if got := c.database.count("BeginExpectation"); got != 1 {
		t.Errorf("it was begun %d times", got)
	}
}

func TestExpectationOfASandboxThatIsReset(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	decided, e := c.newExpectation(nothing), c.newExpectation(func(e *v1alpha1.Expectation) { e.Name = "open" })
	c.create(decided)
	work := c.workers()
	c.expectationConditions(decided, work, met...)
	c.create(e)
	c.expectationConditions(e, work, open...)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset = "again" })
	c.expectationConditions(e, work, failedBy("SandboxReset")...)
	c.expectationConditions(decided, nil, met...)
}

// The purge may remove the rows of a former tenant before the controller has read them.
func TestExpectationWhoseRowIsLost(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	e := c.newExpectation()
	c.create(e)
	c.expectationConditions(e, nil, open...)
	c.stop()
	c.row("delete from expectations returning 1", nil, new(int))
	c.start()
	c.expectationConditions(e, nil, failedBy("SandboxReset")...)
}

func TestExpectationOfASandboxThatIsDeleted(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	e := c.newExpectation()
	c.create(e)
	c.expectationConditions(e, nil, open...)
	c.delete(sandbox)
	c.expectationConditions(e, nil, failedBy("SandboxDeleted")...)
}

func TestExpectationWithoutASandboxFailsInTime(t *testing.T) {
	c := newCluster(t)
	c.start()
	e := c.newExpectation(func(e *v1alpha1.Expectation) { e.Spec.Within = "5s" })
	c.create(e)
	c.expectationConditions(e, nil, failedBy("DeadlineExceeded")...)
}

func TestExpectationDuringAnOutage(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	e := c.newExpectation(nothing)
	c.create(e)
	c.expectationConditions(e, nil, open...)
	c.database.setUnavailable(true)
	c.expectationConditions(e, nil, "Met False DatabaseUnavailable", "Failed False DatabaseUnavailable", "Reconciling True DatabaseUnavailable")
	c.database.setUnavailable(false)
	c.expectationConditions(e, c.workers(), met...)
}

func TestExpectationDeletesItself(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	e := c.newExpectation(nothing, func(e *v1alpha1.Expectation) { e.Spec.TTL = "1m" })
	c.create(e)
	c.expectationConditions(e, c.workers(), met...)
	c.stop()
	before := e.DeepCopy()
	e.Status.DecidedAt = new(metav1.NewTime(time.Now().Add(-time.Hour)))
	if err := c.Status().Patch(t.Context(), e, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.gone(e)
}

func TestExpectationBeyondTheLimitOfItsSandbox(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.create(c.newSandbox())
	first := c.newExpectation(func(e *v1alpha1.Expectation) { e.Name = "first" })
	c.create(first)
	c.expectationConditions(first, nil, open...)
	c.row(`with more as (insert into expectations (tenant, uid, name, run, lines, settle_ms, deadline, since_creation)
		select e.tenant, gen_random_uuid(), e.name, e.run, e.lines, e.settle_ms, e.deadline, false from expectations e, generate_series(2, 1000)
		returning 1) select count(*) from more`, nil, new(int))
	e := c.newExpectation(nothing)
	c.create(e)
	c.expectationConditions(e, nil, "Met False LimitExceeded", "Failed False LimitExceeded", "Reconciling True LimitExceeded")
	c.row("update expectations set due_at = null, verdict = 'Met' where uid = $1 returning 1", []any{string(first.UID)}, new(int))
	c.expectationConditions(e, nil, open...)
}

// unreadable is a line that the schema accepts: its order has a NUL.
func unreadable(e *v1alpha1.Expectation) {
	e.Spec.Expect[1].Transactions.Where = &v1alpha1.ExpectedWhere{OrderRef: "order\x001042"}
}

// What the schema does not see is told by a condition.
func TestExpectationThatCannotBeRead(t *testing.T) {
	c := newCluster(t)
	c.start()
	e := c.newExpectation(unreadable)
	c.create(e)
	c.expectationConditions(e, nil, failedBy("InvalidSpec")...)
	const want = `The spec cannot be evaluated: expect[1].transactions.where.orderRef must have at most 120 characters, and no NUL. ` +
		`Delete the Expectation and create it again.`
	if diff := cmp.Diff(want, message(e.Status.Conditions, v1alpha1.ConditionFailed)); diff != "" {
		t.Error(diff)
	}
}

// Each message says what to write instead.
func TestSchemaOfExpectations(t *testing.T) {
	c := newCluster(t)
	lines := func(lines ...v1alpha1.ExpectedLine) func(*v1alpha1.Expectation) {
		return func(e *v1alpha1.Expectation) { e.Spec.Expect = lines }
	}
	for want, change := range map[string]func(*v1alpha1.Expectation){
		"write exactly one of transactions, events, float": lines(v1alpha1.ExpectedLine{}),
		"write nothingElse: true":                          lines(v1alpha1.ExpectedLine{NothingElse: new(false)}),
		"write a time from 5s":                             func(e *v1alpha1.Expectation) { e.Spec.Within = "1s" },
		"write a time from 0s":                             func(e *v1alpha1.Expectation) { e.Spec.Settle = "2h" },
		"write a ttl from 1m":                              func(e *v1alpha1.Expectation) { e.Spec.TTL = "1s" },
		"spec.expect: Required":                            lines(),
		`supported values: "Reset"`:                        func(e *v1alpha1.Expectation) { e.Spec.Since = "Yesterday" },
	} {
		if err := c.Create(t.Context(), c.newExpectation(change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error has no %q: %v", want, err)
		}
	}
	e := c.newExpectation()
	c.create(e)
	for _, change := range []func(*v1alpha1.Expectation){
		nothing,
		func(e *v1alpha1.Expectation) { e.Spec.SandboxRef.Name = "other" },
		func(e *v1alpha1.Expectation) { e.Spec.Within = "1h" },
		func(e *v1alpha1.Expectation) { e.Spec.Settle = "1h" },
		func(e *v1alpha1.Expectation) { e.Spec.Since = "Creation" },
		func(e *v1alpha1.Expectation) { e.Spec.TTL = "1h" },
	} {
		changed := e.DeepCopy()
		change(changed)
		if err := c.Update(t.Context(), changed); err == nil || !strings.Contains(err.Error(), "only run can be changed") {
			t.Errorf("the error of a change is %v", err)
		}
	}
}
