package sandboxenvironment

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// setLedgerCondition sets the condition that reports whether every balance follows from its movements. It sets none
// before the first verification, which saves a write. Payments do not change the message.
func setLedgerCondition(conditions *[]metav1.Condition, ledger sandboxes.LedgerState, generation int64, now time.Time) {
	condition := metav1.Condition{
		Type: v1alpha1.ConditionLedgerBalanced, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonBalanced,
		Message:            "Every balance follows from its movements.",
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	}
	switch {
	case !ledger.Verified && meta.FindStatusCondition(*conditions, condition.Type) == nil:
		return
	case !ledger.Verified:
		condition.Status, condition.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNotVerified
		condition.Message = "No worker has verified the ledger since the reset."
	case ledger.Broken > 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha1.ReasonImbalance
		condition.Message = imbalances(ledger)
	}
	meta.SetStatusCondition(conditions, condition)
}

// imbalances lists the balances that do not match their movements.
func imbalances(ledger sandboxes.LedgerState) string {
	var texts []string
	for _, found := range ledger.Imbalances {
		where := fmt.Sprintf("between the movements %d and %d", found.After, found.Before)
		if found.Before == 0 {
			where = fmt.Sprintf("after the movement %d, the last one", found.After)
		}
		text := fmt.Sprintf("The numbers of the movements of %s do not follow, %s.", account(found), where)
		if found.Amount != 0 {
			side := "above"
			if found.Amount < 0 {
				side = "below"
			}
			text = fmt.Sprintf("The %s is %d %s the sum of its movements, %s.", account(found), max(found.Amount, -found.Amount), side, where)
		}
		texts = append(texts, text)
	}
	if rest := ledger.Broken - len(ledger.Imbalances); rest > 0 {
		texts = append(texts, fmt.Sprintf("%d more do not follow either.", rest))
	}
	return strings.Join(texts, " ")
}

// account returns the name of a float, or of the TestClient of a SIM, for messages.
func account(found sandboxes.Imbalance) string {
	if found.Currency != "" {
		return "float " + found.Currency
	}
	return "test client " + found.TestClient
}
