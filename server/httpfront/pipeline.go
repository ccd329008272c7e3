// Package httpfront has the HTTP code that all fronts share: authentication, rate limits, held answers, faults of an
// answer, streams, the request log, metrics and traces. A front is one HTTP API. A [Pipeline] handles each request with its
// answer.
//
// A front has routes, decodes requests, calls package service, and encodes the result as an [Answer]. It imports no
// other front.
package httpfront

import (
	"cmp"
	"log/slog"
	"net/url"
	"time"

	"golang.org/x/time/rate"

	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Pipeline handles the requests of a process. It is safe for concurrent use.
type Pipeline struct {
	service     *service.Service
	directory   *sandboxes.Directory
	now         func() time.Time
	log         *slog.Logger
	draining    <-chan struct{}
	limiter     *limiter
	guests      *guests
	held        *HeldAnswers
	unread      *unreadAnswers
	requests    *requests.Log
	metrics     *telemetry.API
	tracing     *telemetry.Tracing
	options     Options
	streamWrite time.Duration
}

// Options are the dependencies and settings of an [Pipeline].
type Options struct {
	Service   *service.Service
	Sandboxes *sandboxes.Registry
	Directory *sandboxes.Directory
	Requests  *requests.Log // nil: no request is logged
	Held      *HeldAnswers
	Now       func() time.Time
	Log       *slog.Logger
	Draining  <-chan struct{}    // closed when the process is told to stop
	Metrics   *telemetry.API     // nil for none
	Tracing   *telemetry.Tracing // nil for none

	Version string // version of the API, for the header X-Service-Api-Version
	// RoutedPath returns the path that the router matches for the URL of a request.
	RoutedPath func(*url.URL) string
	// Overloaded replaces a large answer if too many bytes of large answers are unread.
	Overloaded Answer
	Secrets    []Secret
	// Unread bounds the large answers that clients have not read yet. A zero field means the default.
	Unread UnreadBounds
	// StreamWrite bounds the time that the client of a stream takes to read one write of at most 64 KiB; zero: 15 s.
	StreamWrite time.Duration
}

// streamWrite is the default of [Options.StreamWrite].
const streamWrite = 15 * time.Second

// New returns an [Pipeline].
func New(o Options) *Pipeline {
	o.Unread.Process = cmp.Or(o.Unread.Process, unreadOfProcess)
	o.Unread.Sandbox = cmp.Or(o.Unread.Sandbox, unreadOfSandbox)
	return &Pipeline{
		service: o.Service, directory: o.Directory, now: o.Now, log: o.Log, draining: o.Draining, requests: o.Requests,
		held: o.Held, metrics: o.Metrics, tracing: o.Tracing, options: o, streamWrite: cmp.Or(o.StreamWrite, streamWrite),
		unread:  &unreadAnswers{bounds: o.Unread, of: map[string]unread{}},
		limiter: &limiter{sandboxes: o.Sandboxes, now: o.Now, shares: map[int64]*share{}},
		guests:  &guests{rates: map[string]*rate.Limiter{}, turns: map[string]turns{}},
	}
}
