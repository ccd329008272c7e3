package telemetry

import "github.com/prometheus/client_golang/prometheus"

// SharedCommits are the counts of commits that payments of several sandboxes may share.
type SharedCommits struct {
	Sizes  []int64          // commits by number of sandboxes
	Failed map[string]int64 // failed commits by cause
	Alone  map[string]int64 // payments that could not share a commit, by reason
}

// RegisterSharedCommits registers the metrics of shared commits.
func RegisterSharedCommits(registry prometheus.Registerer, counts func() SharedCommits) {
	registry.MustRegister(sharedCollector(counts))
}

type sharedCollector func() SharedCommits

var (
	sharedSizes = prometheus.NewDesc("cauri_api_commit_sandboxes",
		"Commits that recorded payments, by the number of sandboxes that shared them.", nil, nil)
	sharedFailed = prometheus.NewDesc("cauri_api_shared_commits_failed_total",
		"Shared commits that failed, by cause: lock, constraint, unavailable, other. Except for unavailable, each payment was tried alone.",
		[]string{"cause"}, nil)
	sharedAlone = prometheus.NewDesc("cauri_api_unshared_payments_total",
		"Payments that could not share a commit, by reason: sandbox_busy, batch_failed, isolated.", []string{"reason"}, nil)
)

// Describe implements [prometheus.Collector].
func (sharedCollector) Describe(out chan<- *prometheus.Desc) {
	out <- sharedSizes
	out <- sharedFailed
	out <- sharedAlone
}

// Collect implements [prometheus.Collector].
func (c sharedCollector) Collect(out chan<- prometheus.Metric) {
	counts := c()
	commits, sandboxes, upTo := uint64(0), 0, map[float64]uint64{}
	for size, n := range counts.Sizes {
		commits += uint64(n)
		sandboxes += size * int(n)
		if size > 0 && size&(size-1) == 0 { // bucket bounds are powers of two
			upTo[float64(size)] = commits
		}
	}
	out <- prometheus.MustNewConstHistogram(sharedSizes, commits, float64(sandboxes), upTo)
	for cause, n := range counts.Failed {
		out <- prometheus.MustNewConstMetric(sharedFailed, prometheus.CounterValue, float64(n), cause)
	}
	for reason, n := range counts.Alone {
		out <- prometheus.MustNewConstMetric(sharedAlone, prometheus.CounterValue, float64(n), reason)
	}
}
