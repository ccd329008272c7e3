package exchange

import (
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/service"
)

// Answer is what a request is answered with.
type Answer struct {
	Status int // 0: nothing is answered, and the connection is closed
	Header http.Header
	Body   Body   // nil: none
	Code   string // of the error that it says; empty for none
	// Due is when it goes out; zero: at once.
	Due time.Time
	// Before is what is sent before, from Due on; nil for nothing.
	Before *service.BeforeAnswer
}

// Body is the body of an answer.
type Body interface {
	ContentType() string
	// Append appends the body to a text.
	Append([]byte) ([]byte, error)
}

// isHeld reports whether the answer does not go out at once.
func (a *Answer) isHeld() bool { return !a.Due.IsZero() || a.Before != nil }
