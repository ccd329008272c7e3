package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/streams"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Server answers the API. It is an http.Handler.
type Server struct {
	ledger    *ledger.Ledger
	books     *proof.Books
	sandboxes *sandboxes.Store
	directory *sandboxes.Directory
	now       func() time.Time
	service   *service.Service
	random    io.Reader
	log       *slog.Logger
	version   string
	baseURL   *url.URL
	draining  <-chan struct{}
	limiter   *limiter
	held      *heldAnswers
	unread    *unreadAnswers
	requests  *requests.Log
	streams   *streams.Streams
	// streamWrite bounds how long a reader of a stream may take for what was written.
	streamWrite time.Duration
	tokens      knownTokens
	metrics     *telemetry.API
	tracing     *telemetry.Tracing
	handler     http.Handler
}

// Options are the dependencies and settings of a [Server].
type Options struct {
	Ledger    *ledger.Ledger
	Books     *proof.Books
	Sandboxes *sandboxes.Store
	Directory *sandboxes.Directory
	Requests  *requests.Log     // nil: no request is logged
	Version   string            // of this program
	BaseURL   *url.URL          // that merchants call, for the API's description; nil if it is not known
	Now       func() time.Time  // for ids and for how long answers are held; default time.Now
	Draw      func(int64) int64 // a random number in [0, n), for latencies
	Random    io.Reader         // for ids
	Log       *slog.Logger
	Held      HeldAnswers
	Draining  <-chan struct{}    // closed when the process is told to stop: answers that are held go out
	Metrics   *telemetry.API     // nil for none
	Tracing   *telemetry.Tracing // nil for none
}

