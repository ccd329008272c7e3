package httpfront

import (
	"io"
	"net/http"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// Unlogged follows requests that succeed, in a sandbox that nobody watches.
type Unlogged struct {
	call   call
	caller service.Caller
}

// Follow does what is done for one request beside answering it, and returns how much of its body the log holds afterward.
func (u *Unlogged) Follow(r *http.Request, sandbox *sandboxes.Sandbox, into, answer []byte) (held int) {
	u.call, u.caller = call{caller: &u.caller}, service.Caller{Sandbox: sandbox}
	u.call.logged.sent.record(r)
	for {
		if _, err := r.Body.Read(into); err == io.EOF {
			break
		}
	}
	u.call.settle(http.StatusCreated)
	u.call.keepAnswer(answer, http.StatusCreated)
	return len(u.call.logged.sent.beginning()) + len(u.call.logged.answered)
}
