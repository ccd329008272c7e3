package httpapi

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// Routes is all that the server answers.
func (s *Server) Routes() chi.Routes { return s.handler.(chi.Routes) }

// CutOffAfter sets how long the reader of a stream may take for what was written.
func (s *Server) CutOffAfter(d time.Duration) { s.streamWrite = d }

// BoundUnread sets how many bytes of large answers may wait for their readers.
func (s *Server) BoundUnread(process, sandbox int) {
	s.unread.process, s.unread.sandbox = process, sandbox
}

// LoggedFields are the names of all fields and parameters that the request log keeps.
func LoggedFields() []string {
	all := maps.Clone(answerFields())
	for _, route := range keptFields() {
		maps.Copy(all, route.query)
		maps.Copy(all, route.body)
	}
	for _, api := range operators.NativeAPIs() {
		maps.Copy(all, nativeFields(api))
	}
	return slices.Sorted(maps.Keys(all))
}

// Unlogged follows requests that succeed, in a sandbox that nobody watches.
type Unlogged struct {
	log    loggedRequest
	caller service.Caller
}

// Follow does what is done for one request beside answering it, and returns how much of its body the log holds afterward.
func (u *Unlogged) Follow(r *http.Request, sandbox *sandboxes.Sandbox, into, answer []byte) (held int) {
	u.log = loggedRequest{}
	u.log.follow(r)
	u.caller.Sandbox = sandbox
	u.log.who = &u.caller
	for {
		if _, err := r.Body.Read(into); err == io.EOF {
			break
		}
	}
	u.log.settle(http.StatusCreated, time.Time{})
	u.log.write(answer, http.StatusCreated, time.Time{})
	return len(u.log.sent.begin()) + len(u.log.answered)
}
