package sandboxenvironment

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// webhookStatus returns the counts of deliveries; nil for a sandbox without a webhook.
func webhookStatus(webhook *v1alpha1.Webhook, health webhooks.EndpointHealth) *v1alpha1.WebhookStatus {
	if webhook == nil {
		return nil
	}
	status := &v1alpha1.WebhookStatus{
		State: string(health.State), Unacknowledged: int64(health.Unacknowledged), Delivered: health.Delivered, Failed: health.Failed,
	}
	if at := reconciler.Seconds(health.LastFailedAt); at != nil {
		status.LastFailure = &v1alpha1.WebhookFailure{Time: *at, Message: health.LastFailure}
	}
	return status
}

// webhookSummary returns the text of the webhook's column of kubectl get. The column cannot read the condition, because
// it may be absent.
func webhookSummary(named bool, conditions []metav1.Condition) string {
	if !named {
		return "-"
	}
	if ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionWebhookReady); ready != nil {
		return string(ready.Status)
	}
	return string(metav1.ConditionUnknown) // the sandbox is not in the database yet
}

// setWebhookCondition sets the condition that reports whether the webhook endpoint acknowledges events.
func setWebhookCondition(
	conditions *[]metav1.Condition, webhook *v1alpha1.Webhook, health webhooks.EndpointHealth, generation int64, now time.Time,
) {
	if webhook == nil {
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionWebhookReady)
		return
	}
	condition := metav1.Condition{
		Type: v1alpha1.ConditionWebhookReady, ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	}
	condition.Status, condition.Reason, condition.Message = webhookJudgment(webhook.URL, &health)
	meta.SetStatusCondition(conditions, condition)
}

// webhookJudgment returns status, reason and message of the condition.
func webhookJudgment(url string, health *webhooks.EndpointHealth) (status metav1.ConditionStatus, reason, message string) {
	cause := advice.OfReceiver(health, url)
	switch {
	case health.Refusal != "":
		return metav1.ConditionFalse, v1alpha1.ReasonAddressForbidden,
			fmt.Sprintf("No event is ever sent to spec.webhook.url: %s. %s", health.Refusal, whatToDo(&cause))
	case health.State == webhooks.EndpointPaused:
		fails := "The endpoint has failed for a long time" + inParentheses(health.Cause())
		if cause.Over() {
			fails = cause.What.String()
		}
		return metav1.ConditionFalse, v1alpha1.ReasonEndpointFailing, fails +
			". It gets one event a minute until it acknowledges one; the others wait. " + whatToDo(&cause)
	case health.State == webhooks.EndpointFailing:
		return metav1.ConditionFalse, v1alpha1.ReasonDeliveryFailing, unacknowledged(health, &cause) + " " + whatToDo(&cause)
	case health.Acknowledged:
		return metav1.ConditionTrue, v1alpha1.ReasonReady, "The endpoint acknowledges events."
	case health.Delivered == 0 && health.LastFailedAt == nil:
		return metav1.ConditionUnknown, v1alpha1.ReasonNothingDelivered, "No event was sent yet."
	}
	return metav1.ConditionUnknown, v1alpha1.ReasonNothingDelivered,
		"The endpoint has acknowledged nothing since spec.webhook.url was set, or since an attempt failed."
}

// unacknowledged says how many events are unacknowledged, why the newest one is, and what happens to it.
func unacknowledged(health *webhooks.EndpointHealth, cause *advice.Advice) string {
	many, newest := "An event of the last 24 hours is not acknowledged: ", health.Newest.EventID().String()
	switch n := health.Unacknowledged; {
	case cause.Over():
		many = cause.What.String() + ". The newest is "
	case n >= webhooks.MostUnacknowledged:
		many = fmt.Sprintf("%d or more events of the last 24 hours are not acknowledged. The newest is ", n)
	case n > 1:
		many = fmt.Sprintf("%d events of the last 24 hours are not acknowledged. The newest is ", n)
	}
	next := "No retry follows: `cauri resend " + newest + "` sends it again."
	if health.Newest.Waits {
		next = "It is sent again as spec.webhook.retryPolicy says."
	}
	return many + newest + inParentheses(cmp.Or(health.Newest.Failure, health.LastFailure)) + ". " + next
}

// whatToDo says what to do about an endpoint that fails.
func whatToDo(cause *advice.Advice) string {
	if cause.Code == advice.NotDelivered {
		return "Fix the endpoint, or change spec.webhook.url."
	}
	return cause.Do.String()
}

// inParentheses returns a cause for the middle of a message; "" for none.
func inParentheses(cause string) string {
	if cause == "" {
		return ""
	}
	return " (" + cause + ")"
}
