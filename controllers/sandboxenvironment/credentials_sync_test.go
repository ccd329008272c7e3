package sandboxenvironment

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// restlessDatabase is one whose credentials somebody else changes before each write.
type restlessDatabase struct {
	reconciler.Database
	writes int
}

func (*restlessDatabase) StoredCredentials(context.Context, string) (sandboxes.StoredCredentials, error) {
	return sandboxes.StoredCredentials{}, nil
}

func (d *restlessDatabase) ApplyCredentials(context.Context, string, sandboxes.Credentials) error {
	d.writes++
	return sandboxes.ErrCredentialsChanged
}

// Credentials that never come to rest are retried with backoff, not at the pace of a single conflict.
func TestCredentialsThatKeepChangingAreRetriedWithBackoff(t *testing.T) {
	database := &restlessDatabase{}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	cluster := fake.NewClientBuilder().WithScheme(scheme).Build()
	r := &Reconciler{
		Client: cluster, APIReader: cluster, Database: database, BaseURL: &url.URL{Scheme: "http", Host: "cauri"}, Random: rand.Reader,
		Recorder: events.NewFakeRecorder(10),
	}
	sandbox := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "checkout", UID: "the sandbox"}}

	_, err := r.syncCredentials(t.Context(), sandbox, credentialInputs{organizationID: "org_1"})
	if database.writes != syncRounds || err == nil || !strings.Contains(err.Error(), "keeps changing") {
		t.Fatalf("after %d writes: %v", database.writes, err)
	}
	if result, err := (reconciler.Pace{Resync: time.Hour, Retry: time.Second}).Next(err); err == nil || !result.IsZero() {
		t.Errorf("it is retried by %+v (%v), want with backoff", result, err)
	}
}
