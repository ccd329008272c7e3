package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// The database answers in one time zone and the API server in another.
func TestStatusThatDiffersByTimeZoneIsNotWritten(t *testing.T) {
	at := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	in := func(zone *time.Location) *v1alpha1.SandboxEnvironment {
		moment := at.In(zone)
		return &v1alpha1.SandboxEnvironment{Status: v1alpha1.SandboxEnvironmentStatus{
			ExpiresAt: seconds(&moment), Webhook: &v1alpha1.WebhookStatus{LastFailure: &v1alpha1.WebhookFailure{Time: metav1.NewTime(moment)}},
		}}
	}
	// There is no client to write with.
	if err := patchStatus(t.Context(), nil, in(time.UTC), in(time.FixedZone("Abidjan and two hours", 2*60*60))); err != nil {
		t.Fatal(err)
	}
}
