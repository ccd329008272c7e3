package sandboxenvironment

import (
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	clocktesting "k8s.io/utils/clock/testing"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// A URL that is always refused is told before the first event, unless something was acknowledged there: the refusal is applied
// with the URL, so that all who ask for the receiver's health hear the same.
func TestForbiddenURLIsToldAtOnce(t *testing.T) {
	t.Parallel()
	cluster, machine := guards(t)
	for name, c := range map[string]struct {
		guard egress.Guard
		url   string
		says  string // empty: nothing
	}{
		"localhost in a cluster":      {cluster, "http://localhost:3000/x", "name of the receiver's Service"},
		"a name below localhost":      {cluster, "http://shop.localhost/x", "this machine itself"},
		"another name of localhost":   {cluster, "http://localhost.localdomain:3000/x", "this machine itself"},
		"the Kubernetes API":          {cluster, "https://kubernetes.default.svc/x", "a part of the platform itself"},
		"loopback in a cluster":       {cluster, "https://[::1]/x", "::1"},
		"metadata, mapped":            {machine, "http://[::ffff:169.254.169.254]/", "link-local"},
		"metadata by its name":        {machine, "http://metadata.google.internal./", "link-local"},
		"an address of the deny list": {cluster, "http://10.1.2.3/", "deny list"},
		"localhost of cauri dev":      {machine, "http://localhost:3000/x", ""},
		"a Service":                   {cluster, "http://shop.team.svc/x", ""},
	} {
		sandbox := &v1alpha1.SandboxEnvironment{Spec: v1alpha1.SandboxEnvironmentSpec{Webhook: &v1alpha1.Webhook{URL: c.url}}}
		sandbox.Status.OrganizationID = "org_1" // it is below the limit of sandboxes
		var seen Observation
		if err := (&Reconciler{Guard: c.guard, Limit: &reconciler.ResourceLimit{}}).reconcileSpec(t.Context(), sandbox, &seen); err != nil {
			t.Fatal(err)
		}
		health, want := webhooks.EndpointHealth{Refusal: seen.Config.Webhook.Refusal}, v1alpha1.ReasonNothingDelivered
		if c.says != "" {
			want = v1alpha1.ReasonAddressForbidden
		}
		if _, reason, message := webhookJudgment(c.url, &health); reason != want || !strings.Contains(message, c.says) {
			t.Errorf("%s: %s: %s", name, reason, message)
		}
	}
	r := &Reconciler{Guard: cluster}
	if p := r.addressProblem("http://localhost:8080/mtn"); p == nil || p.Reason != v1alpha1.ReasonOperatorAddressForbidden {
		t.Errorf("an operator's API at localhost: %v", p)
	}
	if p := r.addressProblem(""); p != nil {
		t.Errorf("no base URL: %v", p)
	}
}

// Of a receiver that works again, and of a new URL, the condition tells what was, and nothing against the present one.
func TestConditionTellsWhatIsOverAsOver(t *testing.T) {
	t.Parallel()
	changed := time.Now()
	newest := &webhooks.UnacknowledgedEvent{Attempt: 1, Failure: "connection refused", Former: true}
	for name, c := range map[string]struct {
		health webhooks.EndpointHealth
		says   string
	}{
		"it works again": {webhooks.EndpointHealth{State: webhooks.EndpointFailing, Acknowledged: true, Unacknowledged: 3, Newest: newest}, "3 events were not delivered, and the receiver acknowledges events now. The newest is evt_"},
		"another URL":    {webhooks.EndpointHealth{State: webhooks.EndpointFailing, URLChangedAt: &changed, Unacknowledged: 1, Newest: newest}, "An event was not delivered to a former URL. The newest is evt_"},
		"another URL, paused": {
			webhooks.EndpointHealth{State: webhooks.EndpointPaused, URLChangedAt: &changed, Unacknowledged: 3, Newest: newest},
			"3 events were not delivered to a former URL. It gets one event a minute",
		},
	} {
		status, reason, message := webhookJudgment("http://shop:3000/", &c.health)
		if status != "False" || !strings.HasPrefix(message, c.says) || strings.Contains(message, "Start your receiver") || strings.Contains(message, "shop:3000") {
			t.Errorf("%s: %s, %s: %s", name, status, reason, message)
		}
	}
}

// guards returns that of a cluster and that of cauri dev.
func guards(t *testing.T) (cluster, machine egress.Guard) {
	t.Helper()
	deny, err := egress.ParseDenyRules([]string{"10.1.0.0/16"})
	if err != nil {
		t.Fatal(err)
	}
	return egress.Guard{Deny: deny}, egress.Guard{AllowLoopback: true}
}

// The sandbox is looked at again when the first event that is counted as unacknowledged is a day old.
func TestCountOfUnacknowledgedEventsDoesNotGetStale(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) *time.Time { return new(now.Add(-ago)) }
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(now)}
	for name, c := range map[string]struct {
		oldest *time.Time
		clock  sandboxes.ClockState
		want   time.Duration
	}{
		"of several":             {at(23 * time.Hour), sandboxes.ClockState{}, time.Hour},
		"a clock that is ahead":  {at(13 * time.Hour), sandboxes.ClockState{Ahead: 10 * time.Hour}, time.Hour},
		"by the database's time": {at(25 * time.Hour), sandboxes.ClockState{}, time.Second},
		"a clock that stands":    {at(23 * time.Hour), sandboxes.ClockState{Mode: sandboxes.ManualClock}, 0},
		"none":                   {nil, sandboxes.ClockState{}, 0},
	} {
		state := &sandboxes.SandboxState{Clock: c.clock, Endpoint: webhooks.EndpointHealth{OldestAt: c.oldest}}
		if c.oldest != nil {
			state.Endpoint.Newest = &webhooks.UnacknowledgedEvent{CreatedAt: now}
		}
		if got, err := r.wake(&v1alpha1.SandboxEnvironment{}, state, ctrl.Result{}, nil); err != nil || got.RequeueAfter != c.want {
			t.Errorf("%s: looked at in %s, %v, want %s", name, got.RequeueAfter, err, c.want)
		}
	}
}

