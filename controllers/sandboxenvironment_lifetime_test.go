package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
)

// everyField asks for all that a status can tell of.
func everyField(s *v1alpha1.SandboxEnvironment) {
	s.Spec.Webhook = &v1alpha1.Webhook{URL: "http://shop.team.svc/webhooks"}
	s.Spec.TTL, s.Spec.Reset = "90m30s", "run-1"
}

// suspended are the conditions of a sandbox at rest.
var suspended = []string{"SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady True Ready", "Ready True Suspended"}

// movedClock is ahead of the real one.
type movedClock struct {
	clock.RealClock
	ahead atomic.Int64 // nanoseconds
}

func (c *movedClock) Now() time.Time { return c.RealClock.Now().Add(time.Duration(c.ahead.Load())) }

func (c *movedClock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// withClock gives the controllers a clock of the test's, and no other reason to look at a sandbox again.
func withClock(at *movedClock) func(*controllers.Options) {
	return func(o *controllers.Options) { o.Clock, o.Resync = at, time.Hour }
}

// reasons are the reasons of the events about one kind of resource, each with how often it was told.
func (c *cluster) reasons(kind string) map[string]int {
	c.Helper()
	var list eventsv1.EventList
	if err := c.List(c.Context(), &list, client.InNamespace(c.namespace)); err != nil {
		c.Fatal(err)
	}
	reasons := map[string]int{}
	for _, event := range list.Items {
		if event.Regarding.Kind == kind {
			reasons[event.Reason]++
		}
	}
	return reasons
}

func TestSandboxReset(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox, alice := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset = "run-1" }), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
	if sandbox.Status.ObservedReset != "run-1" || c.count("select count(*) from retired_tenants") != 0 {
		t.Fatalf("the value that it was made with: observed %q, and the sandbox may have been emptied", sandbox.Status.ObservedReset)
	}
	before, secret := *sandbox.Status.DeepCopy(), c.secret("checkout-credentials").Data
	c.row("update floats set balance = 1 returning 1", nil, new(int))
	c.row("update sims set balance = 2, changed_at = now() returning 1", nil, new(int))
	c.until(func(context.Context) string { c.refresh(alice); return cmp.Diff(new(int64(2)), alice.Status.Balance) })

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset, s.Spec.OpeningFloat[0].Amount = "run-2", 7000 })
	c.sandboxReady(sandbox)
	want := before
	want.ObservedGeneration, want.ObservedReset, want.Conditions = 2, "run-2", sandbox.Status.Conditions
	want.TestClients, want.Balances = new(int64(1)), []v1alpha1.Balance{{Currency: "RWF", Amount: 7000}}
	if diff := cmp.Diff(want, sandbox.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(secret, c.secret("checkout-credentials").Data); diff != "" {
		t.Error("the credentials changed")
	}
	c.until(func(context.Context) string { c.refresh(alice); return cmp.Diff(new(int64(500)), alice.Status.Balance) })

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset = "" })
	c.sandboxReady(sandbox)
	if sandbox.Status.ObservedReset != "run-2" || c.count("select count(*) from retired_tenants") != 1 {
		t.Errorf("a reset taken out of the spec: observed %q", sandbox.Status.ObservedReset)
	}
}

// TestResetIsCarriedOutOnceThoughTheStatusWasNotWritten loses the status that tells of a reset, as a crash does.
func TestResetIsCarriedOutOnceThoughTheStatusWasNotWritten(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset = "run-1" })
	c.sandboxReady(sandbox)
	c.stop()
	before := sandbox.DeepCopy()
	sandbox.Status = v1alpha1.SandboxEnvironmentStatus{}
	if err := c.Status().Patch(t.Context(), sandbox, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.sandboxReady(sandbox)
	if sandbox.Status.ObservedReset != "run-1" || c.count("select count(*) from retired_tenants") != 1 {
		t.Errorf("observed %q after %d resets", sandbox.Status.ObservedReset, c.count("select count(*) from retired_tenants"))
	}
}

