package apidoc

import (
	"net/http"
	"net/url"
	"sync"

	"github.com/cauri-dev/cauri/server/httpfront/static"
)

// The documents without their servers. They are encoded once in a process, because tests start hundreds of servers.
var (
	document31 = sync.OnceValue(func() *static.Content {
		d := NewDocument()
		d.Servers = nil
		share(d)
		return static.New(MediaJSON, published(encoded(d)))
	})
	document30 = sync.OnceValue(func() *static.Content { return static.New(MediaJSON, openAPI30(document31().Body())) })
)

// DocumentHandler serves the API's description as OpenAPI 3.1. The base URL of its servers is the one that the client
// used for the request, see [static.AskedAt].
func DocumentHandler(public *url.URL) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		serveDocument(w, r, public, GetDocument.Path, document31())
	}
}

// DocumentHandler30 is [DocumentHandler] for OpenAPI 3.0.
func DocumentHandler30(public *url.URL) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		serveDocument(w, r, public, GetDocument30.Path, document30())
	}
}

func serveDocument(w http.ResponseWriter, r *http.Request, public *url.URL, path string, document *static.Content) {
	document.WithServers(encoded(serversAt(static.AskedAt(r, public, path)))).ServeHTTP(w, r)
}
