package exchange

import (
	"net/http"
	"regexp"

	"github.com/cauri-dev/cauri/server/requests"
)

// Front is one API.
type Front struct {
	// Failed returns the answer to an error of a handler. It is not called for a request that a fault drops, see
	// [IsDropped].
	Failed func(*http.Request, error) Answer
	// Kept returns the fields that the request log keeps of requests to a route; the route is empty for a path without
	// a handler.
	Kept func(method, route string) Kept
}

// Kept are the fields that the request log keeps of requests.
type Kept struct {
	Query, Body, Answer requests.Fields
	OnlyFailures        bool // true: requests that are answered 200 are not logged
}

// Secret is a kind of credential that a front accepts. The request log never stores one.
type Secret struct {
	Of   func(*http.Request) string // returns the credential in a request; empty for none
	Form *regexp.Regexp             // matches a credential anywhere in a text
}
