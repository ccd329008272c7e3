package cluster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// trading is what a merchant does all day: most of it is answered at once, some answers are held for up to 14 s, which is
// longer than a pod that is told to stop goes on taking requests.
func trading() []merchantapi.Step {
	pay := func(binding, msisdn, scenario string) merchantapi.Step {
		return merchantapi.Step{Binding: binding, Action: merchantapi.Pay, MSISDN: msisdn, Scenario: scenario}
	}
	about := func(binding, action string) merchantapi.Step {
		return merchantapi.Step{Binding: binding, Action: action, MSISDN: unregistered, Scenario: "success"}
	}
	var steps []merchantapi.Step
	for range 4 {
		steps = append(steps, pay(shared, unregistered, "success"), pay(slow, unregistered, "success"), pay(shared, carol, ""),
			pay(shared, unregistered, "low_balance"), about(shared, merchantapi.Retrieve), about(shared, merchantapi.Refund),
			merchantapi.Step{Binding: shared, Action: merchantapi.Disburse, MSISDN: bob}, pay(shared, unregistered, "success"),
			pay(slow, unregistered, "cancelled"), about(slow, merchantapi.Retrieve))
	}
	return append(steps, pay(slow, unregistered, "timeout"))
}

// upgraded replaces every pod of Cauri under load, and nobody notices.
func upgraded(t *testing.T, c *cluster) {
	const load, rate = "upgrade", 50
	m := c.merchant(team)
	before := c.processes(t)
	m.begin(t, load, merchantapi.Plan{Rate: rate, Steps: trading()})
	m.answered(t, load, 2*rate)
	begun := time.Now()
	c.helm(t, "upgrade", release, "charts/cauri", "--reuse-values", "--set", "image.tag="+next, "--wait", "--timeout", "4m")
	c.rolledOut(t)
	c.gone(t, before)
	took := time.Since(begun)
	answered := m.report(t, load).Answered
	m.answered(t, load, answered+2*rate) // by those that are new
	report := m.end(t, load)
	unharmed(t, report)
	c.measured("rolling upgrade", "%.0f s", took.Seconds())
	c.measured("  requests during it, at 50 a second", "%d", report.Requests)
	c.measured("  failed, or sent again by the client", "%d", report.Failed+report.Resent)
	c.measured(
		"  answers, p50 and p99 (some are held)",
		"%s, %s",
		report.Took.P50.Round(time.Millisecond),
		report.Took.P99.Round(time.Millisecond),
	)
	c.versioned(t, m, next)

	d := c.database(t)
	d.drained(t, team)
	d.conserved(t)
	d.kept(t, team, report.Acknowledged)
	for _, sandbox := range []string{shared, slow} {
		d.delivered(t, m, sandbox)
	}
}

// versioned checks that all that runs is of an image's version.
func (c *cluster) versioned(t *testing.T, m merchant, tag string) {
	t.Helper()
	want := "cauri.local/cauri:" + tag
	for _, pod := range c.processes(t) {
		images := []string{}
		for _, container := range pod.Spec.Containers {
			images = append(images, container.Image)
		}
		if !slices.Equal(images, []string{want}) {
			t.Errorf("%s runs %v, not %s", pod.Name, images, want)
		}
	}
	_, health := m.get(t, shared, "/health")
	if now := fmt.Sprint(health["version"]); (now == c.before.version) != (tag == image) {
		t.Errorf("/v1/health tells of version %s with the image %s; with the image %s it was %s", now, tag, image, c.before.version)
	}
}
