package exchange

import "net/http"

// response is what an answer is written through.
type response struct {
	http.ResponseWriter
	draining <-chan struct{} // closed when the process is told to stop
	status   int             // that was written
	answered bodyKeeper
}

// bodyKeeper is told what is written of an answer's body.
type bodyKeeper interface{ keepAnswer(body []byte, status int) }

// Unwrap lets deadlines be set, see [http.ResponseController].
func (o *response) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (o *response) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
		o.leave()
	}
	o.ResponseWriter.WriteHeader(status)
}

// leave asks the client for another connection once the process is told to stop: one that stays open would lead to this
// process until its end, and the request that is on its way at that moment would be lost. Connections that are idle are
// not closed for the same reason, as long as requests are accepted.
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
