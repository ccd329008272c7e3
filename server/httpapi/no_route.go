package httpapi

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/requests"
)

// notFound answers a path without a route. If the path is the root of the service or of a sandbox, it redirects
// browsers to the page that describes the API. If it has a slash too many, or if it is the path of an operator's own API
// without the base path of that API, it says so.
func (a *API) notFound(routes chi.Routes) httpfront.OpenHandler {
	return func(w http.ResponseWriter, r *http.Request) (httpfront.Answer, error) {
		a.pipeline.NoteCaller(r)
		w.Header().Set("Vary", "Accept") // browsers and other clients get different answers
		if page, leads := pageFor(r); leads {
			return httpfront.Answer{Status: http.StatusSeeOther, Header: http.Header{"Location": {page}}}, nil
		}
		if path := plainPath(r.URL.Path); path != r.URL.Path && allowed(routes, path) != "" {
			right := url.URL{Path: path}
			e := view.NotFound("There is nothing at this path: it has a slash too many. Send the request to " +
				right.EscapedPath() + ", and write the base URL without a slash at its end.")
			e.Detail = map[string]any{"path": right.EscapedPath()}
			return httpfront.Answer{}, e
		}
		if at := operatorsAPI(r, routes); at != "" {
			w.Header().Set(requests.ReasonHeader, "not_found: this is a path of the API at "+at)
			e := view.NotFound("There is nothing at this path: it is a path of an operator's own API, which is at " + at + ". A client that joins " +
				"absolute paths to its base URL loses the path of the base URL: give it the address of a root, the entry that ends in -root-uri of " +
				"the credentials Secret.")
			e.Detail = map[string]any{"path": at}
			return httpfront.Answer{}, e
		}
		return httpfront.Answer{}, view.NotFound("There is nothing at this path. The API is under /v1, an operator's own API under " +
			"/operators/{operator}: GET /docs describes it to people, GET /v1/openapi.json to programs, and GET /v1/meta says what this service has.")
	}
}

func (a *API) methodNotAllowed(routes chi.Routes) httpfront.OpenHandler {
	return func(w http.ResponseWriter, r *http.Request) (httpfront.Answer, error) {
		a.pipeline.NoteCaller(r)
		allow := allowed(routes, r.URL.Path)
		w.Header().Set("Allow", allow)
		return httpfront.Answer{}, view.MethodNotAllowed(r.Method, allow)
	}
}

// operatorsAPI returns the base path of the operator's own API that has the path of a request below it; "" for none. In
// the base path, the sandbox is the one that the request names, or a placeholder.
func operatorsAPI(r *http.Request, routes chi.Routes) string {
	in := cmp.Or(httpfront.SandboxPrefix(r), "/sandboxes/{namespace}/{name}")
	for _, api := range operators.NativeAPIs() {
		base := "/operators/" + string(api.Operator)
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			route := routes.Find(chi.NewRouteContext(), method, base+plainPath(httpfront.PathWithin(r.URL.Path)))
			if route != "" && !strings.HasSuffix(route, "*") && route != base+"/openapi.json" {
				return in + base
			}
		}
	}
	return ""
}

// plainPath returns a path without repeated slashes, and without a slash at its end.
func plainPath(path string) string {
	return "/" + strings.Join(strings.FieldsFunc(path, func(r rune) bool { return r == '/' }), "/")
}

// pageFor returns the path of the page that a request is redirected to. It returns false for no redirect.
func pageFor(r *http.Request) (string, bool) {
	browser := (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
	if !browser || !httpfront.IsBare(r.URL.Path) {
		return "", false
	}
	page := url.URL{Path: strings.TrimSuffix(r.URL.Path, "/") + apidoc.PagePath}
	return page.String(), true
}

// allowed returns the methods that have a route for a path, for the header Allow (RFC 9110, section 15.5.6).
func allowed(routes chi.Routes, path string) string {
	var methods []string
	all := [][]string{{http.MethodGet, http.MethodHead}, {http.MethodPost}, {http.MethodPatch}, {http.MethodDelete}}
	for _, alike := range all {
		if routes.Match(chi.NewRouteContext(), alike[0], path) {
			methods = append(methods, alike...)
		}
	}
	return strings.Join(methods, ", ")
}
