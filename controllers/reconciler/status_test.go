package reconciler

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
)

// The database answers in one time zone and the API server in another.
func TestStatusThatDiffersByTimeZoneIsNotWritten(t *testing.T) {
	at := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	in := func(zone *time.Location) *v1alpha1.SandboxEnvironment {
		moment := at.In(zone)
		return &v1alpha1.SandboxEnvironment{Status: v1alpha1.SandboxEnvironmentStatus{
			ExpiresAt: Seconds(&moment), Webhook: &v1alpha1.WebhookStatus{LastFailure: &v1alpha1.WebhookFailure{Time: metav1.NewTime(moment)}},
		}}
	}
	if d := statusDifference(in(time.UTC), in(time.FixedZone("Abidjan and two hours", 2*60*60))); d != resync.None {
		t.Errorf("one moment in two time zones differs by %v", d)
	}
}

func TestStatusDifference(t *testing.T) {
	sandbox := func(change func(*v1alpha1.SandboxEnvironmentStatus)) *v1alpha1.SandboxEnvironment {
		status := v1alpha1.SandboxEnvironmentStatus{
			ObservedGeneration: 1,
			Balances:           []v1alpha1.Balance{{Currency: "RWF", Amount: 1000}},
			Transactions:       &v1alpha1.TransactionCounts{Total: 1},
			TestClients:        new(int64(1)),
			Webhook:            &v1alpha1.WebhookStatus{Delivered: 1},
			Faults:             []v1alpha1.FaultStatus{{Name: "late"}},
			Conditions: []metav1.Condition{
				{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Message: "Everything in the spec is applied."},
				{Type: v1alpha1.ConditionWebhookReady, Status: metav1.ConditionFalse, Message: "answered 500"},
				{Type: v1alpha1.ConditionLedgerBalanced, Status: metav1.ConditionTrue},
			},
			WebhookSummary: "False",
		}
		change(&status)
		return &v1alpha1.SandboxEnvironment{Status: status}
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.SandboxEnvironmentStatus)
		want   resync.Difference
	}{
		"nothing":                        {func(*v1alpha1.SandboxEnvironmentStatus) {}, resync.None},
		"a balance":                      {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Balances[0].Amount = 900 }, resync.Live},
		"counts":                         {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Transactions.Pending = 2 }, resync.Live},
		"deliveries":                     {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Webhook.Failed = 2 }, resync.Live},
		"a fault that applied":           {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Faults[0].Times = 2 }, resync.Live},
		"another failure of the webhook": {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Conditions[1].Message = "answered 503" }, resync.Live},
		"the webhook works again": {func(s *v1alpha1.SandboxEnvironmentStatus) {
			s.Conditions[1].Status, s.WebhookSummary = metav1.ConditionTrue, "True"
		}, resync.Delivery},
		"Ready":             {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Conditions[0].Status = metav1.ConditionFalse }, resync.Other},
		"a message":         {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Conditions[0].Message = "The deletion waits." }, resync.Other},
		"an imbalance":      {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Conditions[2].Status = metav1.ConditionFalse }, resync.Other},
		"another currency":  {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Balances[0].Currency = "XAF" }, resync.Other},
		"a test client":     {func(s *v1alpha1.SandboxEnvironmentStatus) { s.TestClients = new(int64(2)) }, resync.Other},
		"another spec":      {func(s *v1alpha1.SandboxEnvironmentStatus) { s.ObservedGeneration = 2 }, resync.Other},
		"a reset":           {func(s *v1alpha1.SandboxEnvironmentStatus) { s.ObservedReset = "run-42" }, resync.Other},
		"the first balance": {func(s *v1alpha1.SandboxEnvironmentStatus) { s.Balances = append(s.Balances, v1alpha1.Balance{}) }, resync.Other},
	} {
		if got := statusDifference(sandbox(func(*v1alpha1.SandboxEnvironmentStatus) {}), sandbox(c.change)); got != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
	client := func(balance *int64) *v1alpha1.TestClient {
		return &v1alpha1.TestClient{Status: v1alpha1.TestClientStatus{Balance: balance}}
	}
	if got := statusDifference(client(new(int64(1))), client(new(int64(2)))); got != resync.Live {
		t.Errorf("the balance of a SIM: %v", got)
	}
	if got := statusDifference(client(nil), client(new(int64(0)))); got != resync.Other {
		t.Errorf("the first balance of a SIM: %v", got)
	}
}
