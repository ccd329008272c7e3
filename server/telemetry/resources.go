package telemetry

import (
	"maps"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Resources counts custom resources by their conditions. The number of time series depends on the number of different
// reasons, not of resources. A time series disappears with its last resource.
type Resources struct {
	mu         sync.Mutex
	known      map[resourceName]ResourceState
	ready      map[readyLabels]int
	conditions map[conditionLabels]int
	counted    func() bool
}

// resourceName names one resource.
type resourceName struct{ kind, key string }

type readyLabels struct{ kind, ready, reason string }

type conditionLabels struct{ kind, condition, status, reason string }

// Condition is a condition of a resource.
type Condition struct{ Type, Status, Reason string }

// ResourceState is the conditions of a resource.
type ResourceState struct {
	Ready      Condition
	Conditions []Condition // the other conditions
}

// NewResources returns empty counts and registers their metrics. The metrics are reported only while the function
// counted returns true, so that only the leader of the controller's replicas reports them.
func NewResources(registry prometheus.Registerer, counted func() bool) (*Resources, error) {
	r := &Resources{
		known: map[resourceName]ResourceState{}, ready: map[readyLabels]int{}, conditions: map[conditionLabels]int{}, counted: counted,
	}
	return r, registry.Register(r)
}

// Set replaces the counted conditions of a resource.
func (r *Resources) Set(kind, key string, now ResourceState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := resourceName{kind, key}
	r.count(at, r.known[at], -1)
	r.known[at] = now
	r.count(at, now, 1)
}

// Remove stops counting a resource.
func (r *Resources) Remove(kind, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := resourceName{kind, key}
	r.count(at, r.known[at], -1)
	delete(r.known, at)
}

func (r *Resources) count(at resourceName, s ResourceState, by int) {
	if s.Ready.Status == "" {
		return // was not counted
	}
	add(r.ready, readyLabels{at.kind, s.Ready.Status, s.Ready.Reason}, by)
	for _, c := range s.Conditions {
		add(r.conditions, conditionLabels{at.kind, c.Type, c.Status, c.Reason}, by)
	}
}

func add[K comparable](counts map[K]int, key K, by int) {
	if counts[key] += by; counts[key] == 0 {
		delete(counts, key)
	}
}

var (
	resourcesReady = prometheus.NewDesc("cauri_resources",
		"Resources by kind, and by status and reason of their Ready condition. Reported only by the leader.", []string{"kind", "ready", "reason"},
		nil)
	resourceConditions = prometheus.NewDesc("cauri_resource_conditions",
		"Resources by kind, condition, status and reason, for all conditions but Ready. Reported only by the leader.",
		[]string{"kind", "condition", "status", "reason"}, nil)
)

// Describe implements [prometheus.Collector].
func (*Resources) Describe(out chan<- *prometheus.Desc) {
	out <- resourcesReady
	out <- resourceConditions
}

// Collect implements [prometheus.Collector].
func (r *Resources) Collect(out chan<- prometheus.Metric) {
	if !r.counted() {
		return
	}
	r.mu.Lock()
	ready, conditions := maps.Clone(r.ready), maps.Clone(r.conditions)
	r.mu.Unlock()
	for l, n := range ready {
		out <- prometheus.MustNewConstMetric(resourcesReady, prometheus.GaugeValue, float64(n), l.kind, l.ready, l.reason)
	}
	for l, n := range conditions {
		out <- prometheus.MustNewConstMetric(resourceConditions, prometheus.GaugeValue, float64(n), l.kind, l.condition, l.status, l.reason)
	}
}

// UnreadableNamespaces counts, by resource, the watched namespaces in which the controller may not list that resource. It is
// not registered.
var UnreadableNamespaces = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "cauri_unreadable_namespaces",
	Help: "Namespaces of --watch-namespaces in which the controller may not list a resource, by resource.",
}, []string{"resource"})
