// Package operatorapi is the frame of the operators' own APIs: what an operator's package says of its API, and what a
// sandbox does for it.
//
// The package of an operator knows paths, headers, bodies and codes. It knows neither the database nor the
// configuration: it asks its [Sandbox], which is the same for all operators, and answers in the operator's shape.
package operatorapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// API is the own API of an operator.
type API struct {
	Operator payments.Operator
	Routes   []Route
	// Key finds the credential in a request that says which sandbox it is made to; empty for none.
	Key func(*http.Request) string
	// KeyHeader is the header in which Key looks first.
	KeyHeader string
	// Derive makes the credentials of the API from a sandbox's API key.
	Derive func(apiKey string) Credentials
	// Refuse tells a refusal in the operator's shape.
	Refuse func(*Refusal) Answer
	// Callback is the callback of a transaction that has its outcome.
	Callback func(*payments.Transaction, json.RawMessage, Telling) Callback
	Facts    []Fact
	Quirks   []Quirk
	// Logged are the fields of bodies and answers that the request log keeps. None of them is a credential.
	Logged []string
	// SecretForm is what the credentials of the API look like, to find one that stands in a field that is kept.
	SecretForm *regexp.Regexp
}

// Quirk is a habit of the operator's own sandbox that the API has here too, unless the environment ends it.
type Quirk struct {
	Name  string // in the resource
	About string // in lines, for the reference of the resource
}

// Credentials are what the credentials Secret holds of an operator.
type Credentials struct {
	Secret  map[string]string // by the key of the Secret
	Key     string            // that [API.Key] finds
	User    string            // who asks for tokens, with UserKey as the password
	UserKey string
}

// Access is what a request has to carry beside the key.
type Access int

// The kinds of access.
const (
	ByKey   Access = iota // nothing
	ByUser                // a user and the user's password, as Basic authentication
	ByToken               // an access token
)

// Route is one call of an API.
type Route struct {
	Name    string // of the call, as the operator writes it
	Method  string
	Path    string // below the base URL of the operator
	Access  Access
	Product string // that a token is issued for, or has to be for
	Orders  bool   // the call asks the sandbox to record a transaction
	Handle  func(context.Context, Sandbox, *Request) (Answer, error)
	Doc     Doc
}

// Doc describes a call in the OpenAPI document and on the page of fidelity.
type Doc struct {
	Summary  string
	Mark     Mark // of the call as a whole
	Source   string
	Headers  []Field
	Body     string // example of the request; empty: it has none
	Request  []Field
	Status   int    // of the answer to a good request
	Answer   string // example of that answer; empty: it has no body
	Response []Field
	Refused  []Why  // for which reasons, beside those that [API.Refusals] adds
	Test     string // that holds it
}

// Mark is how sure a fact is.
type Mark string

// The marks.
const (
	Documented Mark = "documented"  // by the operator, or observed in its answers
	ThirdParty Mark = "third-party" // not documented, but used by several clients
	Assumed    Mark = "assumed"
)

// Fact is a row on the page of fidelity beside the calls: a field, a code, a rule.
type Fact struct {
	What   string
	Mark   Mark
	Source string
	Test   string
	Real   string // how the operator's own API is known to differ; empty: in nothing
}

// Request is a request as it arrived.
type Request struct {
	Header  http.Header
	Body    []byte
	Param   func(name string) string // of the path
	User    User                     // of its token, or of its password
	Product string                   // of the route
}

// User is a user of an API.
type User struct {
	ID           string
	CallbackHost string // that callbacks are limited to; empty: none beside the sandbox's own limits
}

// Answer is what a request is answered with.
type Answer struct {
	Status int
	Header http.Header
	Body   any // encoded as JSON; nil: none
}

// Environment is the operator in one country.
type Environment struct {
	Country  payments.Country
	Currency payments.Currency
	Vague    bool            // failures are told without their reason
	Quirks   map[string]bool // the ones that the resource sets
}

// Order is an order as a call says it: without its operator and its store, which the sandbox knows.
type Order struct {
	payments.Order
	Operation   string // name of the call
	Sent        any    // what answers repeat, as JSON
	CallbackURL string // empty: none
	// Party is how the number behaves that belongs to no SIM, if the operator gives it a meaning; nil: as any other.
	Party *payments.TestNumber
}

