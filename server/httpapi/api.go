// Package httpapi serves /v1, the API for a merchant's backend.
//
// A handler decodes a request, calls package service, and encodes a view of the result. Package httpfront has the code
// that all fronts share.
package httpapi

import (
	"net/url"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// API answers the requests of /v1.
type API struct {
	pipeline  *httpfront.Pipeline
	service   *service.Service
	ledger    *ledger.Ledger
	books     *proof.Books
	directory *sandboxes.Directory
	requests  *requests.Log
	streams   *httpfront.Streams
	version   string
	baseURL   *url.URL
	sandboxes *sandboxes.Registry
	console   bool
	consoles  *url.URL
	examples  func(form string) *sandboxes.Sandbox
}

// Options are the dependencies and settings of an [API].
type Options struct {
	httpfront.Shared
	Console  bool     // whether there is a console
	Consoles *url.URL // base URL of the consoles, if they have a host of their own; nil: where the API is
	BaseURL  *url.URL // base URL for merchants, used in the API's description; nil: not known
	// OwnExamples makes the examples of a sandbox's page those of its market. Anybody sees them, so it is for the machine of
	// a developer.
	OwnExamples bool
}

// New returns an API.
func New(o Options) *API {
	a := &API{
		pipeline: o.Pipeline, service: o.Service, ledger: o.Ledger, books: o.Books, directory: o.Directory,
		requests: o.Requests, streams: o.Streams, version: o.Version, baseURL: o.BaseURL,
		sandboxes: o.Sandboxes, console: o.Console, consoles: o.Consoles,
	}
	if o.OwnExamples {
		a.examples = a.sandboxAt
	}
	return a
}

// sandboxAt returns the sandbox of a path such as /sandboxes/default/shop. Without one, it is the only sandbox. It returns nil
// for none.
func (a *API) sandboxAt(form string) *sandboxes.Sandbox {
	parts := strings.Split(form, "/")
	if len(parts) < 4 {
		return a.directory.Only()
	}
	found, _ := a.directory.ByName(parts[2], parts[3])
	return found
}

// Version is the version of the API, in the format of a date.
const Version = wire.APIVersion
