package httpfront

import (
	"context"
	"net/http"
	"time"
)

// writeLate holds and writes an answer, or writes a stream or an answer in pieces.
func (x *Pipeline) writeLate(r *http.Request, c *call) {
	if l, isStream := c.late.Body.(*listener); isStream {
		x.stream(c, l)
		return
	}
	c.logged.code, c.logged.hint = c.late.Code, c.late.Hint
	if c.await == nil {
		c.settle(c.late.Status)
	}
	if body, inPieces := c.late.Body.(Pieces); inPieces {
		x.writePieces(r.Context(), c, c.late, body)
		return
	}
	if o := onBehalfOf(r.Context()); o != nil {
		o.Held = max(0, c.late.Due.Sub(c.began))
		x.wait(r.Context(), c, false)
	} else {
		x.hold(r.Context(), c)
	}
	x.write(&c.out, c, c.late)
}

// hold waits until an answer is due. If the answer waits for something, or an event or a callback has to go out before
// the answer, hold also waits for that. The transaction is already committed, and hold keeps no database connection and
// no lock. It runs outside of all handlers, because the deep stacks of thousands of waiting handlers would need much
// memory. It returns early when the client disconnects or the process is told to stop, and at once if too many answers
// are held.
func (x *Pipeline) hold(client context.Context, c *call) {
	if !x.now().Before(c.late.Due) && c.late.Before == nil && c.await == nil {
		return
	}
	release, ok := x.held.Acquire(c.organization())
	if !ok {
		x.wait(client, c, false)
		return
	}
	defer release()
	x.metrics.Hold()
	defer x.metrics.Release()
	x.wait(client, c, true)
}

// wait waits for everything that an answer waits for: its due time, then [Answer.Await], then [Answer.Before]. It stops
// waiting when the context of the client ends. If held is false, it does not wait.
func (x *Pipeline) wait(client context.Context, c *call, held bool) {
	ctx, end := context.WithCancel(context.WithValue(client, callKey{}, c))
	defer end()
	if !held {
		end()
	}
	timer := time.NewTimer(c.late.Due.Sub(x.now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-x.draining:
		end()
	}
	before := c.late.Before
	if c.await != nil {
		a := x.faulty(c, c.await(ctx))
		c.late = &a
		c.settle(a.Status)
	}
	if before != nil && ctx.Err() == nil {
		before.Wait(ctx)
	}
}
