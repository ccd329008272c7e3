package httpfront

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/cauri-dev/cauri/server/requests"
)

// bodies pools buffers for encoded bodies.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// write writes an answer.
func (x *Pipeline) write(w http.ResponseWriter, c *call, a *Answer) {
	if a.Status == 0 {
		return
	}
	c.logged.code, c.logged.hint = a.Code, a.Hint
	if a.Hint != "" {
		w.Header().Set(requests.ReasonHeader, a.Hint)
	}
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
		w.Header().Del("Content-Encoding")
		const failed = `{"error":"internal","message":"The answer could not be encoded.","detail":null}`
		http.Error(w, failed, http.StatusInternalServerError)
		return
	}
	*kept = text
	x.send(w, c, a, text)
}

// send writes the status and the body of an answer. If too many bytes of large answers are unread, it writes
// [Options.Overloaded] instead.
func (x *Pipeline) send(w http.ResponseWriter, c *call, a *Answer, body []byte) {
	release, ok := x.unread.acquire(c.organization(), c.guest, len(body))
	if !ok {
		w.Header().Del("Link") // these belong to the replaced answer
		w.Header().Del("Content-Encoding")
		x.write(w, c, &x.options.Overloaded)
		return
	}
	defer release()
	w.Header().Set("Content-Type", a.Body.ContentType())
	w.WriteHeader(a.Status)
	_, _ = w.Write(body) // an error means that the client has disconnected; everything is committed
}
