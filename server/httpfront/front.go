package httpfront

import (
	"net/http"
	"regexp"

	"github.com/cauri-dev/cauri/server/requests"
)

// Front is one HTTP API.
type Front struct {
	// Failed returns the answer for an error of a handler. It is not called for errors that [IsDropped] reports.
	Failed func(*http.Request, error) Answer
	// Kept returns the fields that the request log keeps of requests to a route. The route is empty for an unknown
	// path.
	Kept func(method, route string) LoggedFields
	// OnlyChanges limits the request log to the requests that change something. These are logged with any status. Their
	// bodies are not logged.
	OnlyChanges bool
}

// LoggedFields are the fields that the request log keeps of requests.
type LoggedFields struct {
	Query, Body, Answer requests.Fields
	OnlyFailures        bool // true: the log omits requests with the status 200
	Nested              bool // whether fields of Body are kept at every level, and not only at the first
}

// Secret is a type of credential that a front accepts. The request log stores no credentials.
type Secret struct {
	Of   func(*http.Request) string // returns the credential of a request; "" for none
	Form *regexp.Regexp             // matches a credential anywhere in a text
}
