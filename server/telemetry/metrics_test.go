package telemetry

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
)

var update = flag.Bool("update", false, "write the list of metrics again")

// everything is a registry with all metrics that the processes have of their own, each with a value.
func everything(t *testing.T) *prometheus.Registry {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := RegisterBuildInfo(registry, "api", "test"); err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	RegisterPool(registry, pool.Stat)
	RegisterReplica(registry, func() ReplicaState { return ReplicaState{Usable: true, Answered: 3, Declined: 1} })

	api := NewAPI(registry)
	api.Begin()
	api.End("/v1/payments/{id}", "GET", 200, time.Millisecond)
	api.AuthFailed(AuthMissing)
	api.SignIn(SignInByKey, false)
	api.Recorded("collection", "PENDING")
	api.NotLogged(NotLoggedFull, 2)
	api.StreamOpened()
	api.Told(3)
	api.StreamCutOff()
	RegisterSharedCommits(registry, func() SharedCommits {
		return SharedCommits{Sizes: []int64{0, 5, 2}, Failed: map[string]int64{"lock": 1}, Alone: map[string]int64{"isolated": 1}}
	})
	RegisterConfig(registry, func() ConfigState { return ConfigState{Version: 3, Sandboxes: 2, Age: time.Second, Read: true} })

	worker := NewWorker(registry)
	worker.Attempted(Attempt{Result: DeliveryRetried, Reason: "timeout", Duration: time.Second, Retry: true})
	worker.Settled("SUCCESS", new(time.Second))
	worker.Batch(1)
	worker.Forwarded("mtn", "PENDING", time.Second)
	worker.CalledBack("mtn", DeliveryFailed, "timeout")
	worker.Advanced(AdvanceReached)
	worker.ReceiverChecked("A", new(time.Second))
	worker.Removed("events", 10)
	worker.SweepFailed("settlement")
	monitor := NewQueueMonitor(registry, found(QueueStatistics{Queues: []Queue{{"events", 3, 2, time.Minute}}, Failing: 1,
		UnbalancedAccounts: 1, ImbalanceUnits: 100, ConsoleSessions: 2}))
	if err := monitor.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}

	registry.MustRegister(UnreadableNamespaces)
	UnreadableNamespaces.WithLabelValues("Secret").Set(0)
	resources, err := NewResources(registry, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	resources.Set("TestClient", "a/b", ResourceState{Ready: Condition{"Ready", "False", "InvalidSpec"},
		Conditions: []Condition{{"Stalled", "True", "InvalidSpec"}}})
	return registry
}

func TestMetricsFollowTheConventions(t *testing.T) {
	t.Parallel()
	problems, err := testutil.GatherAndLint(everything(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Names and labels are what dashboards and alerts of others are made of: they change on purpose only, with -update.
func TestMetricsAreTheOnesThatArePromised(t *testing.T) {
	t.Parallel()
	const path = "testdata/metrics.txt"
	got := describe(t, everything(t))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("metrics (-promised +there):\n%s", diff)
	}
}

// describe lists metrics with their types and labels, a line each.
func describe(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range families {
		labels := map[string]bool{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = true
			}
		}
		names := make([]string, 0, len(labels))
		for name := range labels {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(&out, "%s %s {%s}\n", f.GetName(), strings.ToLower(dto.MetricType_name[int32(f.GetType())]), strings.Join(names, ","))
	}
	return out.String()
}

func TestEveryProcessTellsOfItsRuntime(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	MetricsHandler(NewRegistry("api", "1.2.3")).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`cauri_build_info{goversion="go`, `role="api",version="1.2.3"} 1`, "go_goroutines ", "process_open_fds "} {
		if !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%q is missing in\n%s", want, answer.Body)
		}
	}
}

