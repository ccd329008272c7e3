package exchange

import (
	"context"
	"net/http"
	"time"
)

// writeLate writes an answer that is held, or a stream.
func (x *Exchange) writeLate(r *http.Request, c *call) {
	if l, isStream := c.late.Body.(*listener); isStream {
		x.stream(c, l)
		return
	}
	c.settle(c.late.Status)
	x.hold(r.Context(), c.organization(), c.late)
	x.write(c.out, c, c.late)
}

// hold waits until an answer is due, and what is to be sent before it was sent. Nothing else is held meanwhile: no
// connection to the database, no lock; the transaction is committed. It is called outside of all handlers: thousands of
// deep stacks would need more memory than all else. It ends early when the client goes away or the process is told to
// stop, and does not wait at all beyond the bounds.
func (x *Exchange) hold(ctx context.Context, organization string, a *Answer) {
	wait := a.Due.Sub(x.now())
	if wait <= 0 && a.Before == nil {
		return
	}
	release, ok := x.held.Take(organization)
	if !ok {
		return
	}
	defer release()
	x.metrics.Hold()
	defer x.metrics.Release()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	case <-x.draining:
		return
	}
	if a.Before != nil {
		a.Before.Wait(ctx)
	}
}
