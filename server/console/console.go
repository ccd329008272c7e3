// Package console serves the web console of each sandbox, below {uri}/console.
//
// A page has a Go file, a template, and a line in the table [routes]. Its handler reads through the packages of the
// application layer, and returns the page. The frame, the session and the headers are the same for all pages.
package console

import (
	"net/http"
	"net/url"
	"regexp"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Console answers the requests of browsers.
type Console struct {
	Options
	front   *httpfront.Front
	crossed *http.CrossOriginProtection
	watched *watched
}

// Options are the dependencies and settings of a [Console].
type Options struct {
	httpfront.Shared
	API     http.Handler   // serves /v1
	APIURL  *url.URL       // public URL of the APIs; nil: not known
	BaseURL *url.URL       // public URL of the consoles; cookies are Secure if it has https; nil: not known
	Metrics *telemetry.API // nil for none
	Scanner Scanner        // of the operators' own APIs
	Dev     bool           // whether this is the console of `cauri dev`, whose users have no cluster
}

// New returns the console of a process.
func New(o Options) *Console {
	c := &Console{Options: o, crossed: http.NewCrossOriginProtection()}
	c.watched = &watched{open: o.Sandboxes.OpenConsoleSessions, valid: c.isOpen}
	c.front = &httpfront.Front{
		Failed: c.failed, Kept: func(string, string) httpfront.LoggedFields { return httpfront.LoggedFields{} }, OnlyChanges: true,
	}
	return c
}

const (
	// below is the prefix of all paths of the console.
	below = "/sandboxes/{namespace}/{name}/console"
	// maxForm is the maximum size of a form in bytes.
	maxForm = 64 << 10
)

// Front returns the front of the consoles for package httpfront.
func (c *Console) Front() *httpfront.Front { return c.front }

// Route adds the routes of the console.
func (c *Console) Route(router chi.Router) {
	for _, r := range routes {
		router.Method(r.method, below+r.path, c.Pipeline.Handle(c.front, c.handler(&r)))
	}
	router.Method(http.MethodGet, below+"/assets/{file}", http.HandlerFunc(assets.Serve))
	nothing := func(http.ResponseWriter, *http.Request) (httpfront.Answer, error) {
		return httpfront.Answer{}, errNotFound
	}
	router.Method(http.MethodGet, below+"/*", c.Pipeline.Handle(c.front, nothing))
}

// label matches the names that Kubernetes allows. A path with any other name has no page, so that a link cannot put an
// attacker's text into a page.
var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// secure are the headers of every page.
var secure = http.Header{
	"Content-Security-Policy":    {assets.Policy},
	"Referrer-Policy":            {"no-referrer"},
	"X-Content-Type-Options":     {"nosniff"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
	"Cache-Control":              {"no-store"},
	"Vary":                       {"Accept-Language, Cookie, Accept-Encoding"},
}
