package controllers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Metrics follow the resources: by kind and reason, and gone with the last one.
func TestResourcesAreCounted(t *testing.T) {
	c := newCluster(t)
	registry := prometheus.NewRegistry()
	counts, err := telemetry.NewResources(registry, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	c.start(func(o *controllers.Options) { o.Counts = counts })
	sandbox := c.newSandbox()
	c.create(sandbox)
	orphan := c.newTestClient("orphan", "+250788000009", func(tc *v1alpha1.TestClient) { tc.Spec.SandboxRef.Name = "nowhere" })
	c.create(orphan)
	c.told(registry, map[string]float64{
		"kind=SandboxEnvironment ready=True reason=Ready ":    1,
		"kind=TestClient ready=False reason=SandboxNotFound ": 1,
	})
	c.delete(orphan)
	c.told(registry, map[string]float64{"kind=SandboxEnvironment ready=True reason=Ready ": 1})
	c.delete(sandbox)
	c.told(registry, map[string]float64{})
}

// told waits until cauri_resources has exactly these series.
func (c *cluster) told(registry *prometheus.Registry, want map[string]float64) {
	c.Helper()
	c.until(func(context.Context) string {
		families, err := registry.Gather()
		if err != nil {
			return err.Error()
		}
		got := map[string]float64{}
		for _, f := range families {
			if f.GetName() != "cauri_resources" {
				continue
			}
			for _, m := range f.GetMetric() {
				labels := ""
				for _, l := range m.GetLabel() {
					labels += l.GetName() + "=" + l.GetValue() + " "
				}
				got[labels] = m.GetGauge().GetValue()
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
		return ""
	})
}
