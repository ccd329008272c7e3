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

// Handler answers a request of a caller, or returns an error. It needs the [http.ResponseWriter] only to read a body.
type Handler func(http.ResponseWriter, *http.Request, *service.Caller) (Answer, error)

// AnswerTimeout bounds how long the handler of a request with a key may take. A write has its own limit in package
// service, which starts after the body was read.
const AnswerTimeout = 10 * time.Second

// Handle returns an HTTP handler that answers requests to a front with h.
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

// recovering calls h and returns a panic of it as an error, so that the process keeps serving other requests.
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

// answer applies the faults of the request to an answer and writes it. An answer that is held, or a stream, is left to
// [Exchange.writeLate].
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

// WithKey returns a handler that admits requests by their API key and then calls h. If the configuration changed
// meanwhile, it calls h again, unless the request has a body, which can be read only once. Package service repeats
// those.
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

// AfterFault returns a handler that applies faults to a request that records no transaction, and then calls h.
func (x *Exchange) AfterFault(h Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, who *service.Caller) (Answer, error) {
		if err := x.service.ApplyFault(r.Context(), who); err != nil {
			return Answer{}, err
		}
		return h(w, r, who)
	}
}
