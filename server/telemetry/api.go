package telemetry

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// answerBuckets are the histogram buckets for the duration of requests, in seconds.
var answerBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// API has the metrics of an api process. It is safe for concurrent use.
type API struct {
	requests     *prometheus.CounterVec
	durations    *prometheus.HistogramVec
	inFlight     prometheus.Gauge
	held         prometheus.Gauge
	notHeld      *prometheus.CounterVec
	authFailures *prometheus.CounterVec
	signIns      *prometheus.CounterVec
	payments     *prometheus.CounterVec
	faults       *prometheus.CounterVec
	notLogged    *prometheus.CounterVec
	streams      prometheus.Gauge
	told         prometheus.Counter
	cutOff       prometheus.Counter
}

// NewAPI registers the metrics of an api process.
func NewAPI(registry prometheus.Registerer) *API {
	a := &API{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_api_requests_total", Help: "Requests answered, by route pattern, method and HTTP status.",
		}, []string{"route", "method", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "cauri_api_request_duration_seconds",
			Help:    "Duration of requests, without the time that an answer was held to simulate an operator's latency.",
			Buckets: answerBuckets,
		}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cauri_api_requests_in_flight", Help: "Requests that are not answered yet, including those whose answer is held.",
		}),
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cauri_api_held_answers", Help: "Answers held now to simulate an operator's latency.",
		}),
		notHeld: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_api_answers_not_held_total",
			Help: "Answers sent at once instead of held, because the limit of held answers was reached, of the process or of the sandbox.",
		}, []string{"bound"}),
		authFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_api_auth_failures_total", Help: "Requests refused because of their API key: missing or malformed, or invalid.",
		}, []string{"reason"}),
		signIns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_api_console_sign_ins_total", Help: "Tries to sign in to the console, by API key or by link, accepted or refused.",
		}, []string{"by", "result"}),
		payments: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_api_payments_total", Help: "Transactions recorded, without repeated requests, by type and initial status.",
		}, []string{"type", "status"}),
		faults: registerFaults(registry, "api", "operator"),
		notLogged: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cauri_api_requests_not_logged_total",
			Help: "Requests left out of the request log, because too many waited to be written, or because the database refused them.",
		}, []string{"reason"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cauri_api_streams", Help: "Streams of changes that are open.",
		}),
		told: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cauri_api_stream_entries_total", Help: "Entries that streams were told.",
		}),
		cutOff: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cauri_api_streams_cut_off_total", Help: "Streams that were ended because their client did not read.",
		}),
	}
	for _, reason := range []string{NotLoggedFull, NotLoggedRefused} {
		a.notLogged.WithLabelValues(reason)
	}
	for _, reason := range []string{AuthMissing, AuthInvalid} {
		a.authFailures.WithLabelValues(reason)
	}
	for _, by := range []string{SignInByKey, SignInByLink} {
		for _, result := range []string{signInAccepted, signInRefused} {
			a.signIns.WithLabelValues(by, result)
		}
	}
	for _, bound := range []string{BoundProcess, BoundSandbox} {
		a.notHeld.WithLabelValues(bound)
	}
	registry.MustRegister(a.requests, a.durations, a.inFlight, a.held, a.notHeld, a.authFailures, a.signIns, a.payments, a.notLogged,
		a.streams, a.told, a.cutOff)
	return a
}

// Limits of held answers, for [API.NotHeld].
const (
	BoundProcess = "process"
	BoundSandbox = "sandbox"
)

// Reasons of [API.AuthFailed].
const (
	AuthMissing = "missing"
	AuthInvalid = "invalid"
)

// Ways to sign in to the console, for [API.SignIn], and its results.
const (
	SignInByKey  = "key"
	SignInByLink = "link"

	signInAccepted = "accepted"
	signInRefused  = "refused"
)

// Reasons of [API.NotLogged].
const (
	NotLoggedFull    = "full"
	NotLoggedRefused = "refused"
)

// unmatched is the route label of requests that match no route.
const unmatched = "unmatched"

// Begin counts a new request.
func (a *API) Begin() {
	if a != nil {
		a.inFlight.Inc()
	}
}

// End counts an answered request. route is a pattern of the router, or empty. took is the duration without the time for
// which the answer was held.
func (a *API) End(route, method string, status int, took time.Duration) {
	if a == nil {
		return
	}
	if route == "" {
		route = unmatched
	}
	method = methodLabel(method)
	a.inFlight.Dec()
	a.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	a.durations.WithLabelValues(route, method).Observe(took.Seconds())
}

