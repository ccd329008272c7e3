package faults

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/test/system"
)

// installation is one of several behind one address, with one team.
type installation struct {
	*fixture
	name, team string
	cluster    *system.Cluster
	api        *system.API
	worker     *system.Worker
	controller *system.Controller
	uri, key   string // of the team's sandbox
	payments   int
}

// Two installations share an address, by the paths of their teams, as docs/scaling.md has it. First the database of one is stopped, then
// all of its processes. The other's team notices nothing. With CAURI_TEST_WHOLE=1, Prometheus evaluates the alerts over the metrics.
func TestTwoInstallationsBehindOneAddress(t *testing.T) {
	t.Parallel()
	cluster, err := system.StartCluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Close() })
	kubectl(t, cluster, "", "apply", "--server-side", "-f", "../../config/crd/cauri.dev_sandboxenvironments.yaml",
		"-f", "../../config/crd/cauri.dev_testclients.yaml", "-f", "../../config/crd/cauri.dev_expectations.yaml")
	routes := http.NewServeMux()
	address := httptest.NewServer(routes)
	t.Cleanup(address.Close)
	stops, err := system.StartPostgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stops.Close() })
	first := install(t, sharedPostgres(t), cluster, routes, address.URL, "first", "team-a")
	second := install(t, stops, cluster, routes, address.URL, "second", "team-b")
	if first.key == second.key {
		t.Error("both sandboxes have one key")
	}
	both := func(wantFirst, wantSecond int) {
		t.Helper()
		first.pays(wantFirst)
		second.pays(wantSecond)
	}
	both(http.StatusCreated, http.StatusCreated)
	second.with(first.key, http.StatusUnauthorized)
	running := first.scrape() + second.scrape()

	if err := second.Postgres.Stop(system.Fast); err != nil {
		t.Fatal(err)
	}
	refused := second.pays(http.StatusServiceUnavailable)
	var body struct{ Error string }
	if err := json.Unmarshal(refused.body, &body); err != nil || body.Error != "unavailable" || refused.header.Get("Retry-After") == "" {
		t.Errorf("without its database the second installation answers %s, Retry-After %q", refused.body, refused.header.Get("Retry-After"))
	}
	whole := os.Getenv("CAURI_TEST_WHOLE") == "1"
	if whole { // the configuration is old, and the statistics have ended
		second.until(3*time.Minute, "the metrics show it", func(ctx context.Context) error {
			second.pays(http.StatusServiceUnavailable)
			metrics := second.scrape()
			if strings.Contains(metrics, "cauri_worker_queue_oldest_due_seconds") || !strings.Contains(metrics, `ready="False",reason="Database`) {
				return errors.New("the worker reports its queues, or the controller no database")
			}
			return nil
		})
	}
	both(http.StatusCreated, http.StatusServiceUnavailable)
	withoutDatabase := first.scrape() + second.scrape()

	for _, process := range []*system.Process{second.api.Process, second.worker.Process, second.controller.Process} {
		process.Kill()
	}
	gone := second.pays(http.StatusBadGateway)
	t.Logf("the proxy answers %d %q for an installation that is not there", gone.status, gone.body)
	both(http.StatusCreated, http.StatusBadGateway)
	stopped := first.scrape()
	first.audited()
	if !whole {
		return
	}
	for what, c := range map[string]struct {
		after string
		want  []string
	}{
		"both run": {running, nil},
		"the second's database is stopped": {withoutDatabase, []string{
			"second CauriAPIErrors", "second CauriConfigStale", "second CauriResourcesNotReady", "second CauriSweepFailing", "second CauriWorkersAbsent",
		}},
		"the second's processes are not there": {stopped, []string{"second CauriAPIAbsent", "second CauriControllerAbsent", "second CauriWorkersAbsent"}},
	} {
		if diff := cmp.Diff(c.want, alerts(t, running, c.after)); diff != "" {
			t.Errorf("%s: alerts (-want +got):\n%s", what, diff)
		}
	}
}

