// Package httpapi is the /v1 API that a merchant's backend talks to: its routes, the decoding of requests, the
// representation of what comes of them, its errors, and its description.
//
// A handler decodes, calls package service, and represents. What all fronts share is in package exchange.
package httpapi

import (
	"net/url"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// API answers /v1.
type API struct {
	exchange  *exchange.Exchange
	service   *service.Service
	ledger    *ledger.Ledger
	books     *proof.Books
	directory *sandboxes.Directory
	requests  *requests.Log
	streams   *exchange.Streams
	version   string
	baseURL   *url.URL
}

// Options are the dependencies and settings of an [API].
type Options struct {
	Exchange  *exchange.Exchange
	Service   *service.Service
	Ledger    *ledger.Ledger
	Books     *proof.Books
	Directory *sandboxes.Directory
	Requests  *requests.Log // nil: no request is logged
	Version   string        // of this program
	BaseURL   *url.URL      // that merchants call, for the API's description; nil if it is not known
}

// New makes an API.
func New(o Options) *API {
	a := &API{
		exchange: o.Exchange, service: o.Service, ledger: o.Ledger, books: o.Books, directory: o.Directory,
		requests: o.Requests, version: o.Version, baseURL: o.BaseURL,
	}
	a.streams = o.Exchange.NewStreams(o.Ledger, streamText{o.Directory})
	return a
}

// Version is the one of the API.
const Version = wire.APIVersion
