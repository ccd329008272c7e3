// Package native serves the operators' own APIs, below /operators: each request is a request of the sandbox like one of /v1, and only its
// form is the operator's. The packages of the operators have the forms, see package operatorapi.
package native

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

const prefix = "/operators/"

// Native serves the operators' own APIs.
type Native struct {
	exchange  *exchange.Exchange
	service   *service.Service
	ledger    *ledger.Ledger
	directory *sandboxes.Directory
	now       func() time.Time
	random    io.Reader
	baseURL   *url.URL
	tokens    knownTokens
}

// Options are the dependencies and settings of a [Native].
type Options struct {
	Exchange  *exchange.Exchange
	Service   *service.Service
	Ledger    *ledger.Ledger
	Directory *sandboxes.Directory
	Now       func() time.Time
	Random    io.Reader // for tokens and users
	BaseURL   *url.URL  // that merchants call, for the descriptions of the APIs; nil if it is not known
}

// New makes a front.
func New(o Options) *Native {
	return &Native{
		exchange: o.Exchange, service: o.Service, ledger: o.Ledger, directory: o.Directory, now: o.Now, random: o.Random, baseURL: o.BaseURL,
	}
}

// Route adds the routes of all operators. What an operator does not know is answered in its shape too.
func (n *Native) Route(router chi.Router) {
	for _, api := range operators.NativeAPIs() {
		base, front := prefix+string(api.Operator), n.front(api)
		for i := range api.Routes {
			route := &api.Routes[i]
			for _, form := range exchange.FormsOf(base + route.Path) {
				router.Method(route.Method, form, n.exchange.Handle(front, n.call(api, route)))
			}
		}
		for _, form := range exchange.FormsOf(base + documentPath) {
			router.Get(form, serveDocument(api, base, n.baseURL))
		}
		unknown := n.exchange.Handle(front, n.call(api, nil))
		for _, form := range exchange.FormsOf(base) {
			router.Handle(form, unknown)
			router.Handle(form+"/*", unknown)
		}
	}
}

// front is how an operator tells an error, and what the request log keeps of its API.
func (n *Native) front(api *operatorapi.API) *exchange.Front {
	fields := loggedFields(api)
	return &exchange.Front{
		Failed: func(r *http.Request, err error) exchange.Answer { return n.refuse(r, api, err) },
		Kept:   func(string, string) exchange.Kept { return exchange.Kept{Body: fields, Answer: fields} },
	}
}

// loggedFields are the fields that the request log keeps of an operator's own API.
func loggedFields(api *operatorapi.API) requests.Fields {
	all := requests.Fields{}
	for _, name := range api.Logged {
		all[name] = true
	}
	return all
}

// Secrets are the credentials of all operators' own APIs.
func Secrets() (all []exchange.Secret) {
	for _, api := range operators.NativeAPIs() {
		all = append(all, exchange.Secret{Of: api.Key, Form: api.SecretForm})
	}
	return all
}

// RoutedPath is the path of a request to an operator's API without what clients add to it: a slash at the end, two in a row, a space. It
// is any other path as it is.
func RoutedPath(path string) string {
	before, after, found := strings.Cut(path, prefix)
	if !found || before != "" && strings.Count(before, "/") != 3 {
		return path
	}
	parts := strings.FieldsFunc(after, func(r rune) bool { return r == '/' })
	return before + prefix + strings.TrimSpace(strings.Join(parts, "/"))
}
