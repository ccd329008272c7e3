package httpserver

import (
	"io"
	"net/http"
	"time"
)

// bound returns a handler that sets the deadlines of each request and answer, and then calls next.
func (d Deadlines) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, connection: http.NewResponseController(w), within: d.Write}
		if r.Body != http.NoBody {
			// body.Read clears the read deadline at the end of the body. Otherwise the deadline would cancel the
			// context of a request whose answer is held.
			_ = a.connection.SetReadDeadline(time.Now().Add(d.Body)) // an error means that the connection is closed
			a.body = &body{ReadCloser: r.Body, connection: a.connection}
			bounded := *r
			bounded.Body = a.body
			r = &bounded
		}
		next.ServeHTTP(a, r)
		if a.body != nil && !a.begun {
			a.WriteHeader(http.StatusOK)
		}
	})
}

// body is the body of a request. It clears the read deadline at its end.
type body struct {
	io.ReadCloser
	connection *http.ResponseController
	ended      bool
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && !b.ended {
		b.ended = true
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// answer is a response writer that sets the write deadline.
type answer struct {
	http.ResponseWriter
	connection *http.ResponseController
	within     time.Duration
	body       *body // body of the request; nil for none
	begun      bool
}

// Unwrap returns the underlying writer, for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements [http.ResponseWriter]. If the body of the request was not read to its end, the connection is
// closed after the answer. Otherwise net/http would wait for the rest of the body before it sends the answer.
func (a *answer) WriteHeader(status int) {
	if !a.begun {
		a.begun = true
		_ = a.connection.SetWriteDeadline(time.Now().Add(a.within))
		if a.body != nil && !a.body.ended {
			a.Header().Set("Connection", "close")
		}
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
	return a.ResponseWriter.Write(p)
}
