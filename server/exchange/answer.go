package exchange

import (
	"log/slog"
	"net/http"
	"sync"
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

// bodies are buffers of bodies that were sent.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// write writes an answer.
func (x *Exchange) write(w http.ResponseWriter, c *call, a *Answer) {
	if a.Status == 0 {
		return
	}
	c.logged.code = a.Code
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	if a.Body == nil {
		w.WriteHeader(a.Status)
		return
	}
	kept := bodies.Get().(*[]byte)
	defer func() {
		if cap(*kept) <= largeAnswer {
			bodies.Put(kept)
		}
	}()
	text, err := a.Body.Append((*kept)[:0])
	if err != nil {
		slog.Error("an answer cannot be encoded", "error", err)
		const failed = `{"error":"internal","message":"The answer could not be encoded.","detail":null}`
		http.Error(w, failed, http.StatusInternalServerError)
		return
	}
	*kept = text
	x.send(w, c, a, text)
}

// send writes the status and the body of an answer, unless it would be one too many that nobody reads.
func (x *Exchange) send(w http.ResponseWriter, c *call, a *Answer, body []byte) {
	release, ok := x.unread.take(c.organization(), len(body))
	if !ok {
		w.Header().Del("Link") // to the next page
		x.write(w, c, &x.options.Overloaded)
		return
	}
	defer release()
	w.Header().Set("Content-Type", a.Body.ContentType())
	w.WriteHeader(a.Status)
	_, _ = w.Write(body) // a client that went away loses nothing: everything is committed
}
