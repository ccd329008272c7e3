package controllers

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/expectation"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/sandboxenvironment"
	"github.com/cauri-dev/cauri/controllers/testclient"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/test/argocd"
)

// argoHealth is the health that Argo CD shows for what kstatus says.
var argoHealth = map[status.Status]string{
	status.InProgressStatus: "Progressing", status.TerminatingStatus: "Progressing", status.FailedStatus: "Degraded", status.CurrentStatus: "Healthy",
}

// errorsOfSteps are how a step can end.
var errorsOfSteps = []error{
	&reconciler.StallingError{Reason: v1alpha1.ReasonInvalidSpec, Message: "Write something else."},
	&reconciler.WaitingError{Reason: v1alpha1.ReasonDatabaseUnavailable, Message: "The database is unavailable."},
	&reconciler.FailedError{Reason: v1alpha1.ReasonCredentialsError, Cause: fmt.Errorf("no rights")},
}

// Argo CD's health check is asked about every combination of conditions that the controller writes. It says what kstatus says, and beyond
// that whether the sandbox is suspended and whether workers fail in it.
func TestArgoCDHealthOfSandboxes(t *testing.T) {
	t.Parallel()
	customizations := readCustomizations(t)
	seen := map[string]int{}
	for _, sandbox := range sandboxesInEveryCondition() {
		conditions := sandbox.Status.Conditions
		ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
		want := argoHealth[kstatusInMemory(t, sandbox)]
		switch {
		case want != "Healthy":
		case meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionProcessingFailing):
			want = "Degraded"
		case ready.Reason == v1alpha1.ReasonSuspended:
			want = "Suspended"
		}
		health, err := customizations.Health(toUnstructured(t, sandbox))
		if err != nil {
			t.Fatal(err)
		}
		if health.Status != want || health.Message == "" {
			t.Errorf("%+v, want %s, for %v (deletion: %v, generation %d, observed %d)", health, want, conditions,
				sandbox.DeletionTimestamp, sandbox.Generation, sandbox.Status.ObservedGeneration)
		}
		seen[health.Status]++
	}
	for _, one := range []string{"Healthy", "Progressing", "Degraded", "Suspended"} {
		if seen[one] < 10 {
			t.Errorf("%s was said %d times only: %v", one, seen[one], seen)
		}
	}
}

// failingEndpoint is the health of a receiver that does not acknowledge an event.
func failingEndpoint() *webhooks.EndpointHealth {
	newest := &webhooks.UnacknowledgedEvent{Waits: true, Failure: "the receiver answered 500"}
	return &webhooks.EndpointHealth{State: webhooks.EndpointFailing, Unacknowledged: 1, Newest: newest}
}

// sandboxesInEveryCondition are sandboxes with the statuses that the controller computes, and some that no controller has seen.
func sandboxesInEveryCondition() (all []*v1alpha1.SandboxEnvironment) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, result := range resultsOfSteps() {
		for _, endpoint := range []*webhooks.EndpointHealth{
			nil, {State: webhooks.EndpointHealthy}, {State: webhooks.EndpointHealthy, Acknowledged: true}, failingEndpoint(),
			{State: webhooks.EndpointPaused},
		} {
			for _, failures := range [][]sandboxes.SweepFailure{nil, {{Sweep: "settlement", Error: "out of range"}}} {
				for _, problem := range []*sandboxenvironment.OperatorProblem{nil, {Reason: "OperatorSecretNotFound", Message: "Create the Secret."}} {
					sandbox := &v1alpha1.SandboxEnvironment{}
					sandbox.Generation = 2
					sandbox.Spec.Suspend = result.Suspended
					observed := sandboxenvironment.Observation{Progress: result, OperatorProblem: problem}
					if problem != nil {
						observed.Config.Operators = make([]sandboxes.OperatorAccess, 1)
					}
					if result.Done > 1 || result.Err == nil {
						observed.State = &sandboxes.SandboxState{Failures: failures}
					}
					if endpoint != nil {
						sandbox.Spec.Webhook = &v1alpha1.Webhook{}
						if observed.State != nil {
							observed.State.Endpoint = *endpoint
						}
					}
					sandbox.Status = sandboxenvironment.Status(sandbox, observed, "http://here", now)
					edited, deleted := sandbox.DeepCopy(), sandbox.DeepCopy()
					edited.Generation++
					deleted.DeletionTimestamp = new(metav1.NewTime(now))
					all = append(all, sandbox, edited, deleted)
				}
			}
		}
	}
	unseen := &v1alpha1.SandboxEnvironment{Status: v1alpha1.SandboxEnvironmentStatus{ObservedGeneration: -1}}
	unseen.Generation = 1
	return append(all, unseen)
}

