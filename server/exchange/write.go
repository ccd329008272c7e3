package exchange

import (
	"log/slog"
	"net/http"
	"sync"
)

// bodies are free buffers for bodies.
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

// send writes the status and the body of an answer, or [Options.Overloaded] if too many bytes of large answers are
// unread.
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
