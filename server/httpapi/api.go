// Package httpapi is the /v1 API that a merchant's backend talks to: its routes, the decoding of requests, the representation of what comes
// of them, its errors, and its description.
//
// A handler decodes, calls package service, and represents. What all fronts share is in package exchange.
package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// API answers /v1.
type API struct {
	exchange  *exchange.Exchange
	service   *service.Service
	ledger    *ledger.Ledger
	books     *proof.Books
	directory *sandboxes.Directory
	requests  *requests.Log
	streams   *exchange.Streams
	version   string
	baseURL   *url.URL
	front     exchange.Front
}

// Options are the dependencies and settings of an [API].
type Options struct {
	Exchange  *exchange.Exchange
	Service   *service.Service
	Ledger    *ledger.Ledger
	Books     *proof.Books
	Directory *sandboxes.Directory
	Requests  *requests.Log // nil: no request is logged
	Version   string        // of this program
	BaseURL   *url.URL      // that merchants call, for the API's description; nil if it is not known
}

// New makes an API.
func New(o Options) *API {
	a := &API{
		exchange: o.Exchange, service: o.Service, ledger: o.Ledger, books: o.Books, directory: o.Directory, requests: o.Requests,
		version: o.Version, baseURL: o.BaseURL,
	}
	a.streams = o.Exchange.NewStreams(o.Ledger, streamText{o.Directory})
	a.front = exchange.Front{Failed: a.failed, Kept: kept}
	return a
}

// Front is how the API tells an error, and what the request log keeps of it.
func (a *API) Front() *exchange.Front { return &a.front }

// Version is the one of the API.
const Version = wire.APIVersion

// open answers a request that needs no key.
func (a *API) open(h exchange.OpenHandler) http.HandlerFunc { return a.exchange.Handle(&a.front, h) }

// keyed answers a request that carries a key.
func (a *API) keyed(h exchange.Handler) http.HandlerFunc { return a.open(a.exchange.WithKey(h)) }

// faulty answers a request that carries a key and records no transaction, after the faults of the sandbox.
func (a *API) faulty(h exchange.Handler) http.HandlerFunc { return a.keyed(a.exchange.AfterFault(h)) }

// Route adds the routes of the API, and the answers for paths and methods that no front has.
func (a *API) Route(router chi.Router) {
	router.NotFound(a.open(a.notFound))
	router.MethodNotAllowed(a.open(a.methodNotAllowed(router)))
	for _, r := range a.routes() {
		for _, form := range exchange.FormsOf(r.Path) {
			router.Method(r.Method, form, r.handler)
		}
	}
	page := apidoc.PageHandler()
	for _, form := range exchange.FormsOf(apidoc.PagePath) {
		router.Method(http.MethodGet, form, page)
		router.Method(http.MethodHead, form, page)
	}
}

// notFound leads a browser to the page that describes the API if it asks for the service, or for a sandbox, and for nothing in it.
func (a *API) notFound(w http.ResponseWriter, r *http.Request) (exchange.Answer, error) {
	a.exchange.NoteCaller(r)
	w.Header().Set("Vary", "Accept") // a cache keeps no page for programs, and no error for browsers
	if page, leads := pageFor(r); leads {
		return exchange.Answer{Status: http.StatusSeeOther, Header: http.Header{"Location": {page}}}, nil
	}
	return exchange.Answer{}, wire.NotFound("There is nothing at this path. The API is under /v1: GET /docs describes it to people, " +
		"GET /v1/openapi.json to programs, and GET /v1/meta says what this service has.")
}

func (a *API) methodNotAllowed(routes chi.Routes) exchange.OpenHandler {
	return func(w http.ResponseWriter, r *http.Request) (exchange.Answer, error) {
		a.exchange.NoteCaller(r)
		w.Header().Set("Allow", allowed(routes, r.URL.Path))
		return exchange.Answer{}, &wire.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Message: "This path does not answer the method " + r.Method + "."}
	}
}

// pageFor is the page that a browser is led to.
func pageFor(r *http.Request) (string, bool) {
	browser := r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
	if !browser || !exchange.IsBare(r.URL.Path) {
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
