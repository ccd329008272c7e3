package exchange

import (
	"context"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// call is a request while it is answered.
type call struct {
	request *http.Request
	out     *response
	began   time.Time
	worked  time.Duration // until the answer was there, which may be held after that
	span    telemetry.Span
	front   *Front          // that answers it; nil: none does
	caller  *service.Caller // nil: nobody's
	late    *Answer         // is written outside of all handlers; nil for none
	logged  loggedRequest
}

// organization is the one of the sandbox whose request it is, empty if it is nobody's.
func (c *call) organization() string {
	if c.caller == nil {
		return ""
	}
	return c.caller.Sandbox.OrganizationID
}

type contextKey int

const (
	requestIDKey contextKey = iota
	callKey
)

// callOf is the call of a request that has passed [Exchange.Use].
func callOf(r *http.Request) *call { return r.Context().Value(callKey).(*call) }

// RequestID is the id of a request, which its answer has.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}

// CallerOf is who makes a request; nil if it is nobody's.
func CallerOf(r *http.Request) *service.Caller { return callOf(r).caller }
