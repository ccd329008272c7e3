// Package operatorapi is the contract of the operators' own APIs: the package of an operator provides an [API], and
// package native serves it.
//
// The package of an operator has paths, headers, bodies and codes. It accesses neither the database nor the
// configuration. Its handlers call the methods of a [Sandbox], which are the same for all operators.
package operatorapi

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/operators/ussd"
	"github.com/cauri-dev/cauri/server/payments"
)

// API is the own API of an operator.
type API struct {
	Operator payments.Operator
	Name     string // as people write it; empty: the operator with a capital, and a short one in capitals
	Routes   []Route
	Files    []File
	// Key returns the credential that identifies the sandbox of a request; "" for none. It calls body only if the API
	// has credentials in bodies.
	Key func(r *http.Request, body func() []byte) string
	// KeyHeader is the name of the header that Key reads first. It is empty if the API has no such header: Key then
	// reads the user or the token.
	KeyHeader string
	// PathFirst is whether the API answers an unknown path with [NoRoute] whatever the credentials are.
	PathFirst bool
	// NeedsLength is whether the gateway of the API refuses a POST without Content-Length, with [NoLength].
	NeedsLength bool
	// Login returns the user and the password of a request for a token. If Login is nil, they come from Basic
	// authentication.
	Login func(r *http.Request, body func() []byte) (id, password string, given bool)
	// Derive returns the credentials of the API, derived from a sandbox's API key.
	Derive func(apiKey string) Credentials
	// Refuse returns the operator's answer for a refusal.
	Refuse func(*Refusal) Answer
	// FieldReasons has a prefix for each reason whose answers name a field of the request. [Refusal.ErrorCode] is then
	// this prefix, followed by the name of the field. nil: no answer names a field.
	FieldReasons map[Reason]string
	// Expected has, for reasons whose refusals all concern the same part of a request, that part. It is the detail of
	// such a refusal without one, see [API.Detail].
	Expected map[Reason]Expected
	// Parts has, for an error code of /v1, the part of a request that its detail concerns.
	Parts map[string]string
	// OwnAdvice is the advice for the reasons that only this operator has. It also replaces the common advice for other
	// reasons, see [API.Advice].
	OwnAdvice map[Reason]Advice
	// Drawn are the fields of refusals that have another value in each answer. The OpenAPI document lists no value of them.
	Drawn []string
	// Examples are values of parameters of paths and of headers, by name.
	Examples map[string]string
	// CountryText has, for an API that names its countries, the name of each.
	CountryText map[payments.Country]string
	// Variables has the name of an environment variable for each value in an example body that a reader replaces. The
	// programs of the page take the value from that environment variable.
	Variables map[string]string
	// Callback returns the callback of a transaction with an outcome, or of a [Notice]. The transaction is nil for a
	// notice.
	Callback func(*payments.Transaction, json.RawMessage, StatusView) Callback
	// Retries are the pauses before each retry of a callback that its receiver does not acknowledge, in sandbox time.
	// nil: each callback is sent once.
	Retries []time.Duration
	// Sign returns the body of a callback as it is sent. The parameter sent has the stored fields of the request. Sign
	// adds a signature only if these fields ask for one. Sign is nil if the operator signs no callbacks.
	Sign func(body []byte, sent json.RawMessage, key string) []byte
	// CallbackKey is the entry of the credentials Secret that has the key of Sign; empty for none.
	CallbackKey string
	// ContentType is the type of the bodies of all answers.
	ContentType string
	// Message returns the text message that the phone gets about a transaction. ok is false for a transaction with the
	// common message of package ussd. nil: all have that one.
	Message func(*payments.Transaction) (m ussd.Message, ok bool)
	// Started is the operation of collections that their payers start; empty for none.
	Started string
	// Page is the page on which payers confirm orders; nil for none.
	Page   *Page
	Facts  []Fact
	Quirks []Quirk
	// Logged are the fields of bodies and answers that the request log keeps. None of them is a credential.
	Logged []string
	// SecretForm matches the credentials of the API. The request log hides what it matches in a kept field.
	SecretForm *regexp.Regexp
}

// Expected is what a part of a request has to be, see [Refusal.Expect].
type Expected struct{ Part, Form string }

// File is a part of an API that anybody may read, for example a WSDL.
type File struct {
	Path, ContentType string
	Text              func(base string) string // base is the base URL of the API that the client used
	// Certificate is whether the file is the certificate of this installation, in PEM. Text is nil then.
	Certificate bool
}

