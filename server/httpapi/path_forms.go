package httpapi

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/go-chi/chi/v5"
)

const (
	// sandboxForm stands before a path that names the sandbox to which its request is made.
	sandboxForm = "/sandboxes/{namespace}/{name}"
	// apiForm stands before the paths under /v1 where the API is a part of something larger.
	apiForm = "/api"
)

// noPath is a path that names a sandbox or nothing.
var noPath = regexp.MustCompile(`^(/sandboxes/[^/]+/[^/]+)?/?$`)

// formsOf are the patterns of the router under which a path is answered: as it is and behind a sandbox's name, those under /v1 also
// behind /api.
func formsOf(path string) []string {
	forms := []string{path, sandboxForm + path}
	if strings.HasPrefix(path, "/v1/") {
		forms = append(forms, apiForm+path, sandboxForm+apiForm+path)
	}
	return forms
}

// routeOf is the path in the API's description that a request was made to, the same in all forms; empty for none.
func routeOf(r *http.Request) string {
	pattern := strings.TrimPrefix(chi.RouteContext(r.Context()).RoutePattern(), sandboxForm)
	return strings.TrimPrefix(pattern, apiForm)
}

// sandboxName names a sandbox.
type sandboxName struct{ namespace, name string }

// sandboxInPath is the sandbox that the path names, if it is of a form that does. Either name may be empty, which is no sandbox's.
func sandboxInPath(r *http.Request) (named sandboxName, found bool) {
	behind, found := strings.CutPrefix(r.URL.Path, "/sandboxes/")
	if !found {
		return named, false
	}
	named.namespace, behind, _ = strings.Cut(behind, "/")
	named.name, _, _ = strings.Cut(behind, "/")
	return named, true
}

// pathTo is a path of the API in the form in which the caller came, since another form may not be open to it.
func pathTo(r *http.Request, path string) string {
	prefix := sandboxPrefix(r)
	if strings.HasPrefix(r.URL.Path[len(prefix):], apiForm+"/") {
		prefix += apiForm
	}
	return prefix + path
}

// sandboxPrefix is what stands before the paths of the sandbox that a request names, empty if it names none.
func sandboxPrefix(r *http.Request) string {
	named, _ := sandboxInPath(r)
	if prefix := "/sandboxes/" + named.namespace + "/" + named.name; strings.HasPrefix(r.URL.Path, prefix+"/") {
		return prefix
	}
	return ""
}
