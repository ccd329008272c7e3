// Package alerts evaluates the alert rules with the engine of Prometheus, in a module of its own: nothing of it reaches the product.
package alerts

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
	"sigs.k8s.io/yaml"
)

type rule struct {
	Alert, Expr string
	For         string
}

func rules(t *testing.T) map[string]rule {
	t.Helper()
	content, err := os.ReadFile("../../config/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]rule{}
	for _, group := range file.Groups {
		for _, r := range group.Rules {
			all[r.Alert] = r
		}
	}
	return all
}

// fires reports whether the rule fires in the two hours for which there are these series, a point a minute.
func fires(t *testing.T, r rule, series ...string) bool {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "load 1m\n  "+strings.Join(series, "\n  "))
	start := time.Unix(0, 0)
	engine := promqltest.NewTestEngine(t, false, 0, 1e6)
	query, err := engine.NewRangeQuery(t.Context(), storage, nil, r.Expr, start, start.Add(2*time.Hour), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	matrix, err := query.Exec(t.Context()).Matrix()
	if err != nil {
		t.Fatal(err)
	}
	waits, err := time.ParseDuration(r.For)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range matrix {
		since := found.Floats[0].T
		for i, point := range found.Floats {
			if i > 0 && point.T-found.Floats[i-1].T > time.Minute.Milliseconds() {
				since = point.T
			}
			if point.T-since >= waits.Milliseconds() {
				return true
			}
		}
	}
	return false
}

func TestEveryRuleIsRead(t *testing.T) {
	all := rules(t)
	if len(all) < 15 {
		t.Errorf("only %d rules were found", len(all))
	}
	for name, r := range all {
		if got, want := fires(t, r, "up 1x120"), strings.HasSuffix(name, "Absent"); got != want {
			t.Errorf("nothing runs: %s fires: %v", name, got)
		}
	}
}

// Receivers that are gone are usual after the tests of a CI. Receivers that refuse an operator's callbacks are not, if they go on.
func TestCallbacksFailing(t *testing.T) {
	failed := func(labels, points string) string {
		return `cauri_worker_callback_failures_total{operator="mtn",` + labels + `} ` + points
	}
	const (
		delivered = `cauri_worker_callbacks_total{result="delivered",operator=`
		many, few = "0+5x120", "0+1x120"
	)
	for name, c := range map[string]struct {
		fires  bool
		series []string
	}{
		"refused by all":               {true, []string{failed(`reason="answered_5xx"`, many)}},
		"on two workers":               {true, []string{failed(`reason="tls",pod="a"`, few), failed(`reason="tls",pod="b"`, few)}},
		"for two reasons":              {true, []string{failed(`reason="tls"`, few), failed(`reason="forbidden"`, few)}},
		"refused by most":              {true, []string{failed(`reason="answered_4xx"`, many), delivered + `"mtn"} ` + few}},
		"another operator's delivered": {true, []string{failed(`reason="answered_4xx"`, many), delivered + `"airtel"} 0+90x120`}},
		"refused by few":               {false, []string{failed(`reason="answered_4xx"`, few), failed(`reason="tls"`, few), delivered + `"mtn"} ` + many}},
		"receivers of a CI are gone": {false, []string{
			failed(`reason="connection_refused"`, many), failed(`reason="dns"`, many), failed(`reason="timeout"`, many), failed(`reason="gone"`, many)}},
		"one run of a CI":            {false, []string{failed(`reason="answered_5xx"`, "0x29 0+90x4 360x87")}},
		"a refusal a minute":         {false, []string{failed(`reason="answered_5xx"`, few)}},
		"no callback, and no series": {false, []string{delivered + `"mtn"} ` + many}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fires(t, rules(t)["CauriCallbacksFailing"], c.series...); got != c.fires {
				t.Errorf("fires: %v, want %v", got, c.fires)
			}
		})
	}
}
