package exchange

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// sandboxForm is the prefix of a path that names a sandbox, to whose request log the request goes.
	sandboxForm = "/sandboxes/{namespace}/{name}"
	// apiForm is the prefix of paths under /v1 where the API is a part of something larger.
	apiForm = "/api"
)

// bare matches a path that names a sandbox or nothing.
var bare = regexp.MustCompile(`^(/sandboxes/[^/]+/[^/]+)?/?$`)

// FormsOf returns the router patterns for a path: as it is, and after a sandbox's name; for a path under /v1, both also
// with /api in front.
func FormsOf(path string) []string {
	forms := []string{path, sandboxForm + path}
	if strings.HasPrefix(path, "/v1/") {
		forms = append(forms, apiForm+path, sandboxForm+apiForm+path)
	}
	return forms
}

// RouteOf returns the path in the API's description that a request was made to, the same for all forms; empty for none.
func RouteOf(r *http.Request) string {
	pattern := strings.TrimPrefix(chi.RouteContext(r.Context()).RoutePattern(), sandboxForm)
	return strings.TrimPrefix(pattern, apiForm)
}

// SandboxName names a sandbox.
type SandboxName struct{ Namespace, Name string }

// SandboxInPath returns the sandbox that the path names, if the path has that form. A name may be empty, which no
// sandbox's is.
func SandboxInPath(r *http.Request) (named SandboxName, found bool) {
	behind, found := strings.CutPrefix(r.URL.Path, "/sandboxes/")
	if !found {
		return named, false
	}
	named.Namespace, behind, _ = strings.Cut(behind, "/")
	named.Name, _, _ = strings.Cut(behind, "/")
	return named, true
}

// PathTo returns a path of the API in the form that the request used, since another form may not be open to the client.
func PathTo(r *http.Request, path string) string {
	prefix := SandboxPrefix(r)
	if strings.HasPrefix(r.URL.Path[len(prefix):], apiForm+"/") {
		prefix += apiForm
	}
	return prefix + path
}

// SandboxPrefix returns the prefix of the paths of the sandbox that a request names, empty if it names none.
func SandboxPrefix(r *http.Request) string {
	named, _ := SandboxInPath(r)
	if prefix := "/sandboxes/" + named.Namespace + "/" + named.Name; strings.HasPrefix(r.URL.Path, prefix+"/") {
		return prefix
	}
	return ""
}

// IsBare reports whether a path names at most a sandbox, and nothing in it.
func IsBare(path string) bool { return bare.MatchString(path) }

// Names reports whether the path of a request names this sandbox, or no sandbox.
func Names(r *http.Request, sandbox *sandboxes.Sandbox) bool {
	named, inPath := SandboxInPath(r)
	return !inPath || named == SandboxName{sandbox.Namespace, sandbox.Name}
}

// pathWithin returns the path of a request within its sandbox, as in the API's description.
func pathWithin(path string) string {
	if named, found := strings.CutPrefix(path, "/sandboxes/"); found {
		if parts := strings.SplitN(named, "/", 3); len(parts) == 3 {
			path = "/" + parts[2]
		}
	}
	if within, found := strings.CutPrefix(path, apiForm); found && strings.HasPrefix(within, "/") {
		return within
	}
	return path
}
