package testclient

import (
	"time"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// Status computes the status from the result of a reconciliation. If the balance was not read, the status
// keeps the former balance. If the SIM is not registered, the status has no balance.
func Status(testClient *v1alpha1.TestClient, seen Observation, now time.Time) v1alpha1.TestClientStatus {
	status := *testClient.Status.DeepCopy()
	status.ObservedGeneration = testClient.Generation
	status.Conditions = reconciler.Progress{Err: seen.Err, Unused: seen.unused}.Conditions(status.Conditions, testClient.Generation, now)
	if seen.config.UID != "" {
		currency, _ := seen.config.Country.Currency()
		status.Operator = v1alpha1.Operator(seen.config.Operator)
		status.Country = v1alpha1.Country(seen.config.Country)
		status.Currency = v1alpha1.Currency(currency)
	}
	switch {
	case seen.state != nil:
		balance := seen.state.Balance
		status.Balance = &balance
	case seen.unregistered:
		status.Balance = nil
	}
	return status
}
