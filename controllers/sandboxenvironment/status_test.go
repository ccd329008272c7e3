package sandboxenvironment

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

var now = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// A quota begins again with the month of the sandbox's time, and the status says so then.
func TestRenewalOfAQuota(t *testing.T) {
	renews := now.Add(time.Hour)
	for name, test := range map[string]struct {
		state *sandboxes.SandboxState
		want  *time.Time
	}{
		"not known": {},
		"no quota":  {state: &sandboxes.SandboxState{}},
		"not used":  {state: &sandboxes.SandboxState{Quota: &sandboxes.QuotaState{Limit: 2, RenewsAt: renews}}},
		"used":      {&sandboxes.SandboxState{Quota: &sandboxes.QuotaState{Limit: 2, Used: 1, RenewsAt: renews}}, &renews},
		"a manual one": {state: &sandboxes.SandboxState{
			Quota: &sandboxes.QuotaState{Limit: 2, Used: 2, RenewsAt: renews}, Clock: sandboxes.ClockState{Mode: sandboxes.ManualClock},
		}},
		"one that is ahead": {&sandboxes.SandboxState{
			Quota: &sandboxes.QuotaState{Limit: 2, Used: 2, RenewsAt: renews}, Clock: sandboxes.ClockState{Ahead: time.Hour},
		}, &now},
	} {
		if diff := cmp.Diff(test.want, renewal(test.state)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What people have to know is said at once, and the first of it is the reason.
func TestReadyThatSaysMore(t *testing.T) {
	p := reconciler.Progress{
		Steps: Steps, Done: len(Steps), Suspended: true, Start: "2027-01-01T00:00:00Z", Unused: " Not used: x.",
		Quota: &sandboxes.QuotaState{Limit: 2, Used: 2, RenewsAt: now},
	}
	ready := meta.FindStatusCondition(p.Conditions(nil, 1, now), v1alpha1.ConditionReady)
	if ready.Status != metav1.ConditionTrue || ready.Reason != v1alpha1.ReasonSuspended {
		t.Errorf("Ready is %+v", ready)
	}
	for _, want := range []string{"The sandbox is suspended", "2 of 2 transactions", "spec.clock.start waits", "Not used: x."} {
		if !strings.Contains(ready.Message, want) {
			t.Errorf("there is no %q in %q", want, ready.Message)
		}
	}
}

func TestSandboxStatus(t *testing.T) {
	full := v1alpha1.SandboxEnvironmentStatus{
		ObservedGeneration: 1,
		OrganizationID:     "org_1",
		URL:                "http://here",
		Binding:            &v1alpha1.SecretReference{Name: "a-credentials"},
		Environments: []v1alpha1.EnvironmentStatus{
			{Operator: "mtn", Country: "CI", Currency: "XOF", ID: "env_1", Enabled: true},
			{Operator: "mtn", Country: "RW", Currency: "RWF", ID: "env_2"},
		},
		EnvironmentsSummary: "1/2",
		Balances:            []v1alpha1.Balance{{Currency: "RWF", Amount: 7}, {Currency: "XOF", Amount: 0}},
		TestClients:         new(int64(3)),
		Transactions:        &v1alpha1.TransactionCounts{Total: 42, Pending: 1},
		WebhookSummary:      "-",
		Clock:               &v1alpha1.ClockStatus{Mode: "Real"},
		ObservedReset:       "run-1",
	}
	later := *full.DeepCopy()
	later.ObservedGeneration = 2
	state := &sandboxes.SandboxState{
		OrganizationID: "org_1",
		Environments: []sandboxes.EnvironmentState{
			{ID: "env_2", Operator: payments.MTN, Country: payments.Rwanda, Currency: payments.RWF},
			{ID: "env_1", Operator: payments.MTN, Country: payments.CoteDIvoire, Currency: payments.XOF, Enabled: true},
		},
		Balances:     map[payments.Currency]int64{payments.XOF: 0, payments.RWF: 7},
		TestClients:  3,
		Transactions: sandboxes.TransactionCounts{Total: 42, Pending: 1},
		Clock:        sandboxes.ClockState{Mode: sandboxes.RealClock},
		Reset:        "run-1",
	}
	for name, test := range map[string]struct {
		before v1alpha1.SandboxEnvironmentStatus
		seen   Observation
		want   v1alpha1.SandboxEnvironmentStatus
	}{
		"everything is sorted and zeros are shown": {
			seen: Observation{State: state, secretName: "a-credentials"},
			want: later,
		},
		"what was not come to stays": {
			before: full,
			seen:   Observation{Progress: reconciler.Progress{Steps: Steps, Err: &reconciler.WaitingError{Reason: "DatabaseUnavailable"}}},
			want:   later,
		},
		"nothing is known yet": {
			seen: Observation{Progress: reconciler.Progress{Steps: Steps, Err: &reconciler.WaitingError{Reason: "DatabaseUnavailable"}}},
			want: v1alpha1.SandboxEnvironmentStatus{ObservedGeneration: 2, URL: "http://here", WebhookSummary: "-"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sandbox := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: test.before}
			got := Status(sandbox, test.seen, "http://here", now)
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(v1alpha1.SandboxEnvironmentStatus{}, "Conditions")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.before, sandbox.Status); diff != "" {
				t.Errorf("the old status was changed: %s", diff)
			}
		})
	}
}

// The condition names each balance that does not follow, and is no part of Ready.
func TestLedgerCondition(t *testing.T) {
	float := sandboxes.Imbalance{Currency: "RWF", Amount: 100, After: 12}
	sim := sandboxes.Imbalance{TestClient: "alice", Amount: -5, After: 3, Before: 5}
	lost := sandboxes.Imbalance{Currency: "XOF", After: 3, Before: 5}
	cases := map[string]struct {
		state   sandboxes.LedgerState
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		"reset":    {sandboxes.LedgerState{}, metav1.ConditionUnknown, "NotVerified", "No worker has verified the ledger since the reset."},
		"balanced": {sandboxes.LedgerState{Verified: true}, metav1.ConditionTrue, "Balanced", "Every balance follows from its movements."},
		"imbalance": {
			sandboxes.LedgerState{Verified: true, Broken: 5, Imbalances: []sandboxes.Imbalance{float, sim, lost}}, metav1.ConditionFalse, "Imbalance",
			"The float RWF is 100 above the sum of its movements, after the movement 12, the last one. " +
				"The test client alice is 5 below the sum of its movements, between the movements 3 and 5. " +
				"The numbers of the movements of float XOF do not follow, between the movements 3 and 5. 2 more do not follow either.",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			sandbox := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			look := func(state sandboxes.LedgerState) v1alpha1.SandboxEnvironmentStatus {
				return Status(sandbox, Observation{State: &sandboxes.SandboxState{Ledger: state}}, "http://here", now)
			}
			if before := look(sandboxes.LedgerState{}); meta.FindStatusCondition(before.Conditions, v1alpha1.ConditionLedgerBalanced) != nil {
				t.Error("a ledger that was never verified has the condition")
			}
			sandbox.Status = look(sandboxes.LedgerState{Verified: true})
			status := look(c.state)
			got := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionLedgerBalanced)
			if got == nil || got.Status != c.status || got.Reason != c.reason || got.Message != c.message || got.ObservedGeneration != 2 {
				t.Errorf("the condition is %+v", got)
			}
			if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionReady) {
				t.Error("the sandbox is not ready")
			}
		})
	}
}

