package exchange

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

// AnswerTimeout bounds the duration of the handler of a request with a key. Package service has a separate timeout for
// writes, which starts after the body was read.
const AnswerTimeout = 10 * time.Second

// Handle returns an HTTP handler for requests of a front. The function h answers each request.
func (x *Exchange) Handle(front *Front, h OpenHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		c.front = front
		a, err := recovering(w, r, h)
		switch {
		case err == nil:
		case IsDropped(err):
			a = Answer{}
		default:
			a = front.Failed(r, err)
		}
		x.answer(w, c, a)
	}
}

// recovering calls h and returns a panic of h as an error, so that the process continues.
func recovering(w http.ResponseWriter, r *http.Request, h OpenHandler) (a Answer, err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler:
			panic(cause)
		default:
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return h(w, r)
}

// answer applies the faults of the request to an answer and writes it. It stores held answers, streams and
// answers in pieces in c.late, for writeLate.
func (x *Exchange) answer(w http.ResponseWriter, c *call, a Answer) {
	if c.caller != nil {
		a = carryOut(&c.caller.Faults, a, x.now())
	}
	_, isStream := a.Body.(*listener)
	_, inPieces := a.Body.(Pieces)
	if isStream || inPieces || a.isHeld() {
		late := a // a copy, so that the other answers stay on the stack
		c.late = &late
		return
	}
	x.write(w, c, &a)
}

// WithKey returns a handler that admits requests by their API key and then calls h. If the configuration changed during
// h, it calls h again. It does not repeat h for a request with a body, which can be read only once; package service
// repeats such requests.
func (x *Exchange) WithKey(h Handler) OpenHandler {
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
func (x *Exchange) AfterFault(h Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, who *service.Caller) (Answer, error) {
		if err := x.service.ApplyFault(r.Context(), who); err != nil {
			return Answer{}, err
		}
		return h(w, r, who)
	}
}
