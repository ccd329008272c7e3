// Package monitoring holds the dashboard, the alert rules and their documentation to the metrics that there are.
package monitoring

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers what it measures
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"
)

const (
	folder     = "../../config/monitoring/"
	metricList = "../../server/telemetry/testdata/metrics.txt"
	operations = "../../docs/operations.md"
)

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type ruleFile struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	} `json:"groups"`
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func rules(t *testing.T) ruleFile {
	t.Helper()
	var file ruleFile
	if err := yaml.UnmarshalStrict([]byte(read(t, folder+"rules.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// panel is what the test needs to know of a panel of Grafana.
type panel struct {
	ID      int    `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	GridPos struct{ X, Y, W, H int }
	Targets []struct {
		Expr, RefID, LegendFormat string
	} `json:"targets"`
}

func panels(t *testing.T) []panel {
	t.Helper()
	var dashboard struct {
		SchemaVersion int
		Panels        []panel
	}
	if err := json.Unmarshal([]byte(read(t, folder+"dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	if dashboard.SchemaVersion < 36 {
		t.Errorf("schema version %d is older than Grafana 10", dashboard.SchemaVersion)
	}
	return dashboard.Panels
}

// expressions are those of all rules and panels, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, group := range rules(t).Groups {
		for _, r := range group.Rules {
			all["alert "+r.Alert] = r.Expr
		}
	}
	for _, p := range panels(t) {
		for _, target := range p.Targets {
			all["panel "+p.Title+" "+target.RefID] = target.Expr
		}
	}
	return all
}

var (
	quoted     = regexp.MustCompile(`"[^"]*"`)
	window     = regexp.MustCompile(`\[[^\]]*\]`)
	grouping   = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	selector   = regexp.MustCompile(`\{[^}]*\}`)
	identifier = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_:]*(\s*\()?`)
	selected   = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_:]*)\{([^}]*)\}`)
	label      = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)`)
)

// metricsIn are the names of the metrics in an expression: what is no function, no keyword, no label and no text.
func metricsIn(expr string) []string {
	for _, noise := range []*regexp.Regexp{quoted, window, selector, grouping} {
		expr = noise.ReplaceAllString(expr, " ")
	}
	var names []string
	for _, name := range identifier.FindAllString(expr, -1) {
		if !strings.HasSuffix(name, "(") && !slices.Contains([]string{"and", "or", "unless", "sum", "max"}, name) {
			names = append(names, name)
		}
	}
	return names
}

// exposed are the metrics that the processes have, with their labels. Those of the libraries are not known by label: nil.
func exposed(t *testing.T) map[string][]string {
	t.Helper()
	known := map[string][]string{}
	for line := range strings.Lines(read(t, metricList)) {
		fields := strings.Fields(line)
		name, labels := fields[0], strings.Split(strings.Trim(fields[2], "{}"), ",")
		if fields[1] == "histogram" {
			known[name+"_bucket"] = append(labels, "le")
			known[name+"_sum"], known[name+"_count"] = labels, labels
			continue
		}
		known[name] = labels
	}
	controllers, ok := ctrlmetrics.Registry.(prometheus.Collector)
	if !ok {
		t.Fatal("the registry of the controllers does not describe itself")
	}
	process := collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})
	for _, c := range []prometheus.Collector{controllers, collectors.NewGoCollector(), process} {
		descriptions := make(chan *prometheus.Desc)
		go func() { c.Describe(descriptions); close(descriptions) }()
		for d := range descriptions {
			_, name, _ := strings.Cut(d.String(), `fqName: "`)
			name, _, _ = strings.Cut(name, `"`)
			known[name] = nil
		}
	}
	return known
}

func TestExpressionsAskForMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	known := exposed(t)
	for where, expr := range expressions(t) {
		names := metricsIn(expr)
		if len(names) == 0 {
			t.Errorf("%s asks for nothing: %s", where, expr)
		}
		for _, name := range names {
			if _, ok := known[name]; !ok {
				t.Errorf("%s asks for %s, which no process has", where, name)
			}
		}
		for _, s := range selected.FindAllStringSubmatch(expr, -1) {
			for _, l := range label.FindAllStringSubmatch(quoted.ReplaceAllString(s[2], ""), -1) {
				if labels := known[s[1]]; labels != nil && !slices.Contains(labels, l[1]) {
					t.Errorf("%s asks for %s by %s, which it does not have", where, s[1], l[1])
				}
			}
		}
		for _, pair := range []string{"()", "{}", "[]"} {
			if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
				t.Errorf("%s: %s do not match in %s", where, pair, expr)
			}
		}
	}
}