// With maxRetries: 0, and after the last retry, no message promises another attempt.
func TestNoRetryIsPromised(t *testing.T) {
	t.Parallel()
	never := webhooks.Schedule{MaxRetries: 0, InitialDelay: time.Second, Factor: 5, MaxDelay: time.Hour}
	if _, again := never.Next(1, webhooks.Result{}, func() float64 { return 0.5 }); again {
		t.Fatal("an event is sent again though maxRetries is 0")
	}
	for _, failure := range []string{
		"no answer within 10s", "no connection within 10s", "connection refused", "lookup shop: no such host", "tls: bad certificate",
		"connection reset by peer", "the receiver answered 500", "the receiver answered 401", "the receiver answered 410", "the receiver answered 302",
		"events may not be sent to 127.0.0.1: it is this machine itself", "something else",
	} {
		health := webhooks.EndpointHealth{
			State: webhooks.EndpointFailing, Unacknowledged: 1, Newest: &webhooks.UnacknowledgedEvent{Attempt: 1, Failure: failure},
		}
		_, _, message := webhookJudgment("http://shop/", &health)
		if !strings.Contains(message, "No retry follows: `cauri resend evt_") || strings.Contains(message, "retried") ||
			strings.Contains(message, "comes again") || strings.Contains(message, "is sent again") {
			t.Errorf("%s: %s", failure, message)
		}
		health.Newest.Waits = true
		if _, _, message = webhookJudgment("http://shop/", &health); !strings.Contains(message, "It is sent again as spec.webhook.retryPolicy says.") {
			t.Errorf("%s, and a retry follows: %s", failure, message)
		}
	}
}

// A callback URL to which nothing is ever sent is told with what is not used.
func TestCallbacksThatAreNeverSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		guard egress.Guard
		hosts []string
		url   string
		says  string
	}{
		"localhost in a cluster": {egress.Guard{}, nil, "http://localhost:3000/", "this machine itself"},
		"a private address":      {egress.Guard{}, nil, "http://10.1.2.3/", "public Internet"},
		"a host that is not one": {egress.Guard{}, []string{"*.shop.example"}, "https://pay.example/", "spec.callbackHosts does not allow its host"},
		"a host of the list":     {egress.Guard{}, []string{"*.shop.example"}, "https://a.shop.example/", ""},
		"cauri dev":              {egress.Guard{AllowLoopback: true}, []string{"*"}, "http://localhost:3000/", ""},
		"a name":                 {egress.Guard{}, nil, "https://pay.example/", ""},
		"none":                   {egress.Guard{}, nil, "", ""},
	} {
		sandbox := &v1alpha1.SandboxEnvironment{}
		sandbox.Spec.Environments = []v1alpha1.Environment{{CallbackURL: c.url}}
		got := unused(sandbox, (&Reconciler{Guard: c.guard}).unusedCallbacks(sandbox, &sandboxes.Config{CallbackHosts: c.hosts}))
		if (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