// Quirk is a special behavior of the operator's own API or sandbox. Cauri has it too, unless the resource turns it off.
type Quirk struct {
	Name  string // name in the resource
	About string // description for the reference of the resource
	Off   bool   // whether Cauri has it only if the resource turns it on
}

// Credentials are the credentials of an operator's own API.
type Credentials struct {
	Secret  map[string]string // entries of the credentials Secret
	Key     string            // credential that [API.Key] returns
	User    string            // user who requests tokens, with the password UserKey
	UserKey string
	Checked map[string]string // further credentials, which [Sandbox.Checks] compares
}

// Access is the credential that a request needs in addition to the key.
type Access int

// The kinds of access.
const (
	ByKey   Access = iota // no further credential
	ByUser                // user and password, with Basic authentication
	ByToken               // access token
)

// Route is one call of an API.
type Route struct {
	Name    string // the operator's name of the call
	Method  string
	Path    string // path below the base URL of the operator's API
	Access  Access
	Product string // product of the token that the call issues or needs; empty for none
	Orders  bool   // whether the call may record a transaction
	Handle  Handler
	// Refuse returns the answer for a refusal of this call. sent is the body of the request, as far as it could be
	// read. If Refuse is nil, [API.Refuse] returns it.
	Refuse func(r *Refusal, sent []byte) Answer
	// Flicker has, for a status call that does not always answer right, what it answers instead, see [Flicker]. nil: it
	// always answers right.
	Flicker *Flicker
	Doc     Doc
}

// Flicker has the possible answers of a status call to which a fault with statusFlickers applies. One of them is drawn
// for each call, all with the same chance. nil stands for the right answer. The status call finds its transaction by
// [Sandbox.Find].
type Flicker struct {
	Pending []WrongAnswer // for a transaction without an outcome
	Ended   []WrongAnswer // for a transaction with its outcome
}

// WrongAnswer returns an answer that says nothing about a transaction.
type WrongAnswer func() Answer

// Flickers reports whether a status call of the API does not always answer right under a fault with statusFlickers.
func (a *API) Flickers() bool {
	return slices.ContainsFunc(a.Routes, func(r Route) bool { return r.Flicker != nil })
}

// Doc describes a call in the OpenAPI document and on the page of fidelity.
type Doc struct {
	Summary string
	Mark    Mark // mark of the call as a whole
	Source  string
	// Elsewhere is the path of another description of the call, below the base URL of the operator's API. It is empty
	// if the OpenAPI document has the call. The document leaves out a call with another description.
	Elsewhere string
	Query     []Field
	Headers   []Field
	Body      string // example of the request's body, as JSON; empty for none
	Form      bool   // whether the body is sent as a form
	Request   []Field
	Status    int    // status of the successful answer
	Answer    string // example of the successful answer's body; empty for none
	Response  []Field
	Refused   []Reason // reasons of refusals, beside those that [API.Refusals] adds
	Test      string   // name of the test of the call
}

// FormType is the content type of a form.
const FormType = "application/x-www-form-urlencoded"

// Mark is the certainty of a fact about an operator's own API.
type Mark string

// The marks.
const (
	Documented Mark = "documented"  // documented by the operator, or observed in its answers
	ThirdParty Mark = "third-party" // not documented; independent clients agree on it
	Assumed    Mark = "assumed"
)

// Fact is a row on the page of fidelity about a field, a code or a rule.
type Fact struct {
	What   string
	Mark   Mark
	Source string
	Test   string
	Real   string // known difference of the operator's own API; empty for none
}

// Fact returns a fact with this mark. test is the name of the test that checks it.
func (m Mark) Fact(what, source, test string) Fact {
	return Fact{What: what, Mark: m, Source: source, Test: test}
}

// Differs returns a copy of the fact with the known difference of the operator's own API.
func (f Fact) Differs(theirs string) Fact {
	f.Real = theirs
	return f
}

// The sources of the facts that are not documented.
const (
	PublishedClients = "published clients"
	OurChoice        = "our choice"
)

// Request is a request to the API.
type Request struct {
	Header  http.Header
	Query   url.Values
	Body    []byte
	Param   func(name string) string // returns a parameter of the path
	User    User                     // user of the token or of the Basic authentication
	Product string                   // product of the route
}

// User is a user of an API.
type User struct {
	ID           string
	CallbackHost string // only allowed host of callbacks; empty: only the sandbox's rules apply
}

