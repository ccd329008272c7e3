package exchange

import (
	"context"
	"net/http"
	"time"
)

// writeLate holds and writes an answer, or writes a stream or an answer in pieces.
func (x *Exchange) writeLate(r *http.Request, c *call) {
	if l, isStream := c.late.Body.(*listener); isStream {
		x.stream(c, l)
		return
	}
	c.logged.code = c.late.Code
	c.settle(c.late.Status)
	if body, inPieces := c.late.Body.(Pieces); inPieces {
		x.writePieces(r.Context(), c, c.late, body)
		return
	}
	if o := onBehalfOf(r.Context()); o != nil {
		o.Held = max(0, c.late.Due.Sub(c.began))
	} else {
		x.hold(r.Context(), c.organization(), c.late)
	}
	x.write(&c.out, c, c.late)
}

// hold waits until an answer is due. If the body waits for something, or an event or a callback has to go out before the
// answer, hold also waits for that. The transaction is already committed, and hold keeps no database connection and no
// lock. It runs outside of all handlers, because the deep stacks of thousands of waiting handlers would need much
// memory. It returns early when the client disconnects or the process is told to stop, and at once if too many answers
// are held.
func (x *Exchange) hold(ctx context.Context, organization string, a *Answer) {
	wait := a.Due.Sub(x.now())
	if wait <= 0 && a.Before == nil && a.Await == nil {
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
	if a.Await != nil {
		a.Await(ctx)
	}
	if a.Before != nil {
		a.Before.Wait(ctx)
	}
}
