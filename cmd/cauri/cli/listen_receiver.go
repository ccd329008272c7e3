package cli

import (
	"io"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// receiver is a webhook endpoint. It is an example for merchants: it verifies the signature before it parses the body,
// and refuses a request with a wrong signature.
type receiver struct {
	secret string
	full   bool
	lines  lineOutput
	out    io.Writer
	now    func() time.Time
}

// received is a request to the receiver in output for programs.
type received struct {
	Type     string `json:"type"` // received
	Time     string `json:"time"`
	Verified bool   `json:"verified"`
	Method   string `json:"method"`
	Path     string `json:"path"`
	Delivery string `json:"delivery,omitempty"`
	Error    string `json:"error,omitempty"`
	Body     string `json:"body,omitempty"` // of a verified request
}

func (l *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	if err := webhooks.Verify(r.Header, body, l.secret, l.now()); err != nil {
		l.print(r, "", err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	l.print(r, string(body), nil)
	w.WriteHeader(http.StatusNoContent)
}

// print prints a request: one with this body, or one that is refused.
func (l *receiver) print(r *http.Request, body string, refused error) {
	delivery := r.Header.Get(webhooks.HeaderDelivery)
	switch {
	case l.lines.json():
		line := received{Type: "received", Time: MachineTime(l.now()), Verified: refused == nil, Method: r.Method, Path: r.URL.Path, Body: body}
		if refused == nil {
			line.Delivery = delivery
		} else {
			line.Error = refused.Error()
		}
		_ = printJSON(l.out, line) // nobody reads the output any more
	case refused != nil:
		printLine(l.out, l.now(), Line{{text: "REFUSED"}, {text: r.Method + " " + r.URL.Path + ": " + refused.Error()}})
	case l.full:
		Fprintf(l.out, "%s\n", body)
	default:
		line := append(Line{{text: "verified"}}, eventSummary([]byte(body))...)
		printLine(l.out, l.now(), append(line, cell{text: delivery, whole: true}))
	}
}
