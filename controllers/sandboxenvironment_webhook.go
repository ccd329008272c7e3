package controllers

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// webhookStatus returns the counts of deliveries; nil for a sandbox without a webhook.
func webhookStatus(webhook *v1alpha1.Webhook, health sandboxes.EndpointHealth) *v1alpha1.WebhookStatus {
	if webhook == nil {
		return nil
	}
	status := &v1alpha1.WebhookStatus{Delivered: health.Delivered, Failed: health.Failed}
	if at := seconds(health.LastFailedAt); at != nil {
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
func setWebhookCondition(conditions *[]metav1.Condition, named bool, health sandboxes.EndpointHealth, generation int64, now time.Time) {
	if !named {
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionWebhookReady)
		return
	}
	condition := metav1.Condition{
		Type: v1alpha1.ConditionWebhookReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady,
		Message:            "The endpoint acknowledges events.",
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	}
	switch {
	case health.Paused:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha1.ReasonEndpointFailing
		condition.Message = fmt.Sprintf(
			"The endpoint has failed for a long time%s. It gets one event a minute until it acknowledges one; the others wait. "+
				"Fix the endpoint, or change spec.webhook.url.",
			cause(health),
		)
	case health.Failures > 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha1.ReasonDeliveryFailing
		condition.Message = fmt.Sprintf(
			"The endpoint did not acknowledge the last attempt%s. It is retried as spec.webhook.retryPolicy says.", cause(health),
		)
	case health.Delivered == 0 && health.LastFailedAt == nil:
		condition.Status, condition.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNothingDelivered
		condition.Message = "No event was sent yet."
	}
	meta.SetStatusCondition(conditions, condition)
}

// cause returns a colon and the last failure, for the end of a message; "" for none.
func cause(health sandboxes.EndpointHealth) string {
	if health.LastFailure == "" {
		return ""
	}
	return ": " + health.LastFailure
}
