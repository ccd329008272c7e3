package httpfront

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Roots are the hosts, or the ports, at whose root an operator's own API of a sandbox is served beside its path. Clients
// that join absolute paths to their base URL need such a root.
type Roots interface {
	// Find returns the root at which a request has arrived; nil for none. It sends no query.
	Find(*http.Request) *Root
	// URL returns the URL of the root of an operator's API in a sandbox; "" for none.
	URL(*sandboxes.Sandbox, payments.Operator) string
	// Pattern is [Roots.URL] for everybody: it does not tell whether a sandbox exists. The URL may have the variable
	// {code}. The name is empty if no sandbox is named.
	Pattern(SandboxName, payments.Operator) string
}

// Root is the root of an operator's own API.
type Root struct {
	URL  string // which the client used, without a slash at its end
	Path string // of the API. For an unknown host, no route has this path.
}

type rootKey struct{}

// AtRoot returns a request that has arrived at a root, with the path of the API before its own path. From there on it is
// a request to that path.
func AtRoot(r *http.Request, root *Root) *http.Request {
	rooted := r.WithContext(context.WithValue(r.Context(), rootKey{}, root))
	path, escaped := r.URL.Path, r.URL.EscapedPath()
	if path != "" && !strings.HasPrefix(path, "/") { // for example OPTIONS *
		path, escaped = "/"+path, "/"+escaped
	}
	u := *r.URL
	u.Path, u.RawPath = root.Path+path, root.Path+escaped
	rooted.URL = &u
	return rooted
}

// RootOf returns the root at which a request has arrived; nil for none.
func RootOf(r *http.Request) *Root {
	root, _ := r.Context().Value(rootKey{}).(*Root)
	return root
}

// OperatorPath returns the path of an operator's own API in a sandbox.
func OperatorPath(in SandboxName, operator payments.Operator) string {
	return "/sandboxes/" + url.PathEscape(in.Namespace) + "/" + url.PathEscape(in.Name) + "/operators/" + string(operator)
}
