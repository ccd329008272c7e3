package controllers_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
)

func TestSandboxBecomesReady(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Environments = append(s.Spec.Environments, v1alpha1.Environment{Operator: "airtel", Country: "RW", Enabled: new(false)})
	})
	c.create(sandbox)
	c.sandboxReady(sandbox)

	status := sandbox.Status
	want := v1alpha1.SandboxEnvironmentStatus{
		ObservedGeneration: 1,
		Conditions:         status.Conditions,
		OrganizationID:     status.OrganizationID,
		URL:                baseURL + "/sandboxes/" + c.namespace + "/checkout",
		Binding:            &v1alpha1.SecretReference{Name: "checkout-credentials"},
		Environments: []v1alpha1.EnvironmentStatus{
			{Operator: "airtel", Country: "RW", Currency: "RWF", ID: status.Environments[0].ID, Enabled: false},
			{Operator: "mtn", Country: "RW", Currency: "RWF", ID: status.Environments[1].ID, Enabled: true},
		},
		OperatorAPIs:        []v1alpha1.OperatorAPI{{Operator: "mtn", URL: baseURL + "/sandboxes/" + c.namespace + "/checkout/operators/mtn"}},
		EnvironmentsSummary: "1/2",
		Balances:            []v1alpha1.Balance{{Currency: "RWF", Amount: 1000}},
		TestClients:         new(int64(0)),
		Transactions:        &v1alpha1.TransactionCounts{},
		WebhookSummary:      "-",
		Clock:               &v1alpha1.ClockStatus{Mode: v1alpha1.RealClock},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
	if got := c.count("select count(*) from stores where slug = 'checkout'"); got != 1 {
		t.Errorf("a sandbox without stores has %d stores of its own name, want 1", got)
	}
}

func TestSandboxZerosAreShown(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Spec.OpeningFloat = nil })
	c.create(sandbox)
	c.sandboxReady(sandbox)

	if diff := cmp.Diff([]v1alpha1.Balance{{Currency: "RWF", Amount: 0}}, sandbox.Status.Balances); diff != "" {
		t.Error(diff)
	}
}

func TestSandboxEditsArriveInTheDatabase(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.LatencyPercent = new(int32(20))
		s.Spec.Quota = &v1alpha1.Quota{MonthlyTransactions: new(int64(100_000))}
		s.Spec.RateLimit = &v1alpha1.RateLimit{RequestsPerMinute: new(int32(1000))}
		s.Spec.Webhook = &v1alpha1.Webhook{
			URL:         "http://shop.team.svc/webhooks",
			RetryPolicy: &v1alpha1.RetryPolicy{MaxRetries: new(int32(2)), InitialDelay: "500ms", Factor: new(int32(3)), MaxDelay: "1m30s"},
		}
		s.Spec.Environments[0].CommissionBps = 150
		s.Spec.OpeningFloat[0].Amount = 7000
		s.Spec.Stores = []v1alpha1.Store{{Slug: "shop"}}
	})
	c.sandboxReady(sandbox)

	type row struct {
		URL              string
		Latency, Retries int
		Initial, Longest int64
		Factor           float64
		CommissionBps    int
		Store            string
		Quota, Rate      int64
	}
	var got row
	c.row(`select webhook_url, latency_percent, webhook_max_retries, webhook_initial_delay_ms, webhook_max_delay_ms, webhook_factor,
	              commission_bps, slug, monthly_quota, rate_limit
	         from organizations join environments using (tenant) join stores using (tenant) where not stores.removed`, nil,
		&got.URL, &got.Latency, &got.Retries, &got.Initial, &got.Longest, &got.Factor, &got.CommissionBps, &got.Store, &got.Quota, &got.Rate)
	want := row{
		URL: "http://shop.team.svc/webhooks", Latency: 20, Retries: 2, Initial: 500, Longest: 90_000, Factor: 3,
		CommissionBps: 150, Store: "shop", Quota: 100_000, Rate: 1000,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]v1alpha1.Balance{{Currency: "RWF", Amount: 7000}}, sandbox.Status.Balances); diff != "" {
		t.Error(diff)
	}
}

// TestQuietResourcesAreNotWritten reconciles often and finds that nothing was written.
func TestQuietResourcesAreNotWritten(t *testing.T) {
	c := newCluster(t)
	c.start(func(o *controllers.Options) { o.Resync = 20 * time.Millisecond })
	sandbox, alice := c.newSandbox(everyField), c.newTestClient("alice", "+250788000001")
	waiting := c.newTestClient("lost", "+250788000002", func(tc *v1alpha1.TestClient) { tc.Spec.SandboxRef.Name = "elsewhere" })
	c.create(sandbox)
	c.create(alice)
	c.create(waiting)
	c.testClientReady(alice)
	c.testClientConditions(waiting, "Ready False SandboxNotFound", "Reconciling True Retrying")
	c.until(func(ctx context.Context) string { // the count of TestClients follows a little later
		c.refresh(sandbox)
		return cmp.Diff(new(int64(1)), sandbox.Status.TestClients)
	})
	c.row(`insert into endpoint_health (tenant, delivered, failures, failing_since, last_failure_at, last_failure)
		select tenant, 3, 1, clock_timestamp(), clock_timestamp(), 'the receiver answered 500' from organizations returning 1`, nil, new(int))
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		if sandbox.Status.Webhook == nil || sandbox.Status.Webhook.LastFailure == nil || sandbox.Status.ExpiresAt == nil ||
			sandbox.Status.ObservedReset == "" {
			return "the status is not complete"
		}
		return ""
	})

	versions := func() []string {
		c.refresh(sandbox)
		c.refresh(alice)
		c.refresh(waiting)
		return []string{sandbox.ResourceVersion, alice.ResourceVersion, waiting.ResourceVersion, c.secret("checkout-credentials").ResourceVersion}
	}
	before := versions()
	sandboxes, testClients := c.database.count("ApplySandbox"), c.database.count("ApplyTestClient")
	c.until(func(context.Context) string {
		if c.database.count("ApplySandbox") < sandboxes+5 || c.database.count("ApplyTestClient") < testClients+5 {
			return "the resources were not reconciled often enough"
		}
		return ""
	})
	if diff := cmp.Diff(before, versions()); diff != "" {
		t.Error(diff)
	}
}