// resultsOfSteps are all results of a reconciliation.
func resultsOfSteps() (results []reconciler.Progress) {
	for _, suspended := range []bool{false, true} {
		results = append(results, reconciler.Progress{Steps: sandboxenvironment.Steps, Done: len(sandboxenvironment.Steps), Suspended: suspended})
		for done := range sandboxenvironment.Steps {
			for _, err := range errorsOfSteps {
				results = append(results, reconciler.Progress{Steps: sandboxenvironment.Steps, Done: done, Err: err, Suspended: suspended})
			}
		}
	}
	return results
}

func TestArgoCDHealthOfTestClients(t *testing.T) {
	t.Parallel()
	customizations := readCustomizations(t)
	for _, err := range append(slices.Clone(errorsOfSteps), nil) {
		alice := &v1alpha1.TestClient{}
		alice.Generation = 2
		alice.Status = testclient.Status(alice, testclient.Observation{Err: err}, time.Now())
		edited, deleted, unseen := alice.DeepCopy(), alice.DeepCopy(), alice.DeepCopy()
		edited.Generation++
		deleted.DeletionTimestamp = new(metav1.Now())
		unseen.Status = v1alpha1.TestClientStatus{ObservedGeneration: -1}
		for _, obj := range []*v1alpha1.TestClient{alice, edited, deleted, unseen} {
			health, err := customizations.Health(toUnstructured(t, obj))
			if want := argoHealth[kstatusInMemory(t, obj)]; err != nil || health.Status != want || health.Message == "" {
				t.Errorf("%+v (%v), want %s, for %v", health, err, want, obj.Status.Conditions)
			}
		}
	}
}

// What is no part of Ready is in the message of a healthy sandbox.
func TestArgoCDSaysWhatTheSandboxLacks(t *testing.T) {
	t.Parallel()
	sandbox := &v1alpha1.SandboxEnvironment{Spec: v1alpha1.SandboxEnvironmentSpec{Webhook: &v1alpha1.Webhook{}}}
	sandbox.Generation = 1
	sandbox.Status = sandboxenvironment.Status(sandbox, sandboxenvironment.Observation{
		Progress:        reconciler.Progress{Steps: sandboxenvironment.Steps, Done: len(sandboxenvironment.Steps)},
		Config:          sandboxes.Config{Operators: make([]sandboxes.OperatorAccess, 1)},
		State:           &sandboxes.SandboxState{Endpoint: *failingEndpoint()},
		OperatorProblem: &sandboxenvironment.OperatorProblem{Reason: "OperatorSecretNotFound", Message: "Create the Secret."},
	}, "http://here", time.Now())
	health, err := readCustomizations(t).Health(toUnstructured(t, sandbox))
	want := "Everything in the spec is applied. OperatorCredentialsReady: Create the Secret. WebhookReady: An event of the last 24 hours is " +
		"not acknowledged: evt_00000000000000000000000000 (the receiver answered 500). It is sent again as spec.webhook.retryPolicy says. " +
		"It takes the event and then fails. The cause is in its own log, at the time of the attempt."
	if err != nil || health != (argocd.Health{Status: "Healthy", Message: want}) {
		t.Errorf("%+v (%v), want %s", health, err, want)
	}

	const conflict = "The installation one serves this sandbox."
	meta.SetStatusCondition(&sandbox.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionInstallationConflict, Status: metav1.ConditionTrue,
		Reason: v1alpha1.ReasonOwnedByAnotherInstallation, Message: conflict,
	})
	health, err = readCustomizations(t).Health(toUnstructured(t, sandbox))
	if err != nil || health != (argocd.Health{Status: "Healthy", Message: want + " InstallationConflict: " + conflict}) {
		t.Errorf("another installation: %+v (%v)", health, err)
	}
	sandbox.Generation++
	health, err = readCustomizations(t).Health(toUnstructured(t, sandbox))
	want = "The controller has not looked at the present spec yet. " + conflict
	if err != nil || health != (argocd.Health{Status: "Progressing", Message: want}) {
		t.Errorf("another installation, which is gone: %+v (%v)", health, err)
	}
}

