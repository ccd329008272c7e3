// Package exchange is what all HTTP fronts share of an exchange, which is a request and its answer: who may ask and how often, holding an
// answer back, carrying out a fault on it, streams, the request log, and observing all of it.
//
// A front has routes, decodes requests, calls package service, and represents what comes of it as an [Answer]. It knows no other front.
package exchange

import (
	"cmp"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Exchange carries out the exchanges of a process. It is safe for concurrent use.
type Exchange struct {
	service   *service.Service
	directory *sandboxes.Directory
	now       func() time.Time
	log       *slog.Logger
	draining  <-chan struct{}
	limiter   *limiter
	held      *HeldAnswers
	unread    *unreadAnswers
	requests  *requests.Log
	metrics   *telemetry.API
	tracing   *telemetry.Tracing
	options   Options
	// streamWrite is [Options.StreamWrite].
	streamWrite time.Duration
}

// Options are the dependencies and settings of an [Exchange].
type Options struct {
	Service   *service.Service
	Sandboxes *sandboxes.Store
	Directory *sandboxes.Directory
	Requests  *requests.Log // nil: no request is logged
	Held      *HeldAnswers
	Now       func() time.Time
	Log       *slog.Logger
	Draining  <-chan struct{}    // closed when the process is told to stop
	Metrics   *telemetry.API     // nil for none
	Tracing   *telemetry.Tracing // nil for none

	Version string // of the API, for the header X-Service-Api-Version
	// RoutedPath is a path as routes match it, without what clients add to it.
	RoutedPath func(path string) string
	// Overloaded goes out in place of a large answer that would be one too many that nobody reads.
	Overloaded Answer
	Secrets    []Secret
	// Unread bounds large answers that nobody reads; zero: as by default.
	Unread UnreadBounds
	// StreamWrite bounds how long a reader of a stream may take for what was written, at most 64 KiB; zero: 15 s.
	StreamWrite time.Duration
}

// Secret is a credential of a front, which the request log keeps nowhere.
type Secret struct {
	Of   func(*http.Request) string // in a request; empty for none
	Form *regexp.Regexp             // what it looks like
}

// New makes an exchange.
func New(o Options) *Exchange {
	o.Unread.Process, o.Unread.Sandbox = cmp.Or(o.Unread.Process, unreadOfProcess), cmp.Or(o.Unread.Sandbox, unreadOfSandbox)
	return &Exchange{
		service: o.Service, directory: o.Directory, now: o.Now, log: o.Log, draining: o.Draining, requests: o.Requests, held: o.Held,
		metrics: o.Metrics, tracing: o.Tracing, options: o, streamWrite: cmp.Or(o.StreamWrite, streamWrite),
		unread:  &unreadAnswers{bounds: o.Unread, of: map[string]int{}},
		limiter: &limiter{sandboxes: o.Sandboxes, now: o.Now, shares: map[int64]*share{}},
	}
}

// Front is one API.
type Front struct {
	// Failed is the answer to an error of a handler. A request that a fault drops, see [IsDropped], has none.
	Failed func(*http.Request, error) Answer
	// Kept is what the request log keeps of the requests to a route; an empty route is a path that nothing answers.
	Kept func(method, route string) Kept
}

// Kept is what the request log keeps of requests.
type Kept struct {
	Query, Body, Answer requests.Fields
	OnlyFailures        bool // nothing of a request that is answered 200
}
