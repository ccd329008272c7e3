package apidoc

import (
	"net/http"
	"net/url"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The documents without their servers, encoded once in a process: tests start hundreds of servers.
var (
	document31 = sync.OnceValue(func() *static {
		d := NewDocument()
		d.Servers = nil
		return newStatic(MediaJSON, published(encoded(d)))
	})
	document30 = sync.OnceValue(func() *static { return newStatic(MediaJSON, openAPI30(document31().body)) })
)

// DocumentHandler serves the API's description as OpenAPI 3.1. Its servers are at the address under which it is asked for. A request
// to the host of the public URL of the API, which may be nil, came there, whatever scheme and path the Ingress has left of it.
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

// NativeDocumentPath is where the description of an operator's own API is, below its base.
const NativeDocumentPath = "/openapi.json"

// NativeDocumentHandler is [DocumentHandler] for an operator's own API, which is served below base.
func NativeDocumentHandler(api *operatorapi.API, base string, public *url.URL) http.HandlerFunc {
	document := sync.OnceValue(func() *static { return newStatic(MediaJSON, encoded(api.Document())) })
	return func(w http.ResponseWriter, r *http.Request) {
		origin, form := askedAt(r, public, base+NativeDocumentPath)
		serveWith(w, r, document(), []*huma.Server{{URL: origin + form + base, Description: "Where you asked for this document."}})
	}
}

func serveDocument(w http.ResponseWriter, r *http.Request, public *url.URL, path string, document *static) {
	serveWith(w, r, document, serversAt(askedAt(r, public, path)))
}

// serveWith serves a document with its servers, which are its first property.
func serveWith(w http.ResponseWriter, r *http.Request, document *static, at []*huma.Server) {
	servers := encoded(at)
	served := *document
	served.header = document.header.Clone()
	served.header.Set("Etag", etag([]byte(document.header.Get("Etag")), servers))
	served.before, served.body = append(append([]byte(`{"servers":`), servers...), ','), document.body[1:]
	served.ServeHTTP(w, r)
}