func readCustomizations(t *testing.T) argocd.Customizations {
	t.Helper()
	customizations, err := argocd.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	return customizations
}

func kstatusInMemory(t *testing.T, obj client.Object) status.Status {
	t.Helper()
	result, err := status.Compute(toUnstructured(t, obj))
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}

func toUnstructured(t *testing.T, obj client.Object) *unstructured.Unstructured {
	t.Helper()
	gvks, _, err := Scheme.ObjectKinds(obj)
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	result := &unstructured.Unstructured{Object: content}
	result.SetGroupVersionKind(gvks[0])
	return result
}

// A status that no controller of this version writes is no error, which Argo CD would show as Unknown, and never healthy.
func TestArgoCDHealthOfWhatIsMalformed(t *testing.T) {
	t.Parallel()
	customizations := readCustomizations(t)
	for _, kind := range []string{"SandboxEnvironment", "TestClient"} {
		for _, c := range []struct{ object, want string }{
			{`{"metadata": {}}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": null}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": "Ready"}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1}}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": null}}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": "Ready"}}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": {"type": "Ready"}}}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": ["Ready", 1, true, {}, {"status": "True"}]}}`,
				"Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": [{"type": "Ready"}]}}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": true}]}}`,
				"Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "Unknown",
				"message": 5}]}}`, "Progressing"},
			{`{"metadata": {"generation": 1, "deletionTimestamp": "2026-11-01T12:00:00Z"}, "status": {"observedGeneration": 1, "conditions":
				[{"type": "Ready", "status": "False"}]}}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "False"},
				{"type": "Stalled", "status": "True"}]}}`, "Degraded"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}, null,
				{"type": "Stalled", "status": "True", "message": "m"}]}}`, "Degraded"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": -1, "conditions": [{"type": "Ready", "status": "True"}]}}`,
				"Progressing"},
			{`{"metadata": {"generation": 9223372036854775807}, "status": {"observedGeneration": 1e300, "conditions":
				[{"type": "Ready", "status": "True", "message": "m"}]}}`, "Progressing"},
			{`{"metadata": {"generation": 1}, "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"},
				{"type": "WebhookReady", "status": "False"}]}}`, "Healthy"},
		} {
			obj := &unstructured.Unstructured{}
			if err := json.Unmarshal([]byte(c.object), &obj.Object); err != nil {
				t.Fatal(err)
			}
			obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
			obj.SetAPIVersion("cauri.dev/v2") // a script is for all versions of its kind
			health, err := customizations.Health(obj)
			if err != nil || health.Status != c.want {
				t.Errorf("%s %s: %+v (%v), want %s", kind, c.object, health, err, c.want)
			}
		}
	}
}

// Argo CD's health check of Expectations says what kstatus says.
func TestArgoCDHealthOfExpectations(t *testing.T) {
	t.Parallel()
	customizations := readCustomizations(t)
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	seen := map[string]int{}
	for _, seenNow := range []expectation.Observation{
		{Err: &reconciler.WaitingError{Reason: v1alpha1.ReasonSandboxNotFound, Message: "It waits."}},
		{State: &expectations.State{Verdict: expectations.Open, Reason: expectations.ReasonNotMet, Message: "A line."}},
		{State: &expectations.State{Verdict: expectations.Met, Reason: expectations.ReasonMet, Message: "All lines are met."}},
		expectation.Failed(v1alpha1.ReasonSandboxReset, "It was reset."),
	} {
		for _, observed := range []int64{1, 2} {
			for _, deleted := range []*metav1.Time{nil, {Time: now}} {
				e := &v1alpha1.Expectation{}
				e.Generation, e.DeletionTimestamp = 2, deleted
				e.Status = expectation.Status(e, seenNow, now)
				e.Status.ObservedGeneration = observed
				health, err := customizations.Health(toUnstructured(t, e))
				if err != nil {
					t.Fatal(err)
				}
				if want := argoHealth[kstatusInMemory(t, e)]; health.Status != want || health.Message == "" {
					t.Errorf("%+v, want %s, for %+v", health, want, e.Status)
				}
				seen[health.Status]++
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("only %v were said", seen)
	}
}