// Answer is the answer to a request.
type Answer struct {
	Status  int
	Header  http.Header
	Body    any    // encoded as JSON, except a [Text]; nil: none
	Reason  Reason // only for a refusal: the code in the header X-Cauri-Reason; empty: [Refusal.Code]
	Detail  string // what a person should know, in X-Cauri-Reason and in the request log; empty for a refusal: Detail of the [Refusal]
	Outcome bool   // whether the body has the outcome of the recorded transaction: the answer then waits for the latency
	// Await returns the body after the payer of the recorded transaction has decided. The answer waits for the decision
	// only if the transaction is pending. If the wait ends without an outcome, the body is the field Body. Await is nil
	// if the answer does not wait.
	Await func(*Payment) any
}

// Text is a body that is not JSON.
type Text struct{ ContentType, Text string }

// Environment is the operator in one country.
type Environment struct {
	Country  payments.Country
	Currency payments.Currency
	Vague    bool            // whether failures are reported without their reason
	Quirks   map[string]bool // quirks that the resource turns on or off, see [Environment.Has]
	Callback CallbackTarget
	// AnyNumber is whether any number has an account, as [Order.AnyNumber]. The operator's package sets it for a request.
	AnyNumber bool
}

// Has reports whether a quirk is on.
func (e *Environment) Has(q Quirk) bool {
	if on, set := e.Quirks[q.Name]; set {
		return on
	}
	return !q.Off
}

// CallbackTarget is the receiver of callbacks in the resource. It is for operators whose requests name no URL.
type CallbackTarget struct {
	URL  string // empty for none
	Hash bool   // whether callbacks are signed
}

// Order is an order in a call. The sandbox sets its operator and its store.
type Order struct {
	payments.Order
	Operation   string // name of the call
	Sent        any    // fields of the request that answers repeat; encoded as JSON
	CallbackURL string // URL of a single callback without a kind; empty: see Callbacks
	// Callbacks are the callbacks of the order, at most [payments.MaxCallbacks]. They are ignored if CallbackURL is
	// set.
	Callbacks []payments.PlannedCallback
	// Party is the behavior of the number in the operator's own sandbox; nil for none. It applies if no SIM has the
	// number.
	Party *payments.TestNumber
	// AnyNumber is whether a number pays, and can be paid, that no SIM and no test number of the sandbox has.
	AnyNumber bool
	// Failed is the status with which a disbursement fails, whoever the recipient is; empty for none. It is recorded, and
	// its callbacks are sent.
	Failed payments.Status
	// PromptTime is how long the payer of a collection may take to answer, in sandbox time; zero: as long as the
	// sandbox's pending timeout, which also bounds it.
	PromptTime time.Duration
	// Confirmed is whether the payer of a collection has confirmed it before it is recorded, as on a page: no phone
	// rings. The behavior of the payer's SIM decides the outcome, and a payer who answers by hand has approved.
	Confirmed bool
}

// StatusView says how an outcome is reported.
type StatusView struct {
	Vague  bool   // whether the reason of a failure is omitted
	Reason string // reason that a fault reports instead of the real one; empty for none
	Kind   string // of the callback, as in [payments.Callback]
}

// Payment is a transaction that the operator's own API recorded.
type Payment struct {
	*payments.Transaction
	StatusView
	Operation string
	Sent      json.RawMessage
}

// Holder is the account holder of a number.
type Holder struct {
	Name   string // empty: unknown
	Active bool
}

