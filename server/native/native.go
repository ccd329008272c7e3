// Package native serves the operators' own APIs, below /operators: each request is a request of the sandbox like one of
// /v1, and only its form is the operator's. The packages of the operators have the forms, see package operatorapi.
package native

import (
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
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
		exchange: o.Exchange, service: o.Service, ledger: o.Ledger, directory: o.Directory, now: o.Now, random: o.Random,
		baseURL: o.BaseURL,
	}
}

// Secrets are the credentials of all operators' own APIs.
func Secrets() (all []exchange.Secret) {
	for _, api := range operators.NativeAPIs() {
		all = append(all, exchange.Secret{Of: api.Key, Form: api.SecretForm})
	}
	return all
}

// RoutedPath is the path of a request to an operator's API without what clients add to it: a slash at the end, two in a
// row, a space. It is any other path as it is.
func RoutedPath(path string) string {
	before, after, found := strings.Cut(path, prefix)
	if !found || before != "" && strings.Count(before, "/") != 3 {
		return path
	}
	parts := strings.FieldsFunc(after, func(r rune) bool { return r == '/' })
	return before + prefix + strings.TrimSpace(strings.Join(parts, "/"))
}
