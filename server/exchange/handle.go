package exchange

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/cauri-dev/cauri/server/service"
)

// OpenHandler answers a request that needs no key, or fails.
type OpenHandler func(http.ResponseWriter, *http.Request) (Answer, error)

// Handler answers a request of a caller, or fails. Only reading a body needs its [http.ResponseWriter].
type Handler func(http.ResponseWriter, *http.Request, *service.Caller) (Answer, error)

// AnswerTimeout bounds all waiting of a request with a key. A write has its own limit in package service, which begins
// after the body was read.
const AnswerTimeout = 10 * time.Second

// Handle lets a handler answer requests to a front.
func (x *Exchange) Handle(front *Front, h OpenHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		c.front = front
		a, err := recovering(w, r, h)
		switch {
		case IsDropped(err):
			a = Answer{}
		case err != nil:
			a = front.Failed(r, err)
		}
		x.answer(w, c, a)
	}
}

// recovering makes an error of a panic, so that the process keeps serving the others.
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

// answer writes an answer as the faults that apply to its request let it, or leaves it to be written when it is due.
func (x *Exchange) answer(w http.ResponseWriter, c *call, a Answer) {
	if c.caller != nil {
		a = carryOut(&c.caller.Faults, a, x.now())
	}
	if _, isStream := a.Body.(*listener); isStream || a.isHeld() {
		late := a // so that no other answer is on the heap
		c.late = &late
		return
	}
	x.write(w, c, &a)
}

// WithKey admits requests by the API key that they bear, and lets a handler answer them. The handler is called again
// for a configuration that changed, unless the request has a body, which can be read once only: package service repeats
// what such a request asks for.
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
		err = x.service.Renewing(ctx, who, func(ctx context.Context) error {
			a, err = h(w, r.WithContext(ctx), who)
			return err
		})
		return a, err
	}
}

// AfterFault lets a fault apply to a request that records no transaction, before a handler answers it.
func (x *Exchange) AfterFault(h Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, who *service.Caller) (Answer, error) {
		if err := x.service.ApplyFault(r.Context(), who); err != nil {
			return Answer{}, err
		}
		return h(w, r, who)
	}
}
