package httpfront

import (
	"context"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// call is the state of a request until its answer is written. It is also the context of the request.
type call struct {
	context.Context
	id      string // of the request
	request *http.Request
	out     response
	began   time.Time
	worked  time.Duration // duration of the handler, without the time for which the answer is held
	span    telemetry.Span
	front   *Front                       // the front of the route; nil for none
	caller  *service.Caller              // nil for a request without a valid key
	guest   bool                         // see [Pipeline.AdmitGuest]
	turns   turns                        // turns of the sandbox's guests; nil if the caller is no guest
	late    *Answer                      // an answer that writeLate writes; nil for none
	await   func(context.Context) Answer // of the held answer; nil for none
	cut     bool                         // the body of the answer is not complete
	logged  loggedRequest
}

// organization returns the organization of the caller's sandbox, empty without a caller.
func (c *call) organization() string {
	if c.caller == nil {
		return ""
	}
	return c.caller.Sandbox.OrganizationID
}

type callKey struct{}

// Value implements [context.Context].
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// callOf returns the call of a request that has passed [Pipeline.Use].
func callOf(r *http.Request) *call { return r.Context().Value(callKey{}).(*call) }

// RequestID returns the id of a request. The answer has it in the header X-Request-Id.
func RequestID(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.id
	}
	return ""
}

// CallerOf returns the caller of a request; nil if it has no valid key.
func CallerOf(r *http.Request) *service.Caller { return callOf(r).caller }
