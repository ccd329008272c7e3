package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Results of a delivery attempt.
const (
	DeliveryAcknowledged = "delivered" // the receiver acknowledged the event
	DeliveryRetried      = "retry"     // the event will be sent again
	DeliveryFailed       = "failed"    // the event's retries are used up
	DeliveryUnsendable   = "unsendable"
	DeliveryLost         = "lost"       // the attempt outlasted its lease, and another worker decides
	DeliveryUnrecorded   = "unrecorded" // the database was away; the event will be sent again
)

var (
	// lagBuckets are the limits in seconds of how late something is.
	lagBuckets = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
	// attemptBuckets go up to the time limit of an attempt.
	attemptBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
)

// Worker are the metrics of a worker. Its methods are safe for concurrent use.
type Worker struct {
	deliveries *prometheus.CounterVec
	attempts   prometheus.Histogram
	retries    prometheus.Counter
	failures   *prometheus.CounterVec

	settled   *prometheus.CounterVec
	settleLag prometheus.Histogram
	batches   prometheus.Counter
	parked    prometheus.Counter

	forwards  *prometheus.CounterVec
	exchanges *prometheus.HistogramVec

	removed *prometheus.CounterVec
	sweeps  *prometheus.CounterVec
	alone   *prometheus.CounterVec
}

// NewWorker registers the metrics of a worker.
func NewWorker(registry prometheus.Registerer) *Worker {
	w := &Worker{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_worker_deliveries_total", Help: "Delivery attempts of webhook events, by what became of the event.",
		}, []string{"result"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_worker_delivery_failures_total", Help: "Delivery attempts that were not acknowledged, by the kind of failure.",
		}, []string{"reason"}),
		attempts: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cauri_worker_delivery_duration_seconds", Help: "Time that delivery attempts took.", Buckets: attemptBuckets,
		}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cauri_worker_delivery_retries_total", Help: "Delivery attempts of events that had been attempted before.",
		}),
		settled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_worker_settled_total", Help: "Transactions that were given their outcome, by status.",
		}, []string{"status"}),
		settleLag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cauri_worker_settle_lag_seconds", Help: "Time from when a transaction was due to when it was settled.", Buckets: lagBuckets,
		}),
		batches: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cauri_worker_settlement_batches_total", Help: "Database transactions that settled at least one transaction.",
		}),
		parked: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cauri_worker_parked_total", Help: "Transactions whose payer had not answered when they were due; they wait for an answer or their expiry.",
		}),
		forwards: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_worker_forwards_total",
			Help: "Exchanges with operators about forwarded collections, by operator and by the status that followed; PENDING is asked after again.",
		}, []string{"operator", "status"}),
		exchanges: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cauri_worker_forward_duration_seconds", Help: "Time that exchanges with operators took.", Buckets: attemptBuckets,
		}, []string{"operator"}),
		removed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_worker_removed_rows_total", Help: "Rows removed because they were older than they are kept.",
		}, []string{"kind"}),
		sweeps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_worker_sweep_failures_total", Help: "Sweeps that failed and were tried again, by sweep.",
		}, []string{"sweep"}),
		alone: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_worker_sandbox_failures_total",
			Help: "Failures of a sweep in one sandbox alone, which is left out for a while, by sweep; its resource says why.",
		}, []string{"sweep"}),
	}
	for _, result := range []string{DeliveryAcknowledged, DeliveryRetried, DeliveryFailed, DeliveryUnsendable, DeliveryLost, DeliveryUnrecorded} {
		w.deliveries.WithLabelValues(result)
	}
	for _, sweep := range []string{"settlement", "delivery", "passthrough", "retention", "purge"} {
		w.alone.WithLabelValues(sweep)
	}
	registry.MustRegister(w.deliveries, w.failures, w.attempts, w.retries, w.settled, w.settleLag, w.batches, w.parked,
		w.forwards, w.exchanges, w.removed, w.sweeps, w.alone)
	return w
}

// Attempt is what one delivery attempt came to.
type Attempt struct {
	Result   string // one of the results above
	Reason   string // the kind of failure, from a fixed set; empty where it was acknowledged
	Duration time.Duration
	Retry    bool // the event had been attempted before
}

// Attempted counts a delivery attempt.
func (w *Worker) Attempted(a Attempt) {
	if w == nil {
		return
	}
	w.deliveries.WithLabelValues(a.Result).Inc()
	if a.Result == DeliveryUnsendable {
		return // nothing was sent
	}
	w.attempts.Observe(a.Duration.Seconds())
	if a.Retry {
		w.retries.Inc()
	}
	if a.Reason != "" {
		w.failures.WithLabelValues(a.Reason).Inc()
	}
}

// Settled counts a transaction that was given its outcome so long after it was due.
func (w *Worker) Settled(status string, late time.Duration) {
	if w == nil {
		return
	}
	w.settled.WithLabelValues(status).Inc()
	w.settleLag.Observe(max(0, late).Seconds())
}

// Batch counts a database transaction that settled something, and the transactions whose payer had not answered yet.
func (w *Worker) Batch(parked int) {
	if w == nil {
		return
	}
	w.batches.Inc()
	w.parked.Add(float64(parked))
}

// Forwarded counts an exchange with an operator.
func (w *Worker) Forwarded(operator, status string, took time.Duration) {
	if w == nil {
		return
	}
	w.forwards.WithLabelValues(operator, status).Inc()
	w.exchanges.WithLabelValues(operator).Observe(took.Seconds())
}

// Removed counts rows that were removed for their age.
func (w *Worker) Removed(kind string, rows int) {
	if w != nil && rows > 0 {
		w.removed.WithLabelValues(kind).Add(float64(rows))
	}
}

// SandboxFailed counts a sweep that failed in one sandbox alone.
func (w *Worker) SandboxFailed(sweep string) {
	if w != nil {
		w.alone.WithLabelValues(sweep).Inc()
	}
}

// SweepFailed counts a sweep that will be tried again.
func (w *Worker) SweepFailed(sweep string) {
	if w != nil {
		w.sweeps.WithLabelValues(sweep).Inc()
	}
}
