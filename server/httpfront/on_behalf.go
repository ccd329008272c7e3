package httpfront

import (
	"context"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// OnBehalf is a request that a front sends to another front of this program, for a person with a session. The exchange
// handles it like a request with the API key: body, rate limit, quota, faults and request log are the same.
type OnBehalf struct {
	Key   sandboxes.KeyHash // the API key with which the session was made
	Actor string            // name of the person in the request log
	// Held is how long the exchange would have held the answer for a client with the API key. It does not hold the answer
	// for a person. The exchange sets this field.
	Held time.Duration
}

type onBehalfKey struct{}

// Context returns the context of the request. Its parent is the context of the person's own request.
func (o *OnBehalf) Context(parent context.Context) context.Context {
	routed := context.WithValue(parent, chi.RouteCtxKey, (*chi.Context)(nil)) // the router begins again
	return context.WithValue(routed, onBehalfKey{}, o)
}

// onBehalfOf returns the value of [OnBehalf.Context]; nil for a request of a client.
func onBehalfOf(ctx context.Context) *OnBehalf {
	o, _ := ctx.Value(onBehalfKey{}).(*OnBehalf)
	return o
}