// What a caller makes up must not become a series.
func TestRequestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	api := NewAPI(registry)
	for _, method := range []string{"GET", "BREW", "X1", "X2"} {
		api.Begin()
		api.End("", method, 404, 0)
	}
	want := `
# HELP cauri_api_requests_total Requests answered, by route pattern, method and HTTP status.
# TYPE cauri_api_requests_total counter
cauri_api_requests_total{code="404",method="GET",route="unmatched"} 1
cauri_api_requests_total{code="404",method="other",route="unmatched"} 3
# HELP cauri_api_requests_in_flight Requests that are not answered yet, including those whose answer is held.
# TYPE cauri_api_requests_in_flight gauge
cauri_api_requests_in_flight 0
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "cauri_api_requests_total",
		"cauri_api_requests_in_flight"); err != nil {
		t.Error(err)
	}
}

func TestSharedCommitsAreCountedBySize(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	RegisterSharedCommits(registry, func() SharedCommits { return SharedCommits{Sizes: []int64{0, 5, 2, 1, 1}} })
	want := `
# HELP cauri_api_commit_sandboxes Commits that recorded payments, by the number of sandboxes that shared them.
# TYPE cauri_api_commit_sandboxes histogram
cauri_api_commit_sandboxes_bucket{le="1"} 5
cauri_api_commit_sandboxes_bucket{le="2"} 7
cauri_api_commit_sandboxes_bucket{le="4"} 9
cauri_api_commit_sandboxes_bucket{le="+Inf"} 9
cauri_api_commit_sandboxes_sum 16
cauri_api_commit_sandboxes_count 9
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "cauri_api_commit_sandboxes"); err != nil {
		t.Error(err)
	}
}

// A configuration that was never read has no age: nothing shall be told of it.
func TestConfigIsToldOnceRead(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	state := ConfigState{}
	RegisterConfig(registry, func() ConfigState { return state })
	if n, err := testutil.GatherAndCount(registry); n != 0 || err != nil {
		t.Errorf("%d series before the first reading, %v", n, err)
	}
	state = ConfigState{Read: true, Age: 90 * time.Second}
	want := `
# HELP cauri_api_config_age_seconds Time since the configuration was last confirmed to match the database.
# TYPE cauri_api_config_age_seconds gauge
cauri_api_config_age_seconds 90
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "cauri_api_config_age_seconds"); err != nil {
		t.Error(err)
	}
}

func TestResourcesGoWithTheirSeries(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	leads := false
	r, err := NewResources(registry, func() bool { return leads })
	if err != nil {
		t.Fatal(err)
	}
	ready, bad := Condition{"Ready", "True", "Ready"}, Condition{"Ready", "False", "InvalidSpec"}
	r.Set("SandboxEnvironment", "a/one", ResourceState{Ready: ready})
	r.Set("SandboxEnvironment", "a/two", ResourceState{Ready: ready})
	r.Set("TestClient", "a/one", ResourceState{Ready: bad, Conditions: []Condition{{"Stalled", "True", "InvalidSpec"}}})
	if n, err := testutil.GatherAndCount(registry); n != 0 || err != nil {
		t.Errorf("%d series from a replica that does not lead, %v", n, err)
	}
	leads = true
	expect := func(want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
	}
	const help = "# HELP cauri_resources Resources by kind, and by status and reason of their Ready condition. Reported only by the leader.\n# TYPE cauri_resources gauge\n"
	const helpOthers = "# HELP cauri_resource_conditions Resources by kind, condition, status and reason, for all conditions but Ready. Reported only by the leader.\n# TYPE cauri_resource_conditions gauge\n"
	expect(help + `cauri_resources{kind="SandboxEnvironment",ready="True",reason="Ready"} 2
cauri_resources{kind="TestClient",ready="False",reason="InvalidSpec"} 1
` + helpOthers + `cauri_resource_conditions{condition="Stalled",kind="TestClient",reason="InvalidSpec",status="True"} 1
`)
	r.Set("TestClient", "a/one", ResourceState{Ready: ready}) // fixed
	r.Set("TestClient", "a/one", ResourceState{Ready: ready}) // the same again
	r.Remove("SandboxEnvironment", "a/two")
	r.Remove("SandboxEnvironment", "a/never")
	expect(help + `cauri_resources{kind="SandboxEnvironment",ready="True",reason="Ready"} 1
cauri_resources{kind="TestClient",ready="True",reason="Ready"} 1
`)
	r.Remove("SandboxEnvironment", "a/one")
	r.Remove("TestClient", "a/one")
	if n, err := testutil.GatherAndCount(registry); n != 0 || err != nil {
		t.Errorf("%d series of resources that are gone, %v", n, err)
	}
}