// install starts an installation with its database, a team and its sandbox, and routes the team's path to it.
func install(
	t *testing.T, postgres *system.Postgres, cluster *system.Cluster, routes *http.ServeMux, address, name, team string,
) *installation {
	t.Helper()
	i := &installation{fixture: openFixture(t, postgres), name: name, team: team, cluster: cluster}
	i.api = i.fixture.api("api", "--base-url="+address)
	i.worker = i.fixture.worker("worker")
	kubectl(t, cluster, "", "create", "namespace", team)
	controller, err := i.StartController(t.Context(), cluster.Kubeconfig, 2*time.Minute,
		"--base-url="+address, "--watch-namespaces="+team, "--installation="+name)
	i.must(err)
	i.controller = controller
	to, err := url.Parse(i.api.URL)
	i.must(err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	routes.Handle("/sandboxes/"+team+"/", proxy)

	kubectl(t, cluster, fmt.Sprintf(`
apiVersion: cauri.dev/v1alpha1
kind: SandboxEnvironment
metadata: {name: checkout, namespace: %[1]s}
spec:
  environments: [{operator: mtn, country: RW}]
  stores: [{slug: shop}]
---
apiVersion: cauri.dev/v1alpha1
kind: TestClient
metadata: {name: alice, namespace: %[1]s}
spec: {sandboxRef: {name: checkout}, msisdn: "+250788000001", balance: 1000000}
`, team), "apply", "-f", "-")
	kubectl(t, cluster, "", "wait", "-n", team, "--for=condition=Ready", "--timeout=120s", "sandboxenvironment/checkout", "testclient/alice")
	i.uri, i.key = i.secret("uri"), i.secret("api-key")
	if want := address + "/sandboxes/" + team + "/checkout"; i.uri != want {
		t.Errorf("the uri of %s is %s, want %s", team, i.uri, want)
	}
	return i
}

func (i *installation) secret(key string) string {
	i.t.Helper()
	encoded := kubectl(i.t, i.cluster, "", "get", "secret", "checkout-credentials", "-n", i.team, "-o=jsonpath={.data."+key+"}")
	text, err := base64.StdEncoding.DecodeString(encoded)
	i.must(err)
	return string(text)
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// pays makes a payment at the common address, and expects a status. A new api may not know the key yet.
func (i *installation) pays(want int) answer {
	i.t.Helper()
	return i.with(i.key, want)
}

// with makes a payment with a key.
func (i *installation) with(key string, want int) (got answer) {
	i.t.Helper()
	i.payments++
	body, err := json.Marshal(system.NewPayment(fmt.Sprintf("%s-%d", i.team, i.payments), "+250788000001", ""))
	i.must(err)
	i.until(time.Minute, fmt.Sprintf("a payment of %s is answered %d", i.team, want), func(ctx context.Context) error {
		got, err = send(ctx, i.uri+"/api/v1/payments", key, body)
		if err == nil && got.status != want {
			err = fmt.Errorf("the answer is %d %s", got.status, got.body)
		}
		return err
	})
	return got
}

func send(ctx context.Context, to, key string, body []byte) (got answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(string(body)))
	if err != nil {
		return got, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return got, err
	}
	defer func() { _ = response.Body.Close() }()
	got.status, got.header = response.StatusCode, response.Header
	got.body, err = io.ReadAll(response.Body)
	return got, err
}

// scrape is what Prometheus reads of the processes, with the labels that a ServiceMonitor gives: a series a line, and its value.
func (i *installation) scrape() string {
	i.t.Helper()
	var series strings.Builder
	api, err := i.api.Metrics(i.t.Context())
	i.must(err)
	for component, text := range map[string]string{"api": api, "worker": i.get(i.worker.HealthURL + "/metrics"), "controller": i.get(i.controller.MetricsURL)} {
		labels := fmt.Sprintf("namespace=%q,pod=\"cauri-%s-7f-x\"", i.name, component)
		for line := range strings.Lines(text) {
			metric, value, found := strings.Cut(strings.TrimSpace(line), " ")
			if !found || metric == "#" {
				continue
			}
			if name, own, labelled := strings.Cut(metric, "{"); labelled {
				metric = name + "{" + labels + "," + own
			} else {
				metric += "{" + labels + "}"
			}
			fmt.Fprintln(&series, metric, value)
		}
	}
	return series.String()
}

func (i *installation) get(from string) string {
	i.t.Helper()
	response, err := http.Get(from)
	i.must(err)
	text, err := io.ReadAll(response.Body)
	i.must(errors.Join(err, response.Body.Close()))
	return string(text)
}

// alerts are the alerts that fire in the hour and a half after half an hour with the series of before, by the name of their installation.
// What grew between both, grows as much in each minute.
func alerts(t *testing.T, before, after string) []string {
	t.Helper()
	was, is := values(t, before), values(t, after)
	var series strings.Builder
	both := maps.Clone(was)
	maps.Copy(both, is)
	for _, metric := range slices.Sorted(maps.Keys(both)) {
		name, _, _ := strings.Cut(metric, "{")
		counts := slices.ContainsFunc([]string{"_total", "_bucket", "_count", "_sum"}, func(end string) bool { return strings.HasSuffix(name, end) })
		first, wasThere := was[metric]
		last, isThere := is[metric]
		fmt.Fprint(&series, metric)
		if wasThere {
			fmt.Fprint(&series, " ", decimal(first), "x30")
		} else {
			fmt.Fprint(&series, " _x31")
		}
		switch {
		case !isThere:
			fmt.Fprint(&series, " _x90\n")
		case counts:
			fmt.Fprint(&series, " ", decimal(first), "+", decimal(max(0, last-first)), "x89\n")
		default:
			fmt.Fprint(&series, " ", decimal(last), "x89\n")
		}
	}
	file := filepath.Join(t.TempDir(), "series")
	if err := os.WriteFile(file, []byte(series.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-v", "-run=^TestAlertsOfARun$", ".")
	command.Dir = "../../hack/alerts"
	command.Env = append(os.Environ(), "CAURI_ALERT_SERIES="+file, "CAURI_ALERT_NAMESPACES=first,second")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var fire []string
	for line := range strings.Lines(string(out)) {
		if _, alert, found := strings.Cut(line, "fires: "); found {
			fire = append(fire, strings.TrimSpace(alert))
		}
	}
	slices.Sort(fire)
	return fire
}

// values are the values of Cauri's series and those of its controllers.
func values(t *testing.T, scraped string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(scraped) {
		if !strings.HasPrefix(line, "cauri_") && !strings.HasPrefix(line, "controller_runtime_") {
			continue
		}
		at := strings.LastIndex(line, " ")
		value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		if err != nil {
			t.Fatal(err)
		}
		if value == value { // not NaN, of a summary without values
			all[line[:at]] = value
		}
	}
	return all
}

func decimal(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// kubectl runs the one beside the API server.
func kubectl(t *testing.T, cluster *system.Cluster, input string, args ...string) string {
	t.Helper()
	program := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	command := exec.CommandContext(t.Context(), program, append([]string{"--kubeconfig=" + cluster.Kubeconfig}, args...)...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
	return string(out)
}
