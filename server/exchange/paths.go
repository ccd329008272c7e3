package exchange

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// sandboxForm stands before a path that names the sandbox to which its request is recorded.
	sandboxForm = "/sandboxes/{namespace}/{name}"
	// apiForm stands before the paths under /v1 where the API is a part of something larger.
	apiForm = "/api"
)

// bare is a path that names a sandbox or nothing.
var bare = regexp.MustCompile(`^(/sandboxes/[^/]+/[^/]+)?/?$`)

// FormsOf are the patterns of the router under which a path is answered: as it is and behind a sandbox's name, those
// under /v1 also behind /api.
func FormsOf(path string) []string {
	forms := []string{path, sandboxForm + path}
	if strings.HasPrefix(path, "/v1/") {
		forms = append(forms, apiForm+path, sandboxForm+apiForm+path)
	}
	return forms
}

// RouteOf is the path in the API's description that a request was made to, the same in all forms; empty for none.
func RouteOf(r *http.Request) string {
	pattern := strings.TrimPrefix(chi.RouteContext(r.Context()).RoutePattern(), sandboxForm)
	return strings.TrimPrefix(pattern, apiForm)
}

// SandboxName names a sandbox.
type SandboxName struct{ Namespace, Name string }

// SandboxInPath is the sandbox that the path names, if it is of a form that does. Either name may be empty, which is no
// sandbox's.
func SandboxInPath(r *http.Request) (named SandboxName, found bool) {
	behind, found := strings.CutPrefix(r.URL.Path, "/sandboxes/")
	if !found {
		return named, false
	}
	named.Namespace, behind, _ = strings.Cut(behind, "/")
	named.Name, _, _ = strings.Cut(behind, "/")
	return named, true
}

// PathTo is a path of the API in the form in which the caller came, since another form may not be open to it.
func PathTo(r *http.Request, path string) string {
	prefix := SandboxPrefix(r)
	if strings.HasPrefix(r.URL.Path[len(prefix):], apiForm+"/") {
		prefix += apiForm
	}
	return prefix + path
}

// SandboxPrefix is what stands before the paths of the sandbox that a request names, empty if it names none.
func SandboxPrefix(r *http.Request) string {
	named, _ := SandboxInPath(r)
	if prefix := "/sandboxes/" + named.Namespace + "/" + named.Name; strings.HasPrefix(r.URL.Path, prefix+"/") {
		return prefix
	}
	return ""
}

// IsBare reports whether a path names a sandbox, or nothing, and nothing in it.
func IsBare(path string) bool { return bare.MatchString(path) }

// Names reports whether the path of a request names a sandbox, or none at all.
func Names(r *http.Request, sandbox *sandboxes.Sandbox) bool {
	named, inPath := SandboxInPath(r)
	return !inPath || named == SandboxName{sandbox.Namespace, sandbox.Name}
}

// pathWithin is the path of a request within its sandbox, as the API's description has it.
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
