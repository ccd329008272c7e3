package alerts

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// rendered are the rules of the chart for the release cauri in cauri-system.
func rendered(t *testing.T) map[string]rule {
	t.Helper()
	content, err := os.ReadFile("../../test/chart/testdata/rendered/platform.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]rule{}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var object struct {
			Kind string
			Spec struct{ Groups []struct{ Rules []rule } }
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil || object.Kind != "PrometheusRule" {
			continue
		}
		for _, group := range object.Spec.Groups {
			for _, r := range group.Rules {
				all[r.Alert] = r
			}
		}
	}
	return all
}

// The rules of an installation see its own pods. What another one does, in another namespace or beside it, neither hides that this
// one is down nor is an alert of this one.
func TestInstallationsHaveAlertsOfTheirOwn(t *testing.T) {
	all := rendered(t)
	if len(all) < 15 {
		t.Fatalf("only %d rules were found", len(all))
	}
	for where, c := range map[string]struct {
		namespace, fullname string
		own                 bool
	}{
		"its own":              {"cauri-system", "cauri", true},
		"in another namespace": {"other", "cauri", false},
		"beside it":            {"cauri-system", "cauri-second", false},
		"beside it, too":       {"cauri-system", "second-cauri", false},
	} {
		labels := func(component string) string {
			return `namespace="` + c.namespace + `",pod="` + c.fullname + "-" + component + `-7f-x"`
		}
		works := []string{
			`cauri_resources{kind="SandboxEnvironment",ready="True",reason="Ready",` + labels("controller") + `} 1x120`,
			`cauri_worker_queue_oldest_due_seconds{queue="events",` + labels("worker") + `} 900x120`,
			`cauri_api_config_age_seconds{` + labels("api") + `} 1x120`,
		}
		for name, want := range map[string]bool{
			"CauriAPIAbsent": !c.own, "CauriControllerAbsent": !c.own, "CauriWorkersAbsent": !c.own, "CauriEventsWait": c.own,
		} {
			if got := fires(t, all[name], works...); got != want {
				t.Errorf("an installation %s: %s fires: %v, want %v", where, name, got, want)
			}
		}
	}
}

// TestAlertsOfARun is for test/faults, which measures two installations, each in a namespace of its name, and writes a file with their
// series.
func TestAlertsOfARun(t *testing.T) {
	file := os.Getenv("CAURI_ALERT_SERIES")
	if file == "" {
		t.Skip("test/faults runs it")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	series := strings.Split(strings.TrimSpace(string(content)), "\n")
	for namespace := range strings.SplitSeq(os.Getenv("CAURI_ALERT_NAMESPACES"), ",") {
		for name, r := range rendered(t) {
			r.Expr = strings.ReplaceAll(r.Expr, `namespace="cauri-system"`, `namespace="`+namespace+`"`)
			if fires(t, r, series...) {
				t.Log("fires: " + namespace + " " + name)
			}
		}
	}
}
