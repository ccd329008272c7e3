package testclient

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestTestClientStatus(t *testing.T) {
	config := sandboxes.TestClientConfig{UID: "1", Operator: payments.Moov, Country: payments.Benin}
	market := v1alpha1.TestClientStatus{ObservedGeneration: 2, Operator: "moov", Country: "BJ", Currency: "XOF"}
	with := func(balance int64) v1alpha1.TestClientStatus {
		status := market
		status.Balance = &balance
		return status
	}
	for name, test := range map[string]struct {
		before v1alpha1.TestClientStatus
		seen   Observation
		want   v1alpha1.TestClientStatus
	}{
		"registered, and zero is shown": {
			seen: Observation{config: config, state: &sandboxes.TestClientState{Balance: 0}},
			want: with(0),
		},
		"the database is unavailable, the balance stays": {
			before: with(7),
			seen:   Observation{config: config, Err: reconciler.DatabaseFailure(postgres.ErrUnavailable)},
			want:   with(7),
		},
		"in no sandbox, the balance goes": {
			before: with(7),
			seen:   Observation{config: config, unregistered: true, Err: &reconciler.WaitingError{Reason: "SandboxNotFound"}},
			want:   market,
		},
		"no market known": {
			seen: Observation{Err: &reconciler.StallingError{Reason: "OperatorUnknown"}},
			want: v1alpha1.TestClientStatus{ObservedGeneration: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			testClient := &v1alpha1.TestClient{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: test.before}
			got := Status(testClient, test.seen, time.Now())
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(v1alpha1.TestClientStatus{}, "Conditions")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
