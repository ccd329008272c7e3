package sandboxenvironment

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Status computes the status from the result of a reconciliation. The fields of steps that were not reached keep
// their values.
func Status(
	sandbox *v1alpha1.SandboxEnvironment, seen Observation, url string, now time.Time,
) v1alpha1.SandboxEnvironmentStatus {
	status := *sandbox.Status.DeepCopy()
	status.ObservedGeneration = sandbox.Generation
	status.URL = url
	status.ExpiresAt = reconciler.Seconds(expiry(sandbox))
	status.Conditions = seen.Progress.Conditions(status.Conditions, sandbox.Generation, now)
	dropOldConflict(&status.Conditions, now)
	if seen.secretName != "" {
		status.Binding = &v1alpha1.SecretReference{Name: seen.secretName}
		status.ObservedKeyRotation = seen.keyRotation
	}
	if state := seen.State; state != nil {
		status.OrganizationID = state.OrganizationID
		status.Environments = environmentStatuses(state.Environments)
		status.EnvironmentsSummary = environmentsSummary(state.Environments)
		status.Balances = balances(state.Balances)
		testClients := int64(state.TestClients)
		status.TestClients = &testClients
		status.Transactions = &v1alpha1.TransactionCounts{Total: state.Transactions.Total, Pending: state.Transactions.Pending}
		status.Quota = quotaStatus(state.Quota)
		status.ObservedReset = state.Reset
		status.Clock = clockStatus(state.Clock)
		status.Faults = faultStatuses(state.Faults)
		status.Webhook = webhookStatus(sandbox.Spec.Webhook, state.Endpoint)
		setWebhookCondition(&status.Conditions, sandbox.Spec.Webhook, state.Endpoint, sandbox.Generation, now)
		setProcessingCondition(&status.Conditions, state.Failures, sandbox.Generation, now)
		setLedgerCondition(&status.Conditions, state.Ledger, sandbox.Generation, now)
		setOperatorCondition(&status.Conditions, len(seen.Config.Operators) > 0, seen.OperatorProblem, sandbox.Generation, now)
	}
	status.WebhookSummary = webhookSummary(sandbox.Spec.Webhook != nil, status.Conditions)
	return status
}

func quotaStatus(quota *sandboxes.QuotaState) *v1alpha1.QuotaStatus {
	if quota == nil {
		return nil
	}
	return &v1alpha1.QuotaStatus{Used: quota.Used, RenewsAt: metav1.NewTime(quota.RenewsAt)}
}

// setOperatorCondition sets the condition that reports whether the operators' credentials of the spec are usable.
func setOperatorCondition(conditions *[]metav1.Condition, named bool, problem *OperatorProblem, generation int64, now time.Time) {
	condition := metav1.Condition{
		Type: v1alpha1.ConditionOperatorCredentialsReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady,
		Message:            "The Secrets that spec.stores names for operators exist and hold valid credentials.",
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	}
	if !named {
		meta.RemoveStatusCondition(conditions, condition.Type)
		return
	}
	if problem != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, problem.Reason, problem.Message
	}
	meta.SetStatusCondition(conditions, condition)
}

// environmentStatuses returns the statuses of environments in a fixed order.
func environmentStatuses(environments []sandboxes.EnvironmentState) []v1alpha1.EnvironmentStatus {
	statuses := make([]v1alpha1.EnvironmentStatus, 0, len(environments))
	for _, e := range environments {
		statuses = append(statuses, v1alpha1.EnvironmentStatus{
			Operator: v1alpha1.Operator(e.Operator),
			Country:  v1alpha1.Country(e.Country),
			Currency: v1alpha1.Currency(e.Currency),
			ID:       e.ID,
			Enabled:  e.Enabled,
		})
	}
	slices.SortFunc(statuses, func(a, b v1alpha1.EnvironmentStatus) int {
		return cmp.Or(cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Country, b.Country))
	})
	return statuses
}

func environmentsSummary(environments []sandboxes.EnvironmentState) string {
	enabled := 0
	for _, e := range environments {
		if e.Enabled {
			enabled++
		}
	}
	return fmt.Sprintf("%d/%d", enabled, len(environments))
}

func balances(live map[payments.Currency]int64) []v1alpha1.Balance {
	sorted := make([]v1alpha1.Balance, 0, len(live))
	for currency, amount := range live {
		sorted = append(sorted, v1alpha1.Balance{Currency: v1alpha1.Currency(currency), Amount: amount})
	}
	slices.SortFunc(sorted, func(a, b v1alpha1.Balance) int { return cmp.Compare(a.Currency, b.Currency) })
	return sorted
}
