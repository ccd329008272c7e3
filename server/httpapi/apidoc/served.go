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

	slices31, slices30 = slicesOf(document31), slicesOf(document30)
)

// DocumentHandler serves the API's description as OpenAPI 3.1. The base URL of its servers is the one that the client
// used for the request, see [static.AskedAt]. The parameter refused answers a request for an operation that does not exist.
func DocumentHandler(public *url.URL, refused http.HandlerFunc) http.HandlerFunc {
	return documentHandler(public, refused, GetDocument.Path, document31, slices31)
}

// DocumentHandler30 is [DocumentHandler] for OpenAPI 3.0.
func DocumentHandler30(public *url.URL, refused http.HandlerFunc) http.HandlerFunc {
	return documentHandler(public, refused, GetDocument30.Path, document30, slices30)
}

func documentHandler(public *url.URL, refused http.HandlerFunc, path string, whole func() *static.Content,
	parts func() map[string]*static.Content,
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var document *static.Content
		if query := r.URL.Query(); !query.Has(SliceParameter) {
			document = whole()
		} else if document = parts()[query.Get(SliceParameter)]; document == nil {
			refused(w, r)
			return
		}
		document.WithServers(encoded(serversAt(static.AskedAt(r, public, path)))).ServeHTTP(w, r)
	}
}
