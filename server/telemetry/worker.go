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
	DeliveryLost         = "lost"       // the attempt took longer than its lease, and another worker has the event
	DeliveryUnrecorded   = "unrecorded" // the database was unavailable; the event will be sent again
)

// Results of an advance of a clock.
const (
	AdvanceReached = "reached"
	AdvanceStopped = "stopped" // the sandbox was suspended
)

// Results of a check of a receiver that has no letter.
const (
	CheckUngraded = "ungraded" // nothing follows from the answers
	CheckProblem  = "problem"  // it could not be run
	CheckCanceled = "canceled" // by a reset, or another worker has it
)

var (
	// lagBuckets are the histogram buckets for lag, in seconds.
	lagBuckets = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
	// attemptBuckets are the histogram buckets for the duration of an attempt, in seconds, up to its timeout.
	attemptBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	// checkBuckets are the histogram buckets for the duration of a check of a receiver, in seconds: some thirty attempts.
	checkBuckets = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
)

// Worker has the metrics of a worker. It is safe for concurrent use.
type Worker struct {
	deliveries *prometheus.CounterVec
	attempts   prometheus.Histogram
	retries    prometheus.Counter
	failures   *prometheus.CounterVec
	faults     *prometheus.CounterVec

	settled   *prometheus.CounterVec
	settleLag prometheus.Histogram
	batches   prometheus.Counter
	parked    prometheus.Counter

	forwards  *prometheus.CounterVec
	exchanges *prometheus.HistogramVec
	callbacks *prometheus.CounterVec
	failings  *prometheus.CounterVec

	advances *prometheus.CounterVec
	verdicts *prometheus.CounterVec
	checks   *prometheus.CounterVec
	checking prometheus.Histogram

	removed         *prometheus.CounterVec
	sweeps          *prometheus.CounterVec
	sandboxFailures *prometheus.CounterVec
}

// NewWorker registers the metrics of a worker.
func NewWorker(registry prometheus.Registerer) *Worker {
	w := &Worker{faults: registerFaults(registry, "webhook", "operator")}
	w.registerDelivery(registry)
	w.registerSettlement(registry)
	w.registerOperators(registry)
	w.registerJudgement(registry)
	w.registerSweeps(registry)
	return w
}

// registerDelivery registers the metrics of delivery attempts.
func (w *Worker) registerDelivery(registry prometheus.Registerer) {
	w.deliveries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_deliveries_total", Help: "Webhook delivery attempts, by result.",
	}, []string{"result"})
	w.failures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_delivery_failures_total", Help: "Failed webhook delivery attempts, by kind of failure.",
	}, []string{"reason"})
	w.attempts = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "cauri_worker_delivery_duration_seconds", Help: "Duration of webhook delivery attempts.", Buckets: attemptBuckets,
	})
	w.retries = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "cauri_worker_delivery_retries_total", Help: "Webhook delivery attempts that were retries.",
	})
	startAtZero(w.deliveries, DeliveryAcknowledged, DeliveryRetried, DeliveryFailed, DeliveryUnsendable, DeliveryLost,
		DeliveryUnrecorded)
	registry.MustRegister(w.deliveries, w.failures, w.attempts, w.retries)
}

// registerSettlement registers the metrics of the settlement of transactions.
func (w *Worker) registerSettlement(registry prometheus.Registerer) {
	w.settled = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_settled_total", Help: "Transactions settled, by final status.",
	}, []string{"status"})
	w.settleLag = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "cauri_worker_settle_lag_seconds", Help: "Time from when a transaction was due to when it was settled.",
		Buckets: lagBuckets,
	})
	w.batches = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "cauri_worker_settlement_batches_total", Help: "Database transactions that settled at least one payment.",
	})
	w.parked = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "cauri_worker_parked_total",
		Help: "Transactions whose payer had not answered when they were due. They wait for an answer or for expiry.",
	})
	registry.MustRegister(w.settled, w.settleLag, w.batches, w.parked)
}

// registerOperators registers the metrics of exchanges with operators, and of callbacks of the operators' own APIs.
func (w *Worker) registerOperators(registry prometheus.Registerer) {
	w.forwards = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_forwards_total",
		Help: "Exchanges with operators about forwarded collections, by operator and resulting status. PENDING is asked again later.",
	}, []string{"operator", "status"})
	w.exchanges = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "cauri_worker_forward_duration_seconds", Help: "Duration of exchanges with operators.", Buckets: attemptBuckets,
	}, []string{"operator"})
	w.callbacks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_callbacks_total", Help: "Callbacks of the operators' own APIs, by operator and result.",
	}, []string{"operator", "result"})
	w.failings = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_callback_failures_total",
		Help: "Failed callbacks of the operators' own APIs, by operator and kind of failure.",
	}, []string{"operator", "reason"})
	registry.MustRegister(w.forwards, w.exchanges, w.callbacks, w.failings)
}