func TestSandboxDeletesItselfWhenItsTTLIsOver(t *testing.T) {
	c := newCluster(t)
	at := &movedClock{}
	c.start(withClock(at))
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Spec.TTL, s.Spec.Suspend = "1h0.5s", true })
	lasting := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Name = "lasting" })
	c.create(sandbox)
	c.create(lasting)
	c.sandboxConditions(sandbox, suspended...)
	c.sandboxReady(lasting)
	if want := sandbox.CreationTimestamp.Add(time.Hour); sandbox.Status.ExpiresAt == nil || !sandbox.Status.ExpiresAt.Time.Equal(want) {
		t.Fatalf("it expires at %v, want %v", sandbox.Status.ExpiresAt, want)
	}
	if lasting.Status.ExpiresAt != nil {
		t.Errorf("a sandbox without a ttl expires at %v", lasting.Status.ExpiresAt)
	}
	// A ttl that is changed moves the end: the sandbox is looked at again when the new one comes, three seconds from now.
	at.forward(time.Until(sandbox.CreationTimestamp.Add(2*time.Minute - 3*time.Second)))
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.TTL = "2m" })
	c.sandboxConditions(sandbox, suspended...)
	if want := sandbox.CreationTimestamp.Add(2 * time.Minute); !sandbox.Status.ExpiresAt.Time.Equal(want) {
		t.Errorf("it expires at %v, want %v", sandbox.Status.ExpiresAt, want)
	}
	c.gone(sandbox)
	if now := at.Now(); now.Before(sandbox.CreationTimestamp.Add(2 * time.Minute)) {
		t.Errorf("it went at %v, too early", now)
	}
	c.until(func(context.Context) string {
		if reasons := c.reasons("SandboxEnvironment"); reasons["Expired"] != 1 {
			return fmt.Sprintf("the events are %v", reasons)
		}
		return ""
	})
	if n := c.count("select count(*) from organizations"); n != 1 {
		t.Errorf("%d organizations are left, want 1", n)
	}
	c.refresh(lasting)
}

func TestTTLTakenAwayKeepsTheSandbox(t *testing.T) {
	c := newCluster(t)
	at := &movedClock{}
	c.start(withClock(at))
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Spec.TTL = "1m" })
	c.create(sandbox)
	c.sandboxReady(sandbox)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.TTL = "" })
	c.sandboxReady(sandbox)
	if sandbox.Status.ExpiresAt != nil {
		t.Errorf("it expires at %v", sandbox.Status.ExpiresAt)
	}
	at.forward(time.Hour)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(int32(1)) })
	c.sandboxReady(sandbox)
}

// TestSandboxExpiresWhileTheDatabaseIsUnavailable marks it deleted then, and the deletion waits as any other.
func TestSandboxExpiresWhileTheDatabaseIsUnavailable(t *testing.T) {
	c := newCluster(t)
	at := &movedClock{}
	c.start(withClock(at))
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Spec.TTL = "1m" })
	c.create(sandbox)
	c.sandboxReady(sandbox)
	c.database.setUnavailable(true)
	at.forward(time.Minute)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(int32(1)) })
	c.until(func(ctx context.Context) string {
		c.refresh(sandbox)
		if sandbox.DeletionTimestamp.IsZero() {
			return "it was not deleted"
		}
		return ""
	})
	c.deletionWaits(sandbox)
	c.database.setUnavailable(false)
	c.gone(sandbox)
}

// deletionWaits waits until a sandbox tells that its deletion waits for the database.
func (c *cluster) deletionWaits(sandbox *v1alpha1.SandboxEnvironment) {
	c.Helper()
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady True Ready",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	for _, condition := range []string{v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionReady} {
		if text := message(sandbox.Status.Conditions, condition); !strings.HasPrefix(text, "The deletion waits for the database") {
			c.Errorf("%s says %q", condition, text)
		}
	}
}

// TestDeletionTellsWhatItWaitsFor is about a database that was unavailable before: the event tells of the deletion too.
func TestDeletionTellsWhatItWaitsFor(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	c.database.setUnavailable(true)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(int32(1)) })
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady True Ready",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	if err := c.Delete(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	c.until(func(context.Context) string {
		var list eventsv1.EventList
		if err := c.List(t.Context(), &list, client.InNamespace(c.namespace)); err != nil {
			return err.Error()
		}
		told := 0
		for _, event := range list.Items {
			if strings.HasPrefix(event.Note, "The deletion waits for the database") {
				told++
			}
		}
		return cmp.Diff(1, told)
	})
	c.deletionWaits(sandbox)
	c.database.setUnavailable(false)
	c.gone(sandbox)
}

func TestSandboxSuspended(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.sandboxReady(sandbox)
	c.testClientReady(alice)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Suspend = true })
	c.sandboxConditions(sandbox, suspended...)
	if n := c.count("select count(*) from organizations where suspended"); n != 1 {
		t.Error("the database does not know")
	}
	edit(c, alice, func(tc *v1alpha1.TestClient) { tc.Spec.Balance = 70 }) // it is kept up to date at rest
	c.testClientReady(alice)
	c.database.setUnavailable(true)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Suspend = false })
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady True Ready",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.database.setUnavailable(false)
	c.sandboxReady(sandbox)
	c.until(func(context.Context) string {
		return cmp.Diff(
			map[string]int{"APIKeyIssued": 1, "Ready": 1, "Suspended": 1, "DatabaseUnavailable": 1}, only(c.reasons("SandboxEnvironment")),
		)
	})
}