// TestReadyIsNeverOfAnOldGeneration follows every version of a sandbox while its spec is changed.
func TestReadyIsNeverOfAnOldGeneration(t *testing.T) {
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
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	for percent := range int32(5) {
		edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(percent) })
	}
	c.database.setUnavailable(true)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(int32(50)) })
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady True Ready",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.database.setUnavailable(false)
	c.sandboxReady(sandbox)

	for seen := range watch.ResultChan() {
		version := seen.Object.(*v1alpha1.SandboxEnvironment)
		for _, condition := range version.Status.Conditions {
			if condition.Type == v1alpha1.ConditionReady && condition.ObservedGeneration != version.Status.ObservedGeneration {
				t.Errorf("Ready is of generation %d in a status of generation %d", condition.ObservedGeneration, version.Status.ObservedGeneration)
			}
			if condition.Type == v1alpha1.ConditionReady && condition.Status == metav1.ConditionTrue &&
				condition.ObservedGeneration == sandbox.Generation && version.ResourceVersion != sandbox.ResourceVersion {
				t.Errorf("Ready was True for the last generation before the database had it")
			}
		}
		if version.ResourceVersion == sandbox.ResourceVersion {
			watch.Stop()
			break
		}
	}
}

func TestDatabaseUnavailableAndBack(t *testing.T) {
	c := newCluster(t)
	c.database.setUnavailable(true)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady Unknown Pending",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	const want = "The database cannot be reached. Retrying until it answers."
	if diff := cmp.Diff(want, message(sandbox.Status.Conditions, v1alpha1.ConditionReady)); diff != "" {
		t.Error(diff)
	}
	version, attempts := sandbox.ResourceVersion, c.database.count("ChangedAccounts")
	c.until(func(context.Context) string {
		if c.database.count("ChangedAccounts") < attempts+3 {
			return "it was not tried again"
		}
		return ""
	})
	if c.refresh(sandbox); sandbox.ResourceVersion != version {
		t.Error("the status was written again though nothing had changed")
	}

	c.database.setUnavailable(false)
	c.sandboxReady(sandbox)
}

func TestSandboxDeletion(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.testClientReady(alice)
	c.sandboxReady(sandbox)

	c.delete(sandbox)
	for _, table := range []string{"organizations", "environments", "stores", "api_keys", "floats", "sims", "adjustments"} {
		if got := c.count("select count(*) from " + table); got != 0 {
			t.Errorf("%s has %d rows left", table, got)
		}
	}
	c.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "checkout-credentials"}})
	c.testClientConditions(alice, "Ready False SandboxNotFound", "Reconciling True Retrying")
	if alice.Status.Balance != nil {
		t.Errorf("a TestClient without a sandbox has a balance of %d", *alice.Status.Balance)
	}
}

func TestSandboxMadeAgainIsAnotherOrganization(t *testing.T) {
	c := newCluster(t)
	c.start()
	first, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(first)
	c.create(alice)
	c.sandboxReady(first)
	c.testClientReady(alice)
	key := string(c.secret("checkout-credentials").Data["api-key"])

	c.delete(first)
	second := c.newSandbox()
	c.create(second)
	c.sandboxReady(second)
	c.testClientReady(alice)
	if first.Status.OrganizationID == second.Status.OrganizationID {
		t.Error("the new sandbox has the old one's organization")
	}
	if key == string(c.secret("checkout-credentials").Data["api-key"]) {
		t.Error("the new sandbox has the old one's key")
	}
	if got := c.count("select count(*) from sims"); got != 1 {
		t.Errorf("the new sandbox has %d SIMs, want 1", got)
	}
}

func TestSandboxDeletionWaitsForTheDatabase(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)

	c.database.setUnavailable(true)
	if err := c.Delete(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady True Ready",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	c.database.setUnavailable(false)
	c.gone(sandbox)
}

// TestSandboxDeletionWithoutRows deletes a sandbox that the database has never heard of.
func TestSandboxDeletionWithoutRows(t *testing.T) {
	c := newCluster(t)
	c.database.setUnavailable(true)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady False DatabaseUnavailable", "CredentialsReady Unknown Pending",
		"Ready False DatabaseUnavailable", "Reconciling True Retrying")
	if err := c.Delete(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	c.database.setUnavailable(false)
	c.gone(sandbox)
}

// TestEventsTellOfChangesOnly reconciles often and finds one event a change.
func TestEventsTellOfChangesOnly(t *testing.T) {
	c := newCluster(t)
	c.start(func(o *controllers.Options) { o.Resync = 20 * time.Millisecond })
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	rounds := c.database.count("ApplySandbox")
	c.until(func(ctx context.Context) string {
		var list eventsv1.EventList
		if err := c.List(ctx, &list, client.InNamespace(c.namespace)); err != nil {
			return err.Error()
		}
		reasons := map[string]int{}
		for _, event := range list.Items {
			reasons[event.Reason]++
		}
		if c.database.count("ApplySandbox") < rounds+5 {
			return "the sandbox was not reconciled often enough"
		}
		return cmp.Diff(map[string]int{"APIKeyIssued": 1}, reasons)
	})
}
