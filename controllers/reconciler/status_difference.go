package reconciler

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
)

// trafficConditions are the conditions that every payment or delivery may change.
var trafficConditions = map[string]bool{
	v1alpha1.ConditionWebhookReady:      true,
	v1alpha1.ConditionProcessingFailing: true,
}

// statusDifference returns the kind of difference between two statuses. The same moment in two time zones is no
// difference.
func statusDifference(before, after client.Object) resync.Difference {
	was, is := statusOf(before), statusOf(after)
	if equality.Semantic.DeepEqual(was, is) {
		return resync.None
	}
	was, is = withoutLive(was), withoutLive(is)
	if equality.Semantic.DeepEqual(was, is) {
		return resync.Live
	}
	if equality.Semantic.DeepEqual(withoutTraffic(was), withoutTraffic(is)) {
		return resync.Delivery
	}
	return resync.Other
}

func statusOf(obj client.Object) any {
	switch o := obj.(type) {
	case *v1alpha1.SandboxEnvironment:
		return o.Status
	case *v1alpha1.TestClient:
		return o.Status
	case *v1alpha1.Expectation:
		return o.Status
	default:
		panic(unknownKind(obj))
	}
}

func changeOf(obj client.Object) resync.Change {
	switch o := obj.(type) {
	case *v1alpha1.SandboxEnvironment:
		return resync.OfSandbox(o)
	case *v1alpha1.TestClient:
		return resync.OfTestClient(o)
	case *v1alpha1.Expectation:
		return resync.OfExpectation(o)
	default:
		panic(unknownKind(obj))
	}
}

func unknownKind(obj any) string { return fmt.Sprintf("no status known for %T", obj) }

// withoutLive returns a status with zeros in all values that payments change. A nil value stays nil.
func withoutLive(status any) any {
	switch s := status.(type) {
	case v1alpha1.SandboxEnvironmentStatus:
		return sandboxWithoutLive(s)
	case v1alpha1.TestClientStatus:
		if s.Balance != nil {
			s.Balance = new(int64)
		}
		return s
	case v1alpha1.ExpectationStatus:
		return s // the workers report only what has to be shown
	default:
		panic(unknownKind(status))
	}
}

func sandboxWithoutLive(status v1alpha1.SandboxEnvironmentStatus) v1alpha1.SandboxEnvironmentStatus {
	status = *status.DeepCopy()
	for i := range status.Balances {
		status.Balances[i].Amount = 0
	}
	if status.Transactions != nil {
		status.Transactions = &v1alpha1.TransactionCounts{}
	}
	if status.Quota != nil {
		status.Quota = &v1alpha1.QuotaStatus{}
	}
	if status.Clock != nil {
		status.Clock = &v1alpha1.ClockStatus{Mode: status.Clock.Mode}
	}
	if status.Webhook != nil {
		status.Webhook = &v1alpha1.WebhookStatus{}
	}
	for i := range status.Faults {
		status.Faults[i] = v1alpha1.FaultStatus{Name: status.Faults[i].Name}
	}
	for i, c := range status.Conditions {
		if trafficConditions[c.Type] || c.Type == v1alpha1.ConditionLedgerBalanced {
			status.Conditions[i].Message = "" // the message has the last failure or the wrong balances
		}
	}
	return status
}

// withoutTraffic returns a status without the trafficConditions.
func withoutTraffic(status any) any {
	s, ok := status.(v1alpha1.SandboxEnvironmentStatus)
	if !ok {
		return status
	}
	var kept []metav1.Condition
	for _, c := range s.Conditions {
		if !trafficConditions[c.Type] {
			kept = append(kept, c)
		}
	}
	s.Conditions, s.WebhookSummary = kept, ""
	return s
}
