package native

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// documentPath is the path of the OpenAPI document of an operator's own API, below the base path of that API.
const documentPath = "/openapi.json"

// askedAt returns the base URL of an operator's own API that a client used for a request to this path below base, the
// base path of that API.
func (n *Native) askedAt(r *http.Request, base, path string) string {
	if root := httpfront.RootOf(r); root != nil {
		return root.URL
	}
	origin, form := static.AskedAt(r, n.baseURL, base+path)
	return origin + form + base
}

// serveDocument serves the OpenAPI document of an operator's own API. The parameter base is the base path of that API.
func (n *Native) serveDocument(api *operatorapi.API, base string) http.HandlerFunc {
	document := sync.OnceValue(func() *static.Content { return static.New("application/json", encoded(api.Document())) })
	return func(w http.ResponseWriter, r *http.Request) {
		document().WithServers(encoded(n.serversOf(r, api, base))).ServeHTTP(w, r)
	}
}

// server is a server of an OpenAPI document.
type server struct {
	URL         string                       `json:"url"`
	Description string                       `json:"description"`
	Variables   map[string]map[string]string `json:"variables,omitempty"`
}

// serversOf returns the servers of the document of an operator's own API: the base URL that the client used, then the
// API's root, or the API's path if the client used the root. Anybody may read them, so the second one does not tell
// whether a sandbox exists.
func (n *Native) serversOf(r *http.Request, api *operatorapi.API, base string) []server {
	servers := []server{{URL: n.askedAt(r, base, documentPath), Description: "Where you asked for this document."}}
	switch {
	case httpfront.RootOf(r) != nil && n.baseURL != nil:
		return append(servers, server{
			URL:         strings.TrimSuffix(n.baseURL.String(), "/") + "/sandboxes/{namespace}/{name}" + base,
			Description: "The same below the base URL of a sandbox, for clients that keep the path of their base URL.",
			Variables: map[string]map[string]string{
				"namespace": {"default": "default", "description": "Namespace of the SandboxEnvironment."},
				"name":      {"default": "checkout", "description": "Name of the SandboxEnvironment."},
			},
		})
	case httpfront.RootOf(r) == nil && n.roots != nil:
		named, _ := httpfront.SandboxInPath(r)
		if root := n.roots.Pattern(named, api.Operator); root != "" {
			at := server{URL: root, Description: "The same at the root of a host or a port, for clients that join absolute paths to their base URL."}
			if strings.Contains(root, "{code}") {
				at.Variables = map[string]map[string]string{"code": {"default": strings.Repeat("0", 12), "description": "The last 12 " +
					"characters of the id of the organization, in lower case. The status and the Secret of the sandbox have the whole address."}}
			}
			return append(servers, at)
		}
	}
	return servers
}

// serveFile serves a file of an operator's own API. The parameters base and front are those of that API.
func (n *Native) serveFile(f operatorapi.File, base string, front *httpfront.Front) http.HandlerFunc {
	if f.Certificate {
		return n.serveCertificate(f, n.pipeline.Handle(front, func(http.ResponseWriter, *http.Request) (httpfront.Answer, error) {
			return httpfront.Answer{}, errNoKey()
		}))
	}
	return func(w http.ResponseWriter, r *http.Request) {
		static.New(f.ContentType, []byte(f.Text(n.askedAt(r, base, f.Path)))).ServeHTTP(w, r)
	}
}

// serveCertificate serves the certificate of this installation. Without one, it calls the handler none. Anybody may read
// the certificate, so that people can download it, as they do from the portals of operators.
func (n *Native) serveCertificate(f operatorapi.File, none http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := n.credentialKey()
		if key == nil {
			none(w, r)
			return
		}
		static.New(f.ContentType, []byte(key.Certificate)).ServeHTTP(w, r)
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