// Sandbox has the methods that handlers call for a request. They return a [*Refusal] for a refused request.
type Sandbox interface {
	// Environments returns the enabled environments of the operator, in the order of the resource.
	Environments() []Environment
	// Collect, Disburse and Refund record a transaction.
	Collect(context.Context, Order) error
	Disburse(context.Context, Order) error
	Refund(context.Context, Order) error
	// Find returns the transaction with a reference. It refuses with [NotFound] if none of the given operations
	// recorded it.
	Find(ctx context.Context, reference string, operations ...string) (Payment, error)
	// HasPending reports whether a collection that a call recorded waits for an answer from the phone of a number.
	HasPending(ctx context.Context, operation, msisdn string) (bool, error)
	// Claim claims the phone of a number for the request, until release is called. It reports false if another request to
	// this process has claimed it.
	Claim(msisdn string) (release func(), claimed bool)
	// ApplyFault applies the faults of a call. Package native does so itself for a route without [Route.Orders]. The
	// handler of a route with it calls ApplyFault if the call records no transaction.
	ApplyFault(context.Context) error
	// FindInMinute returns the newest transaction of this operator that was created in a minute and that the function
	// is accepts. Any API may have recorded it. It refuses with [NotFound] if there is none.
	FindInMinute(ctx context.Context, minute time.Time, is func(*payments.Transaction) bool) (*payments.Transaction, error)
	// OpenCheckout opens an order that a payer confirms on the page of the operator. It refuses with [Duplicate] if an
	// open order or a transaction has the reference.
	OpenCheckout(context.Context, Checkout) error
	// FindCheckout returns the order with a token.
	FindCheckout(ctx context.Context, token string) (Checkout, error)
	// Confirm checks the one-time code that a payer has given for an open order. If the code is right, it records the
	// collection, whose outcome follows from the payer's behavior. It refuses a wrong code with [WrongCode]. The last
	// wrong code ends the order. If the reference is taken, it refuses with [Duplicate], and the order ends. It refuses
	// with [NotFound] if the order is no longer open.
	Confirm(ctx context.Context, checkout Checkout, code string, o Order) error
	// Cancel ends an open order without a collection, because its payer canceled it.
	Cancel(context.Context, Checkout) error
	// PageOf returns the address of the page of an order.
	PageOf(Checkout) string
	// FindCollection returns the collection of this operator with a reference. Any API may have recorded it.
	FindCollection(ctx context.Context, reference string) (*payments.Transaction, error)
	// ListPaid returns the collections of this operator in a country that were paid at a time or later, and before
	// another, in the order in which they were made. Any API may have recorded them. The parameter of chooses among them
	// by their requests. It leaves out the first ones, as many as skip says, and returns at most [MaxPaid].
	ListPaid(
		ctx context.Context, in payments.Country, from, before time.Time, of payments.SentValue, skip int,
	) ([]*payments.Transaction, error)
	// Keep stores a value under a name of 1 to 80 characters, in place of the one with this name. The value is encoded
	// as JSON, in at most [MaxKept] bytes. A sandbox keeps the newest 100 values of each operator. A value ends with the
	// API key that stored it, and with a reset.
	Keep(ctx context.Context, name string, value any) error
	// Kept decodes the value with a name. It refuses with [NotFound] if there is none.
	Kept(ctx context.Context, name string, into any) error
	// Notify queues a callback that belongs to no transaction. No fault acts on it. A sandbox keeps the newest 10,000
	// of each operator, for 30 days.
	Notify(context.Context, Notice) error
	// Ask asks the merchant about a payment before the payment is recorded. It sends a callback that belongs to no
	// transaction once, and waits for the reply. The reply is nil, without an error, if the limit passes or the
	// receiver cannot be reached. The operator's default then applies. The limit is in real time, at most 8 s. Ask
	// records only the callback and its attempt.
	Ask(ctx context.Context, question Notice, limit time.Duration) (*Reply, error)
	Balance(context.Context, payments.Currency) (int64, error)
	Holder(ctx context.Context, e Environment, msisdn string) (Holder, error)
	// MayCall reports whether callbacks may go to a URL.
	MayCall(url string) bool
	// Checks reports whether a credential of [Credentials].Checked has this value.
	Checks(name, value string) bool
	// PINKey returns the public key with which clients encrypt PINs; nil if this installation has none.
	PINKey() *rsa.PublicKey
	// OpenPIN decrypts a PIN, and returns it with its padding. It waits for its turn, and refuses with [Unavailable] if
	// the wait is too long. The text must have as many bytes as the key.
	OpenPIN(ctx context.Context, text []byte) (padded []byte, err error)
	// CredentialKey returns the public key with which clients encrypt passwords; nil if this installation has none. It
	// is the key of the certificate, see [File].
	CredentialKey() *rsa.PublicKey
	// OpenCredential decrypts a password as OpenPIN does a PIN. Both share the turns.
	OpenCredential(ctx context.Context, text []byte) (padded []byte, err error)
	IssueToken(ctx context.Context, token, product string, u User, lifetime time.Duration) error
	// AddUser adds a user without a password. SetPassword sets or replaces the password.
	AddUser(ctx context.Context, u User) error
	SetPassword(ctx context.Context, id, password string) error
	FindUser(ctx context.Context, id string) (User, error)
	// RandomHex returns 32 random hexadecimal digits.
	RandomHex() (string, error)
	// Now returns the sandbox time.
	Now(context.Context) (time.Time, error)
}

const (
	// MaxKept is the maximum size of a value of [Sandbox.Keep], in bytes.
	MaxKept = 8 << 10
	// MaxPaid is the number of collections that [Sandbox.ListPaid] returns at most.
	MaxPaid = 100
	// MaxSkipped is the number of collections that [Sandbox.ListPaid] leaves out at most. It returns none beyond them.
	MaxSkipped = 100_000
)