// Hold counts a held answer until [API.Release] is called.
func (a *API) Hold() {
	if a != nil {
		a.held.Inc()
	}
}

// Release ends the count of one call of [API.Hold].
func (a *API) Release() {
	if a != nil {
		a.held.Dec()
	}
}

// NotHeld counts an answer that was sent at once because a limit was reached.
func (a *API) NotHeld(bound string) {
	if a != nil {
		a.notHeld.WithLabelValues(bound).Inc()
	}
}

// AuthFailed counts a request that was refused because of its API key.
func (a *API) AuthFailed(reason string) {
	if a != nil {
		a.authFailures.WithLabelValues(reason).Inc()
	}
}

// SignIn counts a try to sign in to the console; by is a constant of this package.
func (a *API) SignIn(by string, accepted bool) {
	if a == nil {
		return
	}
	result := signInRefused
	if accepted {
		result = signInAccepted
	}
	a.signIns.WithLabelValues(by, result).Inc()
}

// Recorded counts a recorded transaction.
func (a *API) Recorded(kind, status string) {
	if a != nil {
		a.payments.WithLabelValues(kind, status).Inc()
	}
}

// FaultApplied counts a fault of this kind that was applied to an answer.
func (a *API) FaultApplied(kind string) {
	if a != nil {
		a.faults.WithLabelValues(kind).Inc()
	}
}

// registerFaults registers the counter of faults with the kinds of a role. Several roles in one process share the
// counter.
func registerFaults(registry prometheus.Registerer, kinds ...string) *prometheus.CounterVec {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cauri_faults_total", Help: "Faults that acted, as their sandboxes declare them, by kind.",
	}, []string{"kind"})
	var there prometheus.AlreadyRegisteredError
	if err := registry.Register(counter); errors.As(err, &there) {
		counter = there.ExistingCollector.(*prometheus.CounterVec)
	} else if err != nil {
		panic(err)
	}
	for _, kind := range kinds {
		counter.WithLabelValues(kind)
	}
	return counter
}

// NotLogged counts requests that the request log omitted.
func (a *API) NotLogged(reason string, requests int) {
	if a != nil {
		a.notLogged.WithLabelValues(reason).Add(float64(requests))
	}
}

// StreamOpened counts an open stream until [API.StreamClosed] is called.
func (a *API) StreamOpened() {
	if a != nil {
		a.streams.Inc()
	}
}

// StreamClosed ends the count of one call of [API.StreamOpened].
func (a *API) StreamClosed() {
	if a != nil {
		a.streams.Dec()
	}
}

// Told counts entries that were sent in streams.
func (a *API) Told(entries int) {
	if a != nil {
		a.told.Add(float64(entries))
	}
}

// StreamCutOff counts a stream that ended because its client did not read.
func (a *API) StreamCutOff() {
	if a != nil {
		a.cutOff.Inc()
	}
}

// methodLabel returns the label of a method. Unknown methods share one label.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// ConfigState is the state of the configuration cache of an api.
type ConfigState struct {
	Version   int64
	Sandboxes int
	Age       time.Duration // time since the last successful refresh
	Read      bool          // whether there was a successful refresh
}

// RegisterConfig registers metrics of the configuration cache. They have no values before the first refresh.
func RegisterConfig(registry prometheus.Registerer, state func() ConfigState) {
	registry.MustRegister(configCollector(state))
}

type configCollector func() ConfigState

var (
	configVersion = prometheus.NewDesc("cauri_api_config_version", "Version of the configuration in use.", nil, nil)
	configAge     = prometheus.NewDesc("cauri_api_config_age_seconds",
		"Time since the configuration was last confirmed to match the database.", nil, nil)
	configSandboxes = prometheus.NewDesc("cauri_api_config_sandboxes", "Sandboxes in the configuration in use.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (configCollector) Describe(out chan<- *prometheus.Desc) {
	out <- configVersion
	out <- configAge
	out <- configSandboxes
}

// Collect implements [prometheus.Collector].
func (c configCollector) Collect(out chan<- prometheus.Metric) {
	s := c()
	if !s.Read {
		return
	}
	out <- prometheus.MustNewConstMetric(configVersion, prometheus.GaugeValue, float64(s.Version))
	out <- prometheus.MustNewConstMetric(configAge, prometheus.GaugeValue, s.Age.Seconds())
	out <- prometheus.MustNewConstMetric(configSandboxes, prometheus.GaugeValue, float64(s.Sandboxes))
}
