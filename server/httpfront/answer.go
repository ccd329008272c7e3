package httpfront

import (
	"context"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/service"
)

// Answer is the answer to a request.
type Answer struct {
	Status int // 0: the connection is closed without an answer
	Header http.Header
	Body   Body   // nil: none
	Code   string // the error code in the body; empty for none
	// Hint is what a person should know about the request, a sentence in English; empty for none. The answer has it in the
	// header X-Cauri-Reason, unless Header has that, and the request log keeps it.
	Hint string
	// Due is the earliest time at which the answer is sent; zero: at once.
	Due time.Time
	// Before is the event or callback that is sent before the answer; nil for none. The wait for it starts at Due.
	Before *service.BeforeAnswer
	// Await waits, and returns the answer that is sent instead of this one. If Await is nil, this answer is sent. The
	// call starts at Due, and the wait for Before starts after it. The context of the call has no deadline, and ends when
	// the client disconnects. If the answer may not be held, the context has already ended, and Await returns the answer
	// of the present moment.
	Await func(context.Context) (Answer, error)
}

// Body is the body of an answer.
type Body interface {
	ContentType() string
	// Append appends the encoded body to the slice and returns it.
	Append([]byte) ([]byte, error)
}

// Pieces is a [Body] of any length that is written piece by piece, so that it needs little memory.
type Pieces interface {
	Body
	// Next appends the next piece, of about 256 KiB, to the slice and returns it. It returns [io.EOF] with the last
	// piece. Any other error closes the connection, so that the client learns that the body is not complete.
	Next(context.Context, []byte) ([]byte, error)
}

// isHeld reports whether the answer has to wait before it is sent.
func (a *Answer) isHeld() bool { return !a.Due.IsZero() || a.Before != nil || a.Await != nil }