// Telling is how a failure is told.
type Telling struct {
	Vague  bool   // without its reason
	Reason string // in place of its own; empty: none
}

// Payment is a transaction that the operator's own API recorded, as the operator tells it.
type Payment struct {
	*payments.Transaction
	Telling
	Operation string
	Sent      json.RawMessage
}

// Holder is who has a number.
type Holder struct {
	Name   string // empty: unknown
	Active bool
}

// Sandbox is what the frame does for a request. Its methods return a [*Refusal] for what is refused.
type Sandbox interface {
	// Environments are the enabled ones of the operator, in the order of the resource.
	Environments() []Environment
	// Collect, Disburse and Refund record a transaction.
	Collect(context.Context, Order) error
	Disburse(context.Context, Order) error
	Refund(context.Context, Order) error
	// Find finds a transaction that the operator's own API recorded by one of some calls.
	Find(ctx context.Context, reference string, operations ...string) (Payment, error)
	// FindCollection finds a collection of this operator that any API recorded.
	FindCollection(ctx context.Context, reference string) (*payments.Transaction, error)
	Balance(context.Context, payments.Currency) (int64, error)
	Holder(ctx context.Context, e Environment, msisdn string) (Holder, error)
	// MayCall reports whether callbacks may go to a URL.
	MayCall(url string) bool
	IssueToken(ctx context.Context, token, product string, u User, lifetime time.Duration) error
	// AddUser makes a user without a password, SetPassword gives it one, or another.
	AddUser(ctx context.Context, u User) error
	SetPassword(ctx context.Context, id, password string) error
	FindUser(ctx context.Context, id string) (User, error)
	// Text is a new random text of 32 hexadecimal digits.
	Text() (string, error)
	// Now is the time of the sandbox.
	Now(context.Context) (time.Time, error)
}

// Callback is a callback as it is sent.
type Callback struct {
	Method string
	Header http.Header
	Body   []byte
}

// Why is why a request is refused.
type Why string

// The reasons of the frame. An operator's package may have others of its own.
const (
	KeyMissing   Why = "key_missing"
	KeyInvalid   Why = "key_invalid"
	UserInvalid  Why = "user_invalid"
	TokenInvalid Why = "token_invalid"
	NoRoute      Why = "no_route"
	NotFound     Why = "not_found"
	Invalid      Why = "invalid_request" // what was sent is malformed, or asks for what cannot be
	Duplicate    Why = "duplicate_reference"
	TooMany      Why = "rate_limited"
	Unavailable  Why = "unavailable" // suspended, the quota is used up, or the database cannot be reached
	Internal     Why = "internal"
	Gateway      Why = "gateway" // what stands before the operator's application answers, with the status of the refusal
)

// Refusal is a request that is refused.
type Refusal struct {
	Why    Why
	Status int    // of [Gateway]
	Reason string // the code of Cauri's own API that says it more exactly, for the header X-Cauri-Reason; empty: as Why
}

// Refuse makes a refusal.
func Refuse(why Why) *Refusal { return &Refusal{Why: why} }

// Because is a refusal with the code of Cauri's own API.
func Because(why Why, reason string) *Refusal { return &Refusal{Why: why, Reason: reason} }

// IsRefused reports whether an error is a refusal for a reason.
func IsRefused(err error, why Why) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Why == why
}

// OfStatus is the refusal that an operator answers with a status of HTTP, with the code of Cauri's own API.
func OfStatus(status int, reason string) *Refusal {
	switch status {
	case http.StatusUnauthorized:
		return Because(TokenInvalid, reason)
	case http.StatusTooManyRequests:
		return Because(TooMany, reason)
	case http.StatusInternalServerError:
		return Because(Internal, reason)
	case http.StatusServiceUnavailable:
		return Because(Unavailable, reason)
	}
	return &Refusal{Why: Gateway, Status: status, Reason: reason}
}

func (r *Refusal) Error() string {
	if r.Reason != "" {
		return string(r.Why) + ": " + r.Reason
	}
	return string(r.Why)
}

// Code is the reason for the header X-Cauri-Reason.
func (r *Refusal) Code() string {
	if r.Reason != "" {
		return r.Reason
	}
	return string(r.Why)
}
