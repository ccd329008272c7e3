package exchange

import (
	"net/http"
	"regexp"

	"github.com/cauri-dev/cauri/server/requests"
)

// Front is one API.
type Front struct {
	// Failed is the answer to an error of a handler. A request that a fault drops, see [IsDropped], has none.
	Failed func(*http.Request, error) Answer
	// Kept is what the request log keeps of the requests to a route; an empty route is a path that nothing answers.
	Kept func(method, route string) Kept
}

// Kept is what the request log keeps of requests.
type Kept struct {
	Query, Body, Answer requests.Fields
	OnlyFailures        bool // nothing of a request that is answered 200
}

// Secret is a credential of a front, which the request log keeps nowhere.
type Secret struct {
	Of   func(*http.Request) string // in a request; empty for none
	Form *regexp.Regexp             // what it looks like
}