// only leaves out how often an event was repeated: the API server counts that in a series.
func only(reasons map[string]int) map[string]int {
	for reason := range reasons {
		reasons[reason] = 1
	}
	return reasons
}

func TestDeletionPolicyRetain(t *testing.T) {
	c := newCluster(t)
	c.start()
	first, alice := c.newSandbox(
		func(s *v1alpha1.SandboxEnvironment) { s.Spec.DeletionPolicy = "Retain" },
	), c.newTestClient(
		"alice", "+250788000001",
	)
	c.create(first)
	c.create(alice)
	c.sandboxReady(first)
	c.testClientReady(alice)
	c.delete(first)
	c.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "checkout-credentials"}})
	for query, want := range map[string]int{
		"select count(*) from organizations where retained_at is not null and suspended": 1,
		"select count(*) from api_keys":        0,
		"select count(*) from floats":          1,
		"select count(*) from sims":            1,
		"select count(*) from adjustments":     2,
		"select count(*) from environments":    1,
		"select count(*) from retired_tenants": 0,
	} {
		if got := c.count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	second := c.newSandbox()
	c.create(second)
	c.sandboxReady(second)
	c.testClientReady(alice)
	if first.Status.OrganizationID == second.Status.OrganizationID {
		t.Error("the new sandbox has the retained organization")
	}
	c.delete(second)
	c.delete(alice)
	if n := c.count("select count(*) from sims"); n != 1 {
		t.Errorf("%d SIMs are retained, want 1", n)
	}
}

// TestDeletionPolicyRetainWithoutRows deletes a sandbox that the database has never heard of.
func TestDeletionPolicyRetainWithoutRows(t *testing.T) {
	c := newCluster(t)
	c.database.setUnavailable(true)
	c.start()
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Spec.DeletionPolicy = "Retain" })
	c.create(sandbox)
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady Unknown Pending",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	if err := c.Delete(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	c.database.setUnavailable(false)
	c.gone(sandbox)
}

func TestStatusFollowsPaymentsAndDeliveries(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(everyField)
	c.create(sandbox)
	c.sandboxReady(sandbox)
	ready := slices.Clone(inShort(sandbox.Status.Conditions))
	if want := "WebhookReady Unknown NothingDelivered"; !slices.Contains(ready, want) {
		t.Errorf("the conditions are %q, want %q among them", ready, want)
	}
	if diff := cmp.Diff(&v1alpha1.WebhookStatus{State: "healthy"}, sandbox.Status.Webhook); diff != "" {
		t.Errorf("webhook (-want +got):\n%s", diff)
	}
	at := time.Date(2026, 5, 31, 12, 0, 0, 123_456_000, time.UTC)
	failure := &v1alpha1.WebhookFailure{Time: metav1.NewTime(at.Truncate(time.Second)), Message: "the receiver answered 500"}
	for _, step := range []struct {
		sql       string
		args      []any
		condition string
		webhook   v1alpha1.WebhookStatus
	}{
		{"insert into endpoint_health (tenant, delivered, acknowledged_url) select tenant, 41, webhook_url from organizations returning 1", nil,
			"WebhookReady True Ready", v1alpha1.WebhookStatus{State: "healthy", Delivered: 41}},
		{
			"with failed as (insert into unacknowledged_events (tenant, id, operator, created_at, attempt) " +
				"select tenant, gen_random_uuid(), '', now(), 1 from organizations) " +
				"update endpoint_health set changed_at = now(), last_failure_at = $1, last_failure = 'the receiver answered 500' returning 1",
			[]any{at},
			"WebhookReady False DeliveryFailing", v1alpha1.WebhookStatus{State: "failing", Unacknowledged: 1, Delivered: 41, LastFailure: failure}},
		{"update endpoint_health set changed_at = now(), failures = 9, failed = 2, probe_at = now() returning 1", nil,
			"WebhookReady False EndpointFailing", v1alpha1.WebhookStatus{State: "paused", Unacknowledged: 1, Delivered: 41, Failed: 2, LastFailure: failure}},
		{"with gone as (delete from unacknowledged_events) update endpoint_health set changed_at = now(), failures = 0, failing_since = null, " +
			"probe_at = null, delivered = 42 returning 1", nil,
			"WebhookReady True Ready", v1alpha1.WebhookStatus{State: "healthy", Delivered: 42, Failed: 2, LastFailure: failure}},
	} {
		c.row(step.sql, step.args, new(int))
		c.until(func(context.Context) string {
			c.refresh(sandbox)
			if got := inShort(sandbox.Status.Conditions); !slices.Contains(got, step.condition) {
				return fmt.Sprintf("the conditions are %q, want %q among them", got, step.condition)
			}
			if summary := sandbox.Status.WebhookSummary; !strings.HasPrefix(step.condition, "WebhookReady "+summary+" ") {
				return fmt.Sprintf("kubectl shows %s for %s", summary, step.condition)
			}
			return cmp.Diff(&step.webhook, sandbox.Status.Webhook)
		})
	}
	// What ends without moving money is followed too.
	c.row(
		`insert into transactions (tenant, id, type, status, reference, request_hash, order_ref, is_url_protected, store, scenario, env_id,
			operator, country, currency, msisdn, amount, commission, net_amount, absorption_pct, latency_ms, float_currency)
		select tenant, gen_random_uuid(), 'collection', 'PENDING', 'r1', '', 'r1', false, 'shop', '', 'env', 'mtn',
			'RW', 'RWF', '+250788000001', 1, 0, 1, 0, 0, 'RWF'
		from organizations returning 1`,
		nil,
		new(int),
	)
	c.row("insert into activity select tenant, now() from organizations returning 1", nil, new(int))
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(&v1alpha1.TransactionCounts{Total: 1, Pending: 1}, sandbox.Status.Transactions)
	})
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Webhook = nil })
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady True Ready", "Ready True Ready")
	if slices.ContainsFunc(inShort(sandbox.Status.Conditions), isWebhookReady) || sandbox.Status.Webhook != nil ||
		sandbox.Status.WebhookSummary != "-" {
		t.Error("a sandbox without a webhook tells of one")
	}
}