// New makes a server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{
		ledger: o.Ledger, books: o.Books, sandboxes: o.Sandboxes, directory: o.Directory, now: o.Now, random: o.Random, log: logger(o.Log),
		version: o.Version, baseURL: o.BaseURL, draining: o.Draining, requests: o.Requests,
		metrics: o.Metrics, tracing: o.Tracing,
		held:    &heldAnswers{bounds: o.Held, of: map[string]int{}},
		unread:  &unreadAnswers{process: unreadOfProcess, sandbox: unreadOfSandbox, of: map[string]int{}},
		limiter: &limiter{sandboxes: o.Sandboxes, now: o.Now, shares: map[int64]*share{}},
	}
	s.service = service.New(service.Options{
		Ledger: o.Ledger, Books: o.Books, Sandboxes: o.Sandboxes, Directory: o.Directory, Requests: o.Requests, Now: o.Now, Draw: o.Draw,
		Random: o.Random, Draining: o.Draining, Waiting: waiting{s}, Metrics: o.Metrics,
	})
	s.streams, s.streamWrite = s.newStreams(), streamWrite
	s.handler = s.routes()
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(s.identify, s.recoverPanic, byDecodedPath)
	r.NotFound(s.handle(func(w http.ResponseWriter, req *http.Request) (answer, error) {
		s.claim(w, req)
		w.Header().Set("Vary", "Accept") // a cache keeps no page for programs, and no error for browsers
		if page, leads := pageFor(req); leads {
			return answer{status: http.StatusSeeOther, header: http.Header{"Location": {page}}}, nil
		}
		return answer{}, wire.NotFound("There is nothing at this path. The API is under /v1: GET /docs describes it to people, " +
			"GET /v1/openapi.json to programs, and GET /v1/meta says what this service has.")
	}))
	r.MethodNotAllowed(s.handle(func(w http.ResponseWriter, req *http.Request) (answer, error) {
		s.claim(w, req)
		w.Header().Set("Allow", allowed(r, req.URL.Path))
		return answer{}, &wire.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Message: "This path does not answer the method " + req.Method + "."}
	}))
	api := api{r, []func(http.Handler) http.Handler{s.authenticate, s.refuseSuspended, s.limitRate}}
	api.route(apidoc.CreatePayment, s.handle(s.createPayment))
	api.route(apidoc.GetPayment, s.handle(s.disturbed(s.getPayment)))
	api.route(apidoc.ListPayments, s.handle(s.disturbed(s.listPayments)))
	api.route(apidoc.CreateRefund, s.handle(s.createRefund))
	api.route(apidoc.CreateDisbursement, s.handle(s.createDisbursement))
	api.route(apidoc.ListEvents, s.handle(s.disturbed(s.listEvents)))
	api.route(apidoc.GetEvent, s.handle(s.disturbed(s.getEvent)))
	api.route(apidoc.ResendEvent, s.handle(s.disturbed(s.resendEvent)))
	api.route(apidoc.ListTestClients, s.handle(s.disturbed(s.listTestClients)))
	api.route(apidoc.GetTestClient, s.handle(s.disturbed(s.getTestClient)))
	api.route(apidoc.CreateTestClient, s.handle(s.createTestClient))
	api.route(apidoc.PatchTestClient, s.handle(s.patchTestClient))
	api.route(apidoc.DeleteTestClient, s.handle(s.disturbed(s.deleteTestClient)))
	api.route(apidoc.ListTestNumbers, s.handle(s.disturbed(s.listTestNumbers)))
	api.route(apidoc.ListRequests, s.handle(s.disturbed(s.listRequests)))
	api.route(apidoc.ListAccounts, s.handle(s.disturbed(s.listAccounts)))
	api.route(apidoc.ListEntries, s.handle(s.disturbed(s.listEntries)))
	api.route(apidoc.ListPrompts, s.handle(s.disturbed(s.listPrompts)))
	api.route(apidoc.AnswerPrompt, s.handle(s.disturbed(s.answerPrompt)))
	api.route(apidoc.ResetSandbox, s.handle(s.reset))
	api.route(apidoc.GetClock, s.handle(s.disturbed(s.getClock)))
	api.route(apidoc.AdvanceClock, s.handle(s.advanceClock))
	api.route(apidoc.OpenStream, s.handle(s.stream))
	api.route(apidoc.GetMeta, s.handle(s.meta))
	api.route(apidoc.GetHealth, s.handle(s.health))
	api.route(apidoc.GetDocument, apidoc.DocumentHandler(s.baseURL))
	api.route(apidoc.GetDocument30, apidoc.DocumentHandler30(s.baseURL))
	page := apidoc.PageHandler()
	for _, form := range formsOf(apidoc.PagePath) {
		r.Method(http.MethodGet, form, page)
		r.Method(http.MethodHead, form, page)
	}
	s.nativeRoutes(r)
	return r
}

// pageFor is the page that a browser is led to which asks for the service, or for a sandbox, and for nothing in it.
func pageFor(r *http.Request) (string, bool) {
	browser := r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
	if !browser || !noPath.MatchString(r.URL.Path) {
		return "", false
	}
	page := url.URL{Path: strings.TrimSuffix(r.URL.Path, "/") + apidoc.PagePath}
	return page.String(), true
}

// allowed lists the methods that a path answers, for the header Allow (RFC 9110, section 15.5.6).
func allowed(routes chi.Routes, path string) string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if routes.Match(chi.NewRouteContext(), method, path) {
			methods = append(methods, method)
		}
	}
	return strings.Join(methods, ", ")
}

// answer is what a handler answers with.
type answer struct {
	status int
	header http.Header
	// location is the path of what was made, for the header Location; empty for none.
	location string
	body     any                   // nil: none
	due      time.Time             // zero: at once
	event    *service.BeforeAnswer // that is sent before; nil for none, or if the answer is not held
	fault    *faults.API           // that disturbs it, nil for none
	// organization is the one that an answer is held for.
	organization string
	listener     *listener // of a stream, which the middleware tells; nil for any other answer
}

// handler answers a request or fails.
type handler func(http.ResponseWriter, *http.Request) (answer, error)

// handle makes an http.HandlerFunc of a handler.
func (s *Server) handle(f handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := s.current(w, r, f)
		if err != nil {
			a = s.failure(r, err)
		}
		if a.location != "" {
			a.header = http.Header{"Location": {pathTo(r, a.location)}}
		}
		s.send(w.(*response), a)
	}
}

