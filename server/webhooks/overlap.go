package webhooks

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"

	"github.com/cauri-dev/cauri/server/egress"
)

// transports are the ways to receivers.
type transports struct {
	shared http.RoundTripper
	apart  http.RoundTripper // each request has its own connection
}

func transportsOf(guard egress.Guard, o egress.ClientOptions) transports {
	shared := guard.Client(o).Transport
	o.OwnConn, o.Idle, o.IdlePerHost = true, 64, 8
	return transports{shared, guard.Client(o).Transport}
}

// of returns the way of a request with this context.
func (t transports) of(ctx context.Context) http.RoundTripper {
	if ctx.Value(atOnce{}) != nil {
		return t.apart
	}
	return t.shared
}

// atOnce is the key of a context whose requests have a connection each, and leave together with others.
type atOnce struct{}

// AtOnce calls send n times at the same time. A request through a [Sender] is written when each call has
// connection of its own, or has ended without one. AtOnce returns the results in the order in which the calls ended.
func AtOnce[R any](ctx context.Context, n int, send func(context.Context) R) []R {
	var connecting sync.WaitGroup
	connecting.Add(n)
	ctx = context.WithValue(ctx, atOnce{}, true)
	ended := make(chan R, n)
	for range n {
		ready := sync.OnceFunc(connecting.Done)
		trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { ready(); connecting.Wait() }}
		go func() {
			defer ready()
			ended <- send(httptrace.WithClientTrace(ctx, trace))
		}()
	}
	results := make([]R, n)
	for i := range results {
		results[i] = <-ended
	}
	return results
}

// lastAnswer returns the result of the copy that answered last, and with it all results. If no copy has an answer, it
// returns the result of the copy that ended last. The parameter is in the order in which the copies ended.
func lastAnswer(copies []Result) Result {
	last := copies[len(copies)-1]
	for _, c := range slices.Backward(copies) {
		if c.Status != 0 {
			last = c
			break
		}
	}
	last.Copies = copies
	return last
}
