package httpfront

import "net/http"

// response writes an answer. It stores the status, and keeps the beginning of the body for the request log.
type response struct {
	http.ResponseWriter
	draining <-chan struct{} // closed when the process is told to stop
	status   int             // written status; 0 before the first write
	answered bodyKeeper
}

// bodyKeeper receives each written piece of an answer's body.
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

// leave asks the client to close the connection, after the process was told to stop. Otherwise the client might send
// another request on the connection when the process ends, and this request would be lost.
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