// current answers a request by f. It repeats f for a configuration that changed, unless the request has a body, which can be read once
// only: package service repeats what such a request asks for.
func (s *Server) current(w http.ResponseWriter, r *http.Request, f handler) (a answer, err error) {
	who, known := r.Context().Value(callerKey).(*service.Caller) // none of a route that needs no key, which goes by no sandbox
	if !known || r.ContentLength != 0 {
		return f(w, r)
	}
	err = s.service.Renewing(r.Context(), who, func(ctx context.Context) error {
		a, err = f(w, r.WithContext(ctx))
		return err
	})
	return a, err
}

// send writes an answer, or leaves it to be written when it is due, as the faults that act on its request let it.
func (s *Server) send(out *response, a answer) {
	if f := out.fault(); f != nil {
		a.disturb(f, s.now())
	}
	if who := out.logged.who; who != nil && who.Faults.ToStatus != nil && who.Faults.ToStatus != who.Faults.ToAnswer {
		a.name(who.Faults.ToStatus)
	}
	if a.listener != nil {
		out.late = a
		return
	}
	if a.due.IsZero() {
		a.write(out)
		return
	}
	a.organization = out.logged.who.Sandbox.OrganizationID
	out.late = a
}

// name says in the answer that a fault acts.
func (a *answer) name(f *faults.Fault) {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Add(wire.FaultHeader, f.Name)
}

// disturb disturbs an answer by the fault that acts on its request.
func (a *answer) disturb(f *faults.Fault, now time.Time) {
	a.fault = f.Answer()
	a.name(f)
	if delay := a.fault.Delay.Of(); delay > 0 {
		if a.due.Before(now) {
			a.due = now
		}
		a.due = a.due.Add(delay)
	}
}

// write sends an answer, unless a fault drops the connection: the middleware then closes it, as it was not answered.
func (a answer) write(w http.ResponseWriter) {
	if a.fault != nil && a.fault.DropConnection != "" {
		return
	}
	if e, failed := a.body.(*wire.Error); failed {
		w.(*response).logged.code = e.Code
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	malformed := a.fault != nil && a.fault.MalformedBody
	if body, ok := a.body.(nativeBody); ok {
		writeBody(w, a.status, nativeType, body, malformed)
		return
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	if table, is := a.body.(wire.CSV); is {
		writeBody(w, a.status, "text/csv; charset=utf-8; header=present", table, malformed)
		return
	}
	writeJSON(w, a.status, a.body, malformed)
}

// answers are buffers of answers that were sent.
var answers = sync.Pool{New: func() any { return new([]byte) }}

// writeJSON sends a body, or the first half of it, which is no JSON.
func writeJSON(w http.ResponseWriter, status int, body any, half bool) {
	kept := answers.Get().(*[]byte)
	defer func() {
		if cap(*kept) <= largeAnswer {
			answers.Put(kept)
		}
	}()
	out, err := wire.Append((*kept)[:0], body)
	if err != nil {
		slog.Error("an answer cannot be encoded", "error", err)
		http.Error(w, `{"error":"internal","message":"The answer could not be encoded.","detail":null}`, http.StatusInternalServerError)
		return
	}
	*kept = out
	writeBody(w, status, "application/json", out, half)
}

// refuseUnread answers in place of an answer that would be one too many that nobody reads.
func (o *response) refuseUnread() {
	e := wire.Overloaded()
	o.logged.code = e.Code
	o.Header().Del("Link") // to the next page
	o.Header().Set("Retry-After", e.RetryAfter)
	writeJSON(o, e.Status, e, false)
}

func writeBody(w http.ResponseWriter, status int, contentType string, body []byte, half bool) {
	if half {
		body = body[:len(body)/2]
	}
	if o, is := w.(*response); is {
		release, ok := o.unread.take(o.organization(), len(body))
		if !ok {
			o.refuseUnread()
			return
		}
		defer release()
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away loses nothing: everything is committed
}