// registerJudgement registers the metrics of expectations, and of checks of receivers.
func (w *Worker) registerJudgement(registry prometheus.Registerer) {
	w.verdicts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_expectations_total", Help: "Expectations that were decided, by verdict.",
	}, []string{"verdict"})
	w.checks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_receiver_checks_total",
		Help: "Checks of receivers that ended, by letter from A to F, or by why there is no letter.",
	}, []string{"result"})
	w.checking = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "cauri_worker_receiver_check_duration_seconds", Help: "Duration of checks of receivers that ran to their end.",
		Buckets: checkBuckets,
	})
	startAtZero(w.verdicts, "Met", "Failed")
	startAtZero(w.checks, "A", "B", "C", "D", "E", "F", CheckUngraded, CheckProblem, CheckCanceled)
	registry.MustRegister(w.verdicts, w.checks, w.checking)
}

// registerSweeps registers the metrics of the work and the failures of sweeps.
func (w *Worker) registerSweeps(registry prometheus.Registerer) {
	w.advances = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_clock_advances_total",
		Help: "Advances of sandboxes' clocks, by result: the clock reached its target, or a suspension stopped it.",
	}, []string{"result"})
	w.removed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_removed_rows_total", Help: "Rows removed because their retention time was over.",
	}, []string{"kind"})
	w.sweeps = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_sweep_failures_total", Help: "Failed runs of a sweep, by sweep. Each is retried.",
	}, []string{"sweep"})
	w.sandboxFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_worker_sandbox_failures_total",
		Help: "Failures of a sweep in one sandbox alone, by sweep. " +
			"The sweep skips the sandbox for a while; the status of its resource says why.",
	}, []string{"sweep"})
	startAtZero(w.advances, AdvanceReached, AdvanceStopped)
	startAtZero(w.sandboxFailures, "settlement", "delivery", "passthrough", "callbacks", "retention", "purge", "clock", "verification", "expectations")
	registry.MustRegister(w.advances, w.removed, w.sweeps, w.sandboxFailures)
}

// startAtZero initializes these values of a counter's label with 0, so that Prometheus sees the first count as an
// increase.
func startAtZero(counter *prometheus.CounterVec, values ...string) {
	for _, value := range values {
		counter.WithLabelValues(value)
	}
}

// Attempt is the result of a delivery attempt.
type Attempt struct {
	Result   string // one of the constants above
	Reason   string // kind of failure, from a fixed set; empty for an acknowledged attempt
	Duration time.Duration
	Retry    bool // whether there was an earlier attempt
}

// Attempted counts a delivery attempt.
func (w *Worker) Attempted(a Attempt) {
	if w == nil {
		return
	}
	w.deliveries.WithLabelValues(a.Result).Inc()
	if a.Result == DeliveryUnsendable {
		return // nothing was sent, so there is no duration
	}
	w.attempts.Observe(a.Duration.Seconds())
	if a.Retry {
		w.retries.Inc()
	}
	if a.Reason != "" {
		w.failures.WithLabelValues(a.Reason).Inc()
	}
}

// WithFault counts a delivery attempt or a callback to which a fault of this kind applied.
func (w *Worker) WithFault(kind string) {
	if w != nil {
		w.faults.WithLabelValues(kind).Inc()
	}
}

// Settled counts a settled transaction. The parameter lag is the time since the transaction was due; nil if the
// transaction was not due by database time.
func (w *Worker) Settled(status string, lag *time.Duration) {
	if w == nil {
		return
	}
	w.settled.WithLabelValues(status).Inc()
	if lag != nil {
		w.settleLag.Observe(max(0, *lag).Seconds())
	}
}

// Batch counts a database transaction that settled payments. The parameter parked is the number of payments that still
// wait for their payer.
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

// CalledBack counts a callback of an operator's own API. The parameter result is one of the results of a delivery
// attempt, the parameter reason is the kind of failure of one that failed.
func (w *Worker) CalledBack(operator, result, reason string) {
	if w == nil {
		return
	}
	w.callbacks.WithLabelValues(operator, result).Inc()
	if result == DeliveryFailed {
		w.failings.WithLabelValues(operator, reason).Inc()
	}
}

// Advanced counts the end of an advance of a clock.
func (w *Worker) Advanced(result string) {
	if w != nil {
		w.advances.WithLabelValues(result).Inc()
	}
}

// Removed counts rows that were removed because their retention time was over.
func (w *Worker) Removed(kind string, rows int) {
	if w != nil && rows > 0 {
		w.removed.WithLabelValues(kind).Add(float64(rows))
	}
}

// ExpectationDecided counts expectations that got a verdict.
func (w *Worker) ExpectationDecided(verdict string, count int) {
	if w != nil && count > 0 {
		w.verdicts.WithLabelValues(verdict).Add(float64(count))
	}
}

// ReceiverChecked counts a check of a receiver that ended, by its letter or by one of the constants above. The parameter
// took is nil for a check that did not run to its end.
func (w *Worker) ReceiverChecked(result string, took *time.Duration) {
	if w == nil {
		return
	}
	w.checks.WithLabelValues(result).Inc()
	if took != nil {
		w.checking.Observe(took.Seconds())
	}
}

// SandboxFailed counts a sweep that failed only in one sandbox.
func (w *Worker) SandboxFailed(sweep string) {
	if w != nil {
		w.sandboxFailures.WithLabelValues(sweep).Inc()
	}
}

// SweepFailed counts a failed run of a sweep, which will be retried.
func (w *Worker) SweepFailed(sweep string) {
	if w != nil {
		w.sweeps.WithLabelValues(sweep).Inc()
	}
}
