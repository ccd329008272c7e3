package httpfront

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/cauri-dev/cauri/server/service"
)

// OpenHandler answers a request that needs no key, or returns an error.
type OpenHandler func(http.ResponseWriter, *http.Request) (Answer, error)

// Handler answers a request of a caller, or returns an error. It uses the [http.ResponseWriter] only to limit the size
// of the request's body.
type Handler func(http.ResponseWriter, *http.Request, *service.Caller) (Answer, error)

// AnswerTimeout bounds the duration of the handler of a request with a key. It does not bound [Answer.Await]. Package
// service has a separate timeout for writes, which starts after the body was read.
const AnswerTimeout = 10 * time.Second

// Handle returns an HTTP handler for requests of a front. The function h answers each request.
func (x *Pipeline) Handle(front *Front, h OpenHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		c.front = front
		a := front.answer(r, func() (Answer, error) { return h(w, r) })
		if a.Await != nil {
			c.await = front.awaiting(r, a.Await)
		}
		x.answer(w, c, a)
	}
}

// answer calls do and returns its answer, or the front's answer to its error.
func (f *Front) answer(r *http.Request, do func() (Answer, error)) Answer {
	a, err := recovering(do)
	switch {
	case err == nil:
		return a
	case IsDropped(err):
		return Answer{}
	}
	return f.Failed(r, err)
}

// awaiting returns [Answer.Await] with the front's answer to an error.
func (f *Front) awaiting(r *http.Request, await func(context.Context) (Answer, error)) func(context.Context) Answer {
	return func(ctx context.Context) Answer {
		return f.answer(r, func() (Answer, error) { return await(ctx) })
	}
}

// recovering calls f and returns a panic of f as an error, so that the process continues.
func recovering(f func() (Answer, error)) (a Answer, err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler:
			panic(cause)
		default:
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return f()
}

// answer applies the faults of the request to an answer and writes it. It stores held answers, streams and
// answers in pieces in c.late, for writeLate.
func (x *Pipeline) answer(w http.ResponseWriter, c *call, a Answer) {
	a = x.faulty(c, a)
	_, isStream := a.Body.(*listener)
	_, inPieces := a.Body.(Pieces)
	if isStream || inPieces || a.isHeld() {
		late := a // a copy, so that the other answers stay on the stack
		c.late = &late
		return
	}
	x.write(w, c, &a)
}

// faulty returns an answer with the faults of its request.
func (x *Pipeline) faulty(c *call, a Answer) Answer {
	if c.caller == nil {
		return a
	}
	return applyFaults(&c.caller.Faults, a, x.now())
}

// WithKey returns a handler that admits requests by their API key and then calls h. If the configuration changed during
// h, it calls h again. It does not repeat h for a request with a body, which can be read only once; package service
// repeats such requests.
func (x *Pipeline) WithKey(h Handler) OpenHandler {
	return func(w http.ResponseWriter, r *http.Request) (a Answer, err error) {
		ctx, cancel := context.WithTimeout(r.Context(), AnswerTimeout)
		defer cancel()
		r = r.WithContext(ctx)
		who, err := x.admit(w, r)
		if err != nil {
			return Answer{}, err
		}
		if r.ContentLength != 0 {
			return h(w, r, who)
		}
		err = x.service.Renewing(ctx, who, func(context.Context) error {
			a, err = h(w, r, who)
			return err
		})
		return a, err
	}
}

// AfterFault returns a handler that applies faults to a request that records no transaction, and then calls h.
func (x *Pipeline) AfterFault(h Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, who *service.Caller) (Answer, error) {
		if err := x.service.ApplyFault(r.Context(), who); err != nil {
			return Answer{}, err
		}
		return h(w, r, who)
	}
}
