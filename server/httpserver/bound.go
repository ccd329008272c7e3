package httpserver

import (
	"io"
	"net/http"
	"time"
)

// bound gives every request and its answer their deadlines, before anything else looks at the request.
func (d Deadlines) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, connection: http.NewResponseController(w), within: d.Write}
		if r.Body != http.NoBody {
			// It ends with the body, in Read. A deadline to read that stays would end the request's context, and with it an answer that is held.
			_ = a.connection.SetReadDeadline(time.Now().Add(d.Body)) // a connection that is closed already has no deadlines
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

// body is the body of a request, whose deadline ends with it.
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

// answer is an answer that has to be read within a time.
type answer struct {
	http.ResponseWriter
	connection *http.ResponseController
	within     time.Duration
	body       *body // of the request; nil: there is none
	begun      bool
}

// Unwrap lets [http.ResponseController] find the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements [http.ResponseWriter]. Over a body that was not read to its end the answer goes out at once, and the connection
// is closed afterwards: net/http would first wait for the rest of the body otherwise.
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
