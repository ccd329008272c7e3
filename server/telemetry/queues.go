package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Queue is what waits for the workers at one moment.
type Queue struct {
	Name      string
	Due       int           // what is due, up to a bound
	Sandboxes int           // that have something due
	Oldest    time.Duration // how long what waits longest has been due; 0 where nothing is
}

// Survey is what waits, over all sandboxes that are served.
type Survey struct {
	Queues  []Queue
	Failing int // endpoints that get a single attempt now and then, since they have failed for long
}

const (
	// surveyEvery is the time between two surveys. They do not wait for scrapes, so that many scrapers cost no more than one.
	surveyEvery   = 10 * time.Second
	surveyTimeout = 5 * time.Second
	// surveyKept is how long a survey is told of: one that could not be repeated says nothing of the present.
	surveyKept = 6 * surveyEvery
)

// Surveyor surveys the queues now and then and tells of the last survey.
type Surveyor struct {
	survey func(context.Context) (Survey, error)
	last   atomic.Pointer[surveyed]
}

type surveyed struct {
	Survey
	at time.Time
}

// NewSurveyor makes a surveyor and registers its metrics; [Surveyor.Run] has it survey.
func NewSurveyor(registry prometheus.Registerer, survey func(context.Context) (Survey, error)) *Surveyor {
	s := &Surveyor{survey: survey}
	registry.MustRegister(s)
	return s
}

// Run surveys until ctx ends.
func (s *Surveyor) Run(ctx context.Context) {
	ticker := time.NewTicker(surveyEvery)
	defer ticker.Stop()
	for {
		if err := s.Look(ctx); err != nil && ctx.Err() == nil {
			slog.DebugContext(ctx, "the queues could not be surveyed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Look surveys once.
func (s *Surveyor) Look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, surveyTimeout)
	defer cancel()
	found, err := s.survey(ctx)
	if err != nil {
		return err
	}
	s.last.Store(&surveyed{found, time.Now()})
	return nil
}

var (
	queueDue = prometheus.NewDesc("cauri_worker_queue_due",
		"What is due and was not taken yet, over all sandboxes, counted up to 10,000 a sandbox and 100,000 in all. Every worker tells the same.", []string{"queue"}, nil)
	queueSandboxes = prometheus.NewDesc("cauri_worker_queue_sandboxes",
		"Sandboxes that have something due that was not taken yet. Every worker tells the same.", []string{"queue"}, nil)
	queueOldest = prometheus.NewDesc("cauri_worker_queue_oldest_due_seconds",
		"How long what waits longest has been due, over all sandboxes; 0 where nothing waits. Every worker tells the same.", []string{"queue"}, nil)
	endpointsFailing = prometheus.NewDesc("cauri_worker_endpoints_failing",
		"Webhook endpoints that have failed for so long that they get one attempt now and then. Every worker tells the same.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (*Surveyor) Describe(out chan<- *prometheus.Desc) {
	out <- queueDue
	out <- queueSandboxes
	out <- queueOldest
	out <- endpointsFailing
}

// Collect implements [prometheus.Collector].
func (s *Surveyor) Collect(out chan<- prometheus.Metric) {
	last := s.last.Load()
	if last == nil || time.Since(last.at) > surveyKept {
		return
	}
	for _, q := range last.Queues {
		out <- prometheus.MustNewConstMetric(queueDue, prometheus.GaugeValue, float64(q.Due), q.Name)
		out <- prometheus.MustNewConstMetric(queueSandboxes, prometheus.GaugeValue, float64(q.Sandboxes), q.Name)
		out <- prometheus.MustNewConstMetric(queueOldest, prometheus.GaugeValue, q.Oldest.Seconds(), q.Name)
	}
	out <- prometheus.MustNewConstMetric(endpointsFailing, prometheus.GaugeValue, float64(last.Failing))
}
