package native

import (
	"encoding/json"
	"net/http"
	"net/url"
	"sync"

	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// documentPath is the path of the OpenAPI document of an operator's own API, below the base path of that API.
const documentPath = "/openapi.json"

// serveDocument serves the OpenAPI document of an operator's own API. The parameter base is the base path of that API.
func serveDocument(api *operatorapi.API, base string, public *url.URL) http.HandlerFunc {
	document := sync.OnceValue(func() *static.Content { return static.New("application/json", encoded(api.Document())) })
	return func(w http.ResponseWriter, r *http.Request) {
		origin, form := static.AskedAt(r, public, base+documentPath)
		servers := []map[string]string{{"url": origin + form + base, "description": "Where you asked for this document."}}
		document().WithServers(encoded(servers)).ServeHTTP(w, r)
	}
}

// serveFile serves a file of an operator's own API. The parameter base is the base path of that API.
func serveFile(f operatorapi.File, base string, public *url.URL) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		origin, form := static.AskedAt(r, public, base+f.Path)
		static.New(f.ContentType, []byte(f.Text(origin+form+base))).ServeHTTP(w, r)
	}
}

func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		// The document is the same for every request, so an error would fail every test.
		panic("the description of an operator's own API: " + err.Error())
	}
	return text
}
