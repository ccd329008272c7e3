package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/requests"
)

// sentRequest is a request of /v1 that a person sent from the console, with its answer.
type sentRequest struct {
	requestCode
	status int // 0: the connection was closed without an answer
	header http.Header
	body   []byte
	held   time.Duration // how long a client waits for the answer; the console does not wait
	answer sentAnswer
}

// sentAnswer has the fields of answers that the console reads.
type sentAnswer struct {
	refusal
	Error  string `json:"error"`
	ID     string `json:"id"`
	TxID   string `json:"tx_id"` // of a disbursement, which has no id
	Status string `json:"status"`
}

// send sends a request to the API as a client does. The API checks, limits and logs it like a request with the API key,
// and faults act on it. The request log names the session.
func (c *Console) send(v *visit, method string, r requestCode) *sentRequest {
	behalf := &httpfront.OnBehalf{Key: v.session.MadeWith, Actor: v.actor()}
	url := httpfront.SandboxPrefix(v.request) + r.path
	request, err := http.NewRequestWithContext(behalf.Context(v.ctx()), method, url, strings.NewReader(r.body()))
	if err != nil {
		panic(err) // every path of the console's requests is valid
	}
	request.Header.Set("Content-Type", "application/json")
	answer := &recorder{header: http.Header{}}
	answer.serve(c.API, request)
	s := &sentRequest{requestCode: r, status: answer.status, header: answer.header, body: answer.body.Bytes(), held: behalf.Held}
	_ = json.Unmarshal(s.body, &s.answer) // a fault may break the body
	return s
}

// actor returns the name of the session for the request log.
func (v *visit) actor() string {
	return "console session " + v.session.ID + ", " + string(v.session.Role)
}

// shortWait is the shortest delay of an answer that the page shows.
const shortWait = 50 * time.Millisecond

func (s *sentRequest) succeeded() bool { return s.status/100 == 2 }

// transaction returns the id of the recorded transaction; empty for none.
func (s *sentRequest) transaction() string { return cmp.Or(s.answer.ID, s.answer.TxID) }

// replayed reports whether the request repeats an earlier one.
func (s *sentRequest) replayed() bool { return s.header.Get("Idempotent-Replayed") != "" }

// pageStatus returns the HTTP status of the page that shows the answer.
func (s *sentRequest) pageStatus() int {
	if s.succeeded() {
		return http.StatusOK
	}
	return cmp.Or(s.status, http.StatusBadGateway)
}

// shownHeaders are the headers of an answer that the console shows.
var shownHeaders = []string{"Location", "Idempotent-Replayed", faults.Header, requests.ReasonHeader, "Retry-After", "X-RateLimit-Remaining"}

// text returns the answer as a client reads it: the status, some headers and the body.
func (s *sentRequest) text() string {
	if s.status == 0 {
		return ""
	}
	lines := []string{"HTTP/1.1 " + s.statusText()}
	for _, name := range shownHeaders {
		for _, value := range s.header.Values(name) {
			lines = append(lines, name+": "+asJSON.visible(value))
		}
	}
	return strings.Join(lines, "\n") + "\n\n" + indented(s.body)
}

// recorder stores an answer. It implements [http.ResponseWriter].
type recorder struct {
	header http.Header
	status int // 0: there is none
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements [http.ResponseWriter].
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements [http.ResponseWriter].
func (r *recorder) Write(body []byte) (int, error) { return r.body.Write(body) }

// serve calls a handler. If the handler closes the connection, there is no answer.
func (r *recorder) serve(h http.Handler, request *http.Request) {
	defer func() {
		switch cause := recover(); cause {
		case nil, http.ErrAbortHandler:
		default:
			panic(cause)
		}
	}()
	h.ServeHTTP(r, request)
}

// statusText returns the status of the answer with its name.
func (s *sentRequest) statusText() string {
	return fmt.Sprint(s.status) + " " + http.StatusText(s.status)
}