// Notice is a callback that belongs to no transaction, for example the result of an inquiry.
type Notice struct {
	URL, Kind string
	Sent      any           // fields for [API.Callback]; encoded as JSON
	After     time.Duration // pause until it is due, in sandbox time; the sandbox's latencyPercent scales it
}

// Reply is the merchant's reply to [Sandbox.Ask].
type Reply struct {
	Status int
	Body   []byte // the first 4 KiB
}

// Callback is the HTTP request of a callback.
type Callback struct {
	Method string
	Header http.Header
	Body   []byte
}

// Reason is the reason of a refusal.
type Reason string

// The reasons of all operators. An operator's package may have further reasons.
const (
	KeyMissing   Reason = "key_missing"
	KeyInvalid   Reason = "key_invalid"
	UserInvalid  Reason = "user_invalid"
	TokenInvalid Reason = "token_invalid"
	NoRoute      Reason = "no_route"
	NotFound     Reason = "not_found"
	Invalid      Reason = "invalid_request" // the request is malformed, or has an invalid value
	Duplicate    Reason = "duplicate_reference"
	NoLength     Reason = "length_required" // a POST without Content-Length, of an API with [API.NeedsLength]
	TooMany      Reason = "rate_limited"
	Unavailable  Reason = "unavailable" // the sandbox is suspended, its quota is used up, or the database cannot be reached
	Internal     Reason = "internal"
	WrongCode    Reason = "wrong_code" // a payer typed a wrong one-time code on a page
	Gateway      Reason = "gateway"    // the gateway answers, not the application; Refusal.Status is set
)

// Refusal is the error of a refused request.
type Refusal struct {
	Reason    Reason
	Status    int    // HTTP status, only for [Gateway]
	ErrorCode string // more specific error code of /v1, for the header X-Cauri-Reason; empty: Reason
	Detail    string // what is wrong, after the code in X-Cauri-Reason, without a period, see [Refusal.Expect]; empty for none
	Token     Token  // what is wrong with the token, only for [TokenInvalid]
	Basic     bool   // whether the request has Basic authentication, only for [UserInvalid]
	// Allow has the methods that the path has, only for [NoRoute]. It is empty if there is no such path.
	Allow []string
	// Path is the path of the request below the base URL. It is empty if the API has a route for the request.
	Path string
}

// Token says what is wrong with a token.
type Token int

// UnknownToken is the zero value. It is for a token that was never issued.
const (
	UnknownToken Token = iota
	NoToken
	ExpiredToken
)

// Say sets Detail, and returns the refusal.
func (r *Refusal) Say(detail string) *Refusal {
	r.Detail = detail
	return r
}

// Expect sets Detail to what is wrong with a part of the request, and returns the refusal. The parameter part is the name
// of a header, of a parameter, or of a field of the body with its path. The parameter form says what the part should be.
func (r *Refusal) Expect(part, form string) *Refusal {
	return r.Say(part + ": expected " + form)
}

// Refuse returns a refusal.
func Refuse(reason Reason) *Refusal { return &Refusal{Reason: reason} }

// Because returns a refusal with a more specific error code of /v1.
func Because(reason Reason, code string) *Refusal { return &Refusal{Reason: reason, ErrorCode: code} }

// IsRefused reports whether an error is a refusal with this reason.
func IsRefused(err error, reason Reason) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Reason == reason
}

// ExpectFound calls [Refusal.Expect] if the error is a refusal with [NotFound] and without a detail. It returns any other
// error unchanged.
func ExpectFound(err error, part, form string) error {
	var r *Refusal
	if errors.As(err, &r) && r.Reason == NotFound && r.Detail == "" {
		return Refuse(NotFound).Expect(part, form)
	}
	return err
}

// OfStatus returns the refusal that is answered with an HTTP status. code is its error code of /v1.
func OfStatus(status int, code string) *Refusal {
	switch status {
	case http.StatusUnauthorized:
		return Because(TokenInvalid, code)
	case http.StatusTooManyRequests:
		return Because(TooMany, code)
	case http.StatusInternalServerError:
		return Because(Internal, code)
	case http.StatusServiceUnavailable:
		return Because(Unavailable, code)
	}
	return &Refusal{Reason: Gateway, Status: status, ErrorCode: code}
}

func (r *Refusal) Error() string {
	if r.ErrorCode != "" {
		return string(r.Reason) + ": " + r.ErrorCode
	}
	return string(r.Reason)
}

// Code returns the value of the header X-Cauri-Reason.
func (r *Refusal) Code() string {
	if r.ErrorCode != "" {
		return r.ErrorCode
	}
	return string(r.Reason)
}
