package httpfront

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// sandboxForm is the prefix of a path that names a sandbox.
	sandboxForm = "/sandboxes/{namespace}/{name}"
	// apiForm is an optional prefix of /v1 paths.
	apiForm = "/api"
)

// bare matches the path of a sandbox and the empty path.
var bare = regexp.MustCompile(`^(/sandboxes/[^/]+/[^/]+)?/?$`)

// FormsOf returns the router patterns for a path: the path, and the path after the prefix of a sandbox. For a path
// under /v1, it also returns both patterns with /api before /v1.
func FormsOf(path string) []string {
	forms := []string{path, sandboxForm + path}
	if strings.HasPrefix(path, "/v1/") {
		forms = append(forms, apiForm+path, sandboxForm+apiForm+path)
	}
	return forms
}

// RouteOf returns the route of a request as the API's description has it, without prefixes; "" for none.
func RouteOf(r *http.Request) string {
	pattern := strings.TrimPrefix(chi.RouteContext(r.Context()).RoutePattern(), sandboxForm)
	return strings.TrimPrefix(pattern, apiForm)
}

// SandboxName names a sandbox.
type SandboxName struct{ Namespace, Name string }

// SandboxInPath returns the sandbox that the path of a request names. If the path ends early, a returned name is empty.
func SandboxInPath(r *http.Request) (named SandboxName, found bool) {
	behind, found := strings.CutPrefix(r.URL.Path, "/sandboxes/")
	if !found {
		return named, false
	}
	named.Namespace, behind, _ = strings.Cut(behind, "/")
	named.Name, _, _ = strings.Cut(behind, "/")
	return named, true
}

// PathTo returns a path of the API with the prefixes of the request's path. An Ingress may admit only these prefixes.
func PathTo(r *http.Request, path string) string {
	prefix := SandboxPrefix(r)
	if strings.HasPrefix(r.URL.Path[len(prefix):], apiForm+"/") {
		prefix += apiForm
	}
	return prefix + path
}

// SandboxPrefix returns the prefix /sandboxes/{namespace}/{name} of a request's path, or "".
func SandboxPrefix(r *http.Request) string {
	named, _ := SandboxInPath(r)
	if prefix := "/sandboxes/" + named.Namespace + "/" + named.Name; strings.HasPrefix(r.URL.Path, prefix+"/") {
		return prefix
	}
	return ""
}

// IsBare reports whether a path is empty, "/", or only the name of a sandbox.
func IsBare(path string) bool { return bare.MatchString(path) }

// Names reports whether the path of a request names this sandbox, or no sandbox.
func Names(r *http.Request, sandbox *sandboxes.Sandbox) bool {
	named, inPath := SandboxInPath(r)
	return !inPath || named == SandboxName{sandbox.Namespace, sandbox.Name}
}

// PathWithin returns a path without the prefixes of a sandbox and /api.
func PathWithin(path string) string {
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