// TestKstatusRules holds what tools that follow kstatus expect of every version of a sandbox: a condition never tells of an old
// generation beside a new one, and one that is Ready is neither Reconciling nor Stalled.
func TestKstatusRules(t *testing.T) {
	c := newCluster(t)
	c.start()
	watcher, err := client.NewWithWatch(c.config, client.Options{Scheme: controllers.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := watcher.Watch(t.Context(), &v1alpha1.SandboxEnvironmentList{}, client.InNamespace(c.namespace))
	if err != nil {
		t.Fatal(err)
	}
	sandbox := c.newSandbox(everyField)
	c.create(sandbox)
	c.sandboxReady(sandbox)
	for _, change := range []func(*v1alpha1.SandboxEnvironment){
		func(s *v1alpha1.SandboxEnvironment) { s.Spec.Reset = "run-2" },
		func(s *v1alpha1.SandboxEnvironment) { s.Spec.Suspend = true },
		func(s *v1alpha1.SandboxEnvironment) { s.Spec.Suspend, s.Spec.TTL = false, "" },
	} {
		edit(c, sandbox, change)
	}
	c.sandboxReady(sandbox)
	c.database.setUnavailable(true)
	if err := c.Delete(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	c.deletionWaits(sandbox)
	c.database.setUnavailable(false)
	c.gone(sandbox)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(sandbox), sandbox); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	versions := 0
	for seen := range watch.ResultChan() {
		version := seen.Object.(*v1alpha1.SandboxEnvironment)
		c.followsKstatus(version)
		if versions++; seen.Type == "DELETED" {
			watch.Stop()
			break
		}
	}
	if versions < 8 {
		t.Errorf("only %d versions were seen", versions)
	}
}

func (c *cluster) followsKstatus(sandbox *v1alpha1.SandboxEnvironment) {
	c.Helper()
	is := map[string]metav1.Condition{}
	for _, condition := range sandbox.Status.Conditions {
		is[condition.Type] = condition
		if condition.ObservedGeneration > sandbox.Status.ObservedGeneration {
			c.Errorf(
				"%s is of generation %d in a status of generation %d", condition.Type, condition.ObservedGeneration, sandbox.Status.ObservedGeneration,
			)
		}
	}
	ready := is[v1alpha1.ConditionReady]
	for _, negative := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
		if condition, present := is[negative]; present && (ready.Status == metav1.ConditionTrue || condition.Status != metav1.ConditionTrue) {
			c.Errorf("%s is %s beside Ready=%s", negative, condition.Status, ready.Status)
		}
	}
	if len(is) > 0 && ready.Status != metav1.ConditionTrue && is[v1alpha1.ConditionReconciling].Status != metav1.ConditionTrue &&
		is[v1alpha1.ConditionStalled].Status != metav1.ConditionTrue {
		c.Errorf("Ready is %s, and nothing tells whether to wait", ready.Status)
	}
}
