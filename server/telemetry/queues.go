package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Queue is the length of one of the workers' queues.
type Queue struct {
	Name      string
	Due       int           // number of due rows that are not leased, counted up to a limit
	Sandboxes int           // number of sandboxes with due rows
	Oldest    time.Duration // lag: time since the oldest row is due; 0 for none
}

// QueueStatistics are the lengths of the workers' queues, over all active sandboxes.
type QueueStatistics struct {
	Queues  []Queue
	Failing int // number of endpoints whose circuit breaker is open; these get one attempt a minute

	UnbalancedAccounts int   // number of floats and SIMs whose balance does not follow from their movements
	ImbalanceUnits     int64 // sum of the differences between their balances and their movements

	ConsoleSessions int // number of sessions of the console that have not expired, counted up to a limit
}

const (
	// refreshInterval is the time between two reads of the statistics. It is independent of the number of scrapes.
	refreshInterval = 10 * time.Second
	refreshTimeout  = 5 * time.Second
	// statisticsValidFor is the age up to which statistics are reported.
	statisticsValidFor = 6 * refreshInterval
)

// QueueMonitor reads the queue statistics periodically, and reports the last result as metrics.
type QueueMonitor struct {
	read func(context.Context) (QueueStatistics, error)
	last atomic.Pointer[datedStatistics]
}

type datedStatistics struct {
	QueueStatistics
	at time.Time
}

// NewQueueMonitor returns a monitor and registers its metrics. [QueueMonitor.Run] updates them.
func NewQueueMonitor(registry prometheus.Registerer, read func(context.Context) (QueueStatistics, error)) *QueueMonitor {
	m := &QueueMonitor{read: read}
	registry.MustRegister(m)
	return m
}

// Run refreshes the statistics until ctx ends.
func (m *QueueMonitor) Run(ctx context.Context) {
	ticker := time.NewTicker(refreshInterval)
	defer ticker.Stop()
	for {
		if err := m.Refresh(ctx); err != nil && ctx.Err() == nil {
			slog.DebugContext(ctx, "cannot read the queue statistics", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Refresh reads the statistics once. It returns the error of the database.
func (m *QueueMonitor) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	found, err := m.read(ctx)
	if err != nil {
		return err
	}
	m.last.Store(&datedStatistics{found, time.Now()})
	return nil
}

var (
	queueDue = prometheus.NewDesc("cauri_worker_queue_due",
		"Rows that are due and not leased yet, over all sandboxes, counted up to 10,000 a sandbox and 100,000 in all. "+
			"Every worker reports the same value.", []string{"queue"}, nil)
	queueSandboxes = prometheus.NewDesc("cauri_worker_queue_sandboxes",
		"Sandboxes with rows that are due and not leased yet. Every worker reports the same value.", []string{"queue"}, nil)
	queueOldest = prometheus.NewDesc("cauri_worker_queue_oldest_due_seconds",
		"How long the oldest row has been due, over all sandboxes; 0 if none is due. Every worker reports the same value.", []string{"queue"},
		nil)
	endpointsFailing = prometheus.NewDesc("cauri_worker_endpoints_failing",
		"Webhook endpoints that fail for so long that they get only one attempt a minute. Every worker reports the same value.", nil, nil)
	unbalancedAccounts = prometheus.NewDesc("cauri_ledger_unbalanced_accounts",
		"Floats and SIMs whose balance does not follow from their movements, as the last verification found. "+
			"Every worker reports the same value.", nil, nil)
	imbalanceUnits = prometheus.NewDesc("cauri_ledger_imbalance_units",
		"By how much balances are above or below the sum of their movements, added up without the sign over all sandboxes and currencies, "+
			"in minor units. Every worker reports the same value.", nil, nil)
	consoleSessions = prometheus.NewDesc("cauri_console_sessions",
		"Open sessions of the console, over all sandboxes, counted up to 100,000. Every worker reports the same value.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (*QueueMonitor) Describe(out chan<- *prometheus.Desc) {
	out <- queueDue
	out <- queueSandboxes
	out <- queueOldest
	out <- endpointsFailing
	out <- unbalancedAccounts
	out <- imbalanceUnits
	out <- consoleSessions
}

// Collect implements [prometheus.Collector].
func (m *QueueMonitor) Collect(out chan<- prometheus.Metric) {
	last := m.last.Load()
	if last == nil || time.Since(last.at) > statisticsValidFor {
		return
	}
	for _, q := range last.Queues {
		out <- prometheus.MustNewConstMetric(queueDue, prometheus.GaugeValue, float64(q.Due), q.Name)
		out <- prometheus.MustNewConstMetric(queueSandboxes, prometheus.GaugeValue, float64(q.Sandboxes), q.Name)
		out <- prometheus.MustNewConstMetric(queueOldest, prometheus.GaugeValue, q.Oldest.Seconds(), q.Name)
	}
	out <- prometheus.MustNewConstMetric(endpointsFailing, prometheus.GaugeValue, float64(last.Failing))
	out <- prometheus.MustNewConstMetric(unbalancedAccounts, prometheus.GaugeValue, float64(last.UnbalancedAccounts))
	out <- prometheus.MustNewConstMetric(imbalanceUnits, prometheus.GaugeValue, float64(last.ImbalanceUnits))
	out <- prometheus.MustNewConstMetric(consoleSessions, prometheus.GaugeValue, float64(last.ConsoleSessions))
}