// What the workers cannot do in a sandbox stands in a condition of its own, which is gone when they can.
func TestProcessingCondition(t *testing.T) {
	sandbox := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	failing := &sandboxes.SandboxState{Failures: []sandboxes.SweepFailure{{
		Sweep: "settlement", Failures: 3, Since: now, RetryAt: now.Add(4 * time.Second), Error: "bigint out of range",
	}}}
	sandbox.Status = Status(sandbox, Observation{State: failing}, "http://here", now)
	condition := meta.FindStatusCondition(sandbox.Status.Conditions, v1alpha1.ConditionProcessingFailing)
	if condition == nil || condition.Status != metav1.ConditionTrue || condition.Reason != v1alpha1.ReasonSweepFailing ||
		condition.ObservedGeneration != 2 {
		t.Fatalf("the condition is %+v", condition)
	}
	for _, part := range []string{"settle due payments", "bigint out of range", now.Add(4 * time.Second).UTC().Format(time.RFC3339)} {
		if !strings.Contains(condition.Message, part) {
			t.Errorf("the message does not say %q: %s", part, condition.Message)
		}
	}
	if ready := meta.FindStatusCondition(sandbox.Status.Conditions, v1alpha1.ConditionReady); ready == nil ||
		ready.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %+v", ready)
	}
	for _, sweep := range []string{"settlement", "delivery", "passthrough", "callbacks", "clock", "verification"} {
		if worksOn[sweep] == "" {
			t.Errorf("no text says what the sweep %s does", sweep)
		}
	}
	sandbox.Status = Status(sandbox, Observation{State: &sandboxes.SandboxState{}}, "http://here", now)
	if meta.FindStatusCondition(sandbox.Status.Conditions, v1alpha1.ConditionProcessingFailing) != nil {
		t.Error("it stays when the workers can go on")
	}
}
