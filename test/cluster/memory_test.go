package cluster

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// crowd is the namespace of the sandboxes that share the load whose memory is measured.
const crowd = "team-crowd"

// memoryAtRest notes how much memory each part has that has done little yet, as the kubelet sees it: the working set, which is what
// counts against a pod's limit.
func memoryAtRest(t *testing.T, c *cluster) {
	c.before.memory = c.memory(t, time.Now())
}

// memoryUnderLoad tells how much each part has at 500 requests a second, beside what it had at rest.
func memoryUnderLoad(t *testing.T, c *cluster) {
	const load, rate, length, sandboxes = "memory", 500, 25 * time.Second, 5
	yaml := namespaceYAML(crowd)
	var names []string
	var steps []merchantapi.Step
	for n := range sandboxes {
		name := fmt.Sprintf("crowd-%d", n)
		names = append(names, name)
		yaml += sandboxYAML(crowd, name, 0)
		steps = append(steps, merchantapi.Step{Binding: name, Action: merchantapi.Pay, MSISDN: unregistered, Scenario: "success"})
	}
	c.apply(t, yaml+merchantYAML(crowd, names...))
	c.ready(t, crowd)
	m := c.merchant(crowd)
	before := restarts(c.pods(t))
	m.begin(t, load, merchantapi.Plan{Rate: rate, Length: length, Steps: steps})
	begun := time.Now()
	most := map[string]float64{}
	for time.Since(begun) < length {
		for component, mebibytes := range c.memory(t, time.Now()) {
			most[component] = max(most[component], mebibytes)
		}
	}
	report := m.ended(t, load, 2*time.Minute)
	reached := float64(report.Answered-report.Failed) / max(time.Since(begun).Seconds(), length.Seconds())
	unharmed(t, report)
	c.measured("memory load: payments a second, of 500", "%.0f", reached)
	c.measured("  answers, p50 and p99", "%s, %s", report.Took.P50.Round(time.Millisecond), report.Took.P99.Round(time.Millisecond))
	for _, component := range slices.Sorted(maps.Keys(most)) {
		c.measured("memory of each "+component+", at rest and under load", "%.0f MiB, %.0f MiB", c.before.memory[component], most[component])
	}
	if now := restarts(c.pods(t)); now != before {
		t.Errorf(
			"containers were started again under load, as those are that need more memory than they may have: %d times, %d before",
			now,
			before,
		)
	}
	d := c.database(t)
	d.drained(t, crowd)
	d.conserved(t)
	d.kept(t, crowd, report.Acknowledged)
	for _, name := range names {
		d.delivered(t, m, name)
	}
	c.kubectl(t, "delete", "namespace", crowd, "--wait=false")
}

// memory waits until the kubelet has looked at each pod of the installation after a moment, and returns the largest working set of each
// component's pods, in MiB.
func (c *cluster) memory(t *testing.T, after time.Time) map[string]float64 {
	t.Helper()
	components := map[string]string{} // of pods
	nodes := map[string]bool{}
	for _, pod := range c.pods(t) {
		if pod.Status.Phase == corev1.PodRunning {
			components[pod.Name], nodes[pod.Spec.NodeName] = pod.Labels["app.kubernetes.io/component"], true
		}
	}
	var most map[string]float64
	eventually(t, time.Minute, func() error {
		most = map[string]float64{}
		seen := 0
		for node := range nodes {
			for pod, set := range c.workingSets(t, node) {
				if component := components[pod]; component != "" && set.at.After(after.Truncate(time.Second)) {
					most[component] = max(most[component], float64(set.bytes)/(1<<20))
					seen++
				}
			}
		}
		if seen < len(components) {
			return fmt.Errorf("the kubelet tells the memory of %d pods of %d", seen, len(components))
		}
		return nil
	})
	return most
}

type workingSet struct {
	at    time.Time
	bytes uint64
}

// workingSets are those of the installation's pods on a node.
func (c *cluster) workingSets(t *testing.T, node string) map[string]workingSet {
	t.Helper()
	type memory struct {
		Time            time.Time
		WorkingSetBytes uint64
	}
	var summary struct {
		Pods []struct {
			PodRef     struct{ Name, Namespace string }
			Containers []struct{ Memory memory }
		}
	}
	c.resource(t, "/api/v1/nodes/"+node+"/proxy/stats/summary", &summary)
	sets := map[string]workingSet{}
	for _, pod := range summary.Pods {
		if pod.PodRef.Namespace != system {
			continue
		}
		set := workingSet{}
		for _, container := range pod.Containers {
			set.bytes += container.Memory.WorkingSetBytes
			set.at = container.Memory.Time
		}
		sets[pod.PodRef.Name] = set
	}
	return sets
}
