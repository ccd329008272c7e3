// Package fronts builds the server with all HTTP fronts of the program: /v1, the operators' own APIs, and the console.
package fronts

import (
	"cmp"
	"crypto/rsa"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/console"
	"github.com/cauri-dev/cauri/server/httpapi"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/native"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Server serves all APIs. It is an [http.Handler].
type Server struct {
	router chi.Router
	roots  httpfront.Roots // nil for none
}

// Options are the dependencies and settings of a [Server].
type Options struct {
	Ledger    *ledger.Ledger
	Books     *proof.Books
	Sandboxes *sandboxes.Registry
	Directory *sandboxes.Directory
	Requests  *requests.Log // nil: no request is logged
	Version   string        // version of this program
	BaseURL   *url.URL      // base URL for merchants, used in the APIs' descriptions; nil: not known
	// RefusedHost returns the host name for which a request is refused, on a developer's machine; "" for none; nil: the
	// server answers under every name.
	RefusedHost func(*http.Request) string
	// Roots are the hosts or ports at whose root the operators' own APIs are served beside their paths; nil for none.
	Roots   httpfront.Roots
	Console bool // whether the console is served
	// ConsoleURL is the base URL of the consoles, if they have their own host; nil: BaseURL. The consoles are served at
	// this host only, and nothing else is served there.
	ConsoleURL *url.URL
	Now        func() time.Time  // current time, for ids and due times of answers; default time.Now
	Draw       func(int64) int64 // returns a random number in [0, n), for latencies
	Random     io.Reader         // random bytes for ids
	Log        *slog.Logger      // default slog.Default
	Held       httpfront.HeldBounds
	PINKey     func() *rsa.PrivateKey // key for PINs that clients encrypt for operators; nil for none
	// CredentialKey returns the key for passwords that clients encrypt for operators; nil for none.
	CredentialKey func() *secrets.CredentialKey
	Draining      <-chan struct{}    // closed when the process is told to stop; then held answers are sent
	Metrics       *telemetry.API     // nil for none
	Tracing       *telemetry.Tracing // nil for none
	PayerWait     time.Duration      // passed to [service.Options]
	FaultRules    service.FaultRules // the same
	// Unread and StreamWrite are passed to [httpfront.Options].
	Unread      httpfront.UnreadBounds
	StreamWrite time.Duration
}

// New returns a server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	held := httpfront.NewHeldAnswers(o.Held, o.Metrics)
	svc := service.New(service.Options{
		Ledger: o.Ledger, Books: o.Books, Sandboxes: o.Sandboxes, Directory: o.Directory, Requests: o.Requests, Now: o.Now,
		Draw: o.Draw, Random: o.Random, Draining: o.Draining, Waiting: held, Metrics: o.Metrics,
		PayerWait: o.PayerWait, FaultRules: o.FaultRules,
	})
	x := httpfront.New(httpfront.Options{
		Service: svc, Sandboxes: o.Sandboxes, Directory: o.Directory, Requests: o.Requests, Held: held, Now: o.Now,
		Log:      o.Log,
		Draining: o.Draining, Metrics: o.Metrics, Tracing: o.Tracing, Version: httpapi.Version, RoutedPath: native.RoutedPath,
		Overloaded: httpapi.Overloaded(), Secrets: slices.Concat(native.Secrets(), console.Secrets()), Unread: o.Unread,
		StreamWrite: o.StreamWrite,
	})
	shared := httpfront.Shared{
		Pipeline: x, Service: svc, Ledger: o.Ledger, Books: o.Books, Sandboxes: o.Sandboxes, Directory: o.Directory,
		Requests: o.Requests, Streams: x.NewStreams(o.Ledger, httpapi.NewStreamText(o.Directory)), Version: o.Version,
		Roots: o.Roots,
	}
	v1 := httpapi.New(httpapi.Options{
		Shared: shared, BaseURL: o.BaseURL, Console: o.Console, Consoles: o.ConsoleURL, OwnExamples: o.RefusedHost != nil,
	})
	operators := native.New(native.Options{
		Shared: shared, Now: o.Now, Random: o.Random, BaseURL: o.BaseURL, PINKey: o.PINKey, CredentialKey: o.CredentialKey,
	})
	router := chi.NewRouter()
	x.Use(router, v1.Front())
	var pages *console.Console
	if o.Console {
		pages = console.New(console.Options{
			Shared: shared, API: router, APIURL: o.BaseURL, BaseURL: cmp.Or(o.ConsoleURL, o.BaseURL), Metrics: o.Metrics,
			Scanner: operators, Dev: o.RefusedHost != nil,
		})
	}
	if o.RefusedHost != nil {
		router.Use(x.RefuseHost(o.RefusedHost, func(r *http.Request) *httpfront.Front {
			if pages != nil && consolePath.MatchString(r.URL.Path) {
				return pages.Front()
			}
			return cmp.Or(operators.FrontOf(r), v1.Front())
		}))
	}
	if c := o.ConsoleURL; o.Console && c != nil && (o.BaseURL == nil || !strings.EqualFold(c.Host, o.BaseURL.Host)) {
		router.Use(apart(c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { router.NotFoundHandler()(w, r) })))
	}
	v1.Route(router)
	operators.Route(router)
	if pages != nil {
		pages.Route(router)
	}
	return &Server{router, o.Roots}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.roots != nil {
		if root := s.roots.Find(r); root != nil {
			r = httpfront.AtRoot(r, root)
		}
	}
	s.router.ServeHTTP(w, r)
}

// Routes returns the routes of all APIs.
func (s *Server) Routes() chi.Routes { return s.router }
