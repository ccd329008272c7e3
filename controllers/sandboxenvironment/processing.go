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

// worksOn has the end of the message "The worker has failed to ..." for each sweep of the workers.
var worksOn = map[string]string{
	"settlement": "settle due payments", "delivery": "deliver events", "passthrough": "forward payments of unknown numbers",
	"callbacks": "send callbacks of an operator's own API", "clock": "advance the clock",
	"verification": "verify the ledger",
}

// setProcessingCondition sets or removes the condition ProcessingFailing. It reports the workers' sweeps that fail only
// in this sandbox.
func setProcessingCondition(conditions *[]metav1.Condition, failures []sandboxes.SweepFailure, generation int64, now time.Time) {
	if len(failures) == 0 {
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionProcessingFailing)
		return
	}
	var texts []string
	for _, f := range failures {
		texts = append(texts, fmt.Sprintf("The worker has failed to %s since %s and retries at %s: %s.",
			worksOn[f.Sweep], f.Since.UTC().Format(time.RFC3339), f.RetryAt.UTC().Format(time.RFC3339), f.Error))
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: v1alpha1.ConditionProcessingFailing, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSweepFailing,
		Message:            strings.Join(texts, " ") + " Nothing is lost, and no other sandbox is affected.",
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}