func TestMetricsInAnExpression(t *testing.T) {
	t.Parallel()
	const expr = `histogram_quantile(0.9, sum by (le) (rate(a_bucket{b="c d"}[5m]))) > 5 and max (e:f) / on (g) group_left (h) i`
	if diff := cmp.Diff([]string{"a_bucket", "e:f", "i"}, metricsIn(expr)); diff != "" {
		t.Error(diff)
	}
}

// Every metric of Cauri's own is on the dashboard and in the table of the documentation.
func TestEveryMetricIsShownAndExplained(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, expr := range expressions(t) {
		for _, name := range metricsIn(expr) {
			shown[strings.TrimSuffix(name, "_bucket")] = true
		}
	}
	documented := read(t, operations)
	for line := range strings.Lines(read(t, metricList)) {
		name := strings.Fields(line)[0]
		if !strings.Contains(documented, "| `"+name+"`") {
			t.Errorf("%s has no row in docs/operations.md", name)
		}
		if !shown[name] && !slices.Contains([]string{"cauri_api_config_version", "cauri_api_config_sandboxes",
			"cauri_database_acquires_canceled_total", "cauri_worker_forward_duration_seconds"}, name) {
			t.Errorf("%s is neither on the dashboard nor in a rule", name)
		}
	}
	for _, name := range regexp.MustCompile(`(?m)^\| `+"`"+`(cauri_[a-z_]+)`+"`").FindAllStringSubmatch(documented, -1) {
		if !strings.Contains(read(t, metricList), name[1]+" ") {
			t.Errorf("docs/operations.md explains %s, which is no metric", name[1])
		}
	}
}

func TestAlertsSayWhatToDo(t *testing.T) {
	t.Parallel()
	documented := read(t, operations)
	const runbook = "https://github.com/cauri-dev/cauri/blob/main/docs/operations.md#"
	for _, group := range rules(t).Groups {
		for _, r := range group.Rules {
			if r.For == "" || !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
				t.Errorf("%s: for %q, severity %q", r.Alert, r.For, r.Labels["severity"])
			}
			if keys := slices.Sorted(maps.Keys(r.Annotations)); !slices.Equal(keys, []string{"description", "runbook_url", "summary"}) {
				t.Errorf("%s has the annotations %v", r.Alert, keys)
			}
			if r.Annotations["runbook_url"] != runbook+strings.ToLower(r.Alert) || !strings.Contains(documented, "\n#### "+r.Alert+"\n") {
				t.Errorf("%s has no section in docs/operations.md, or does not point there: %s", r.Alert, r.Annotations["runbook_url"])
			}
		}
	}
}

// A failed expectation is the result of a team's test, and no problem of the platform team.
func TestAFailedExpectationIsNoAlert(t *testing.T) {
	t.Parallel()
	for where, expr := range expressions(t) {
		counted := strings.Contains(expr, `condition="Stalled"`) || strings.Contains(expr, `ready!="True"`)
		if counted && !strings.Contains(expr, `kind!="Expectation"`) {
			t.Errorf("%s counts failed expectations: %s", where, expr)
		}
	}
}

// The rules are there twice, for Prometheus and for its operator, and must be the same.
func TestBothRuleFilesAreTheSame(t *testing.T) {
	t.Parallel()
	var object struct {
		Kind string   `json:"kind"`
		Spec ruleFile `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(read(t, folder+"prometheusrule.yaml")), &object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rules(t), object.Spec); diff != "" || object.Kind != "PrometheusRule" {
		t.Errorf("%s (-rules.yaml +prometheusrule.yaml):\n%s", object.Kind, diff)
	}
}

func TestPanelsStandBesideEachOther(t *testing.T) {
	t.Parallel()
	all := panels(t)
	for i, p := range all {
		if p.GridPos.X < 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s reaches over the edge", p.Title)
		}
		for _, q := range all[:i] {
			if p.ID == q.ID {
				t.Errorf("%s and %s have one id", p.Title, q.Title)
			}
			a, b := p.GridPos, q.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s stands on %s", p.Title, q.Title)
			}
		}
	}
}
