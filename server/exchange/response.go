package exchange

import "net/http"

// response is the writer of an answer. It remembers the status, and keeps the beginning of the body for the request
// log.
type response struct {
	http.ResponseWriter
	draining <-chan struct{} // closed when the process is told to stop
	status   int             // the status that was written; 0 before
	answered bodyKeeper
}

// bodyKeeper receives each piece of an answer's body that is written.
type bodyKeeper interface{ keepAnswer(body []byte, status int) }

// Unwrap returns the underlying writer, on which [http.ResponseController] sets deadlines.
func (o *response) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (o *response) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
		o.leave()
	}
	o.ResponseWriter.WriteHeader(status)
}

// leave asks the client to close the connection once the process is told to stop. A connection that stays open would
// lead to this process until its end, and the last request on it would be lost. For the same reason, idle connections
// stay open as long as the process accepts requests.
func (o *response) leave() {
	select {
	case <-o.draining:
		o.Header().Set("Connection", "close")
	default:
	}
}

// Write implements [http.ResponseWriter].
func (o *response) Write(body []byte) (int, error) {
	if o.status == 0 {
		o.WriteHeader(http.StatusOK)
	}
	o.answered.keepAnswer(body, o.status)
	return o.ResponseWriter.Write(body)
}
