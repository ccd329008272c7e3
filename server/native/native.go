// Package native serves simulations of the operators' own APIs, below /operators. Like /v1, it calls package service.
// The routes and formats of each operator are in the packages of the operators, see package operatorapi.
package native

import (
	"crypto/rsa"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/server/service"
)

const prefix = "/operators/"

// Native serves the operators' own APIs.
type Native struct {
	pipeline  *httpfront.Pipeline
	service   *service.Service
	ledger    *ledger.Ledger
	directory *sandboxes.Directory
	now       func() time.Time
	random    io.Reader
	baseURL   *url.URL
	roots     httpfront.Roots
	tokens    knownTokens
	pinKey    func() *rsa.PrivateKey
	turns     *rsaTurns
	claimed   sync.Map // of claim: the phones that requests have claimed
	// credentialKey returns the key of the certificate.
	credentialKey func() *secrets.CredentialKey
}

// Options are the dependencies and settings of a [Native].
type Options struct {
	httpfront.Shared
	Now    func() time.Time
	Random io.Reader              // random bytes for tokens and users
	PINKey func() *rsa.PrivateKey // returns the key for PINs that clients encrypt, or nil for none; may be nil
	// CredentialKey returns the key for passwords that clients encrypt, or nil for none; may be nil.
	CredentialKey func() *secrets.CredentialKey
	BaseURL       *url.URL // base URL for merchants, used in the descriptions of the APIs; nil: not known
}

// New returns the front of the operators' APIs.
func New(o Options) *Native {
	if o.PINKey == nil {
		o.PINKey = func() *rsa.PrivateKey { return nil }
	}
	if o.CredentialKey == nil {
		o.CredentialKey = func() *secrets.CredentialKey { return nil }
	}
	return &Native{
		pipeline: o.Pipeline, service: o.Service, ledger: o.Ledger, directory: o.Directory, now: o.Now, random: o.Random,
		baseURL: o.BaseURL, pinKey: o.PINKey, credentialKey: o.CredentialKey, turns: newRSATurns(), roots: o.Roots,
	}
}

// Secrets returns the forms of the credentials of the operators' own APIs, so that the request log can hide them.
func Secrets() (all []httpfront.Secret) {
	for _, api := range operators.NativeAPIs() {
		presented := func(r *http.Request) string { return api.Key(r, func() []byte { return nil }) }
		all = append(all, httpfront.Secret{Of: presented, Form: api.SecretForm})
	}
	return all
}

// RoutedPath returns the path that the router matches. Bytes that Postgres refuses, of no UTF-8 and zero, are U+FFFD in it,
// so that no parameter has them. In a path of an operator's API, each part stays escaped, because
// an id may contain a slash. RoutedPath removes what some clients add: repeated slashes, and slashes and spaces at the
// end. Any other path is unescaped, so that %2B matches a +.
func RoutedPath(u *url.URL) string {
	if !isOfOperator(u.Path) {
		return postgres.Text(u.Path)
	}
	escaped := strings.TrimRight(strings.ReplaceAll(u.EscapedPath(), "%20", " "), "/ ")
	parts := strings.FieldsFunc(escaped, func(r rune) bool { return r == '/' })
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			panic(err) // an escaped path can always be unescaped
		}
		parts[i] = url.PathEscape(postgres.Text(plain)) // clients escape more than they need to
	}
	return "/" + strings.Join(parts, "/")
}

// isOfOperator reports whether an unescaped path is one of an operator's API. Only such a path reaches a route of
// package native, so [param] can unescape every parameter.
func isOfOperator(path string) bool {
	if within, ok := strings.CutPrefix(path, "/sandboxes/"); ok {
		_, named, _ := strings.Cut(within, "/")
		_, after, _ := strings.Cut(named, "/")
		return strings.HasPrefix(after, prefix[1:])
	}
	return strings.HasPrefix(path, prefix)
}

// param returns a parameter of the path of a request, unescaped.
func param(r *http.Request, name string) string {
	plain, err := url.PathUnescape(chi.URLParam(r, name))
	if err != nil {
		panic(err) // RoutedPath escaped it
	}
	return plain
}
