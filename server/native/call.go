package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 64 << 10

// call returns the handler of a route of an operator's API. The parameter route is nil for unknown paths.
func (n *Native) call(api *operatorapi.API, route *operatorapi.Route) httpfront.OpenHandler {
	return func(w http.ResponseWriter, r *http.Request) (httpfront.Answer, error) {
		ctx, cancel := context.WithTimeout(r.Context(), httpfront.AnswerTimeout)
		defer cancel()
		r = r.WithContext(ctx)
		s := &sandbox{native: n, api: api, route: route, request: r, body: sync.OnceValues(func() ([]byte, error) {
			return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		})}
		err := s.admit(r, route)
		var answered operatorapi.Answer
		if err == nil {
			answered, err = s.answer(r, route)
		}
		if err != nil {
			return httpfront.Answer{}, refusedCall{err, s, route}
		}
		a := answerOf(api, answered, s.who)
		a.Before, a.Hint = s.recorded.BeforeAnswer, cmp.Or(answered.Detail, s.recorded.Hint)
		if answered.Outcome {
			a.Due = s.recorded.AnswerAt
		}
		if answered.Await != nil && !s.recorded.Transaction.Status.Terminal() {
			s.await(&a, answered.Await)
		}
		return a, nil
	}
}

// answer executes a call. It executes the call again if the sandbox's configuration changed during the call.
func (s *sandbox) answer(r *http.Request, route *operatorapi.Route) (answered operatorapi.Answer, err error) {
	request := operatorapi.Request{
		Header: r.Header, Query: r.URL.Query(), Param: func(name string) string { return param(r, name) }, Product: route.Product,
	}
	counted := s.api.KeyHeader != ""
	err = s.native.service.Renewing(r.Context(), s.who, func(ctx context.Context) (err error) {
		if request.User, err = s.user(ctx, r, route); err != nil {
			return err
		}
		if !counted {
			if err := s.count(ctx); err != nil {
				return err
			}
			counted = true
		}
		if request.Body, err = s.body(); err != nil {
			if refusal := unread(route, err); refusal != nil {
				return refusal
			}
		}
		answered, err = s.handle(ctx, route, &request)
		return err
	})
	return answered, err
}

// unread returns the refusal of a call whose body could not be read; nil if the call needs no body. For a call that
// issues a token, the reason is [operatorapi.UserInvalid]. These calls document no other reason for a wrong input.
func unread(route *operatorapi.Route, err error) *operatorapi.Refusal {
	refusal, hint := operatorapi.Refuse(operatorapi.Invalid), "the body is incomplete"
	switch {
	case route.Access == operatorapi.ByUser:
		refusal = operatorapi.Because(operatorapi.UserInvalid, "invalid_body")
	case route.Doc.Body == "" && !slices.Contains(route.Doc.Refused, operatorapi.Invalid):
		return nil
	}
	if errors.As(err, new(*http.MaxBytesError)) {
		hint = fmt.Sprintf("the body has more than %d bytes", maxBody)
	}
	return refusal.Say(hint)
}

// handle applies faults, and then calls the handler of a route. If the route records a transaction, package service
// applies the faults instead, because they depend on the transaction. A status call may get the wrong answer of a fault
// instead.
func (s *sandbox) handle(
	ctx context.Context, route *operatorapi.Route, r *operatorapi.Request,
) (operatorapi.Answer, error) {
	if !route.Orders {
		if err := s.ApplyFault(ctx); err != nil {
			return operatorapi.Answer{}, err
		}
	}
	s.wrong = nil
	answered, err := route.Handle(ctx, s, r)
	if s.wrong != nil && (err == nil || errors.As(err, new(*operatorapi.Refusal))) {
		return s.wrong(), nil
	}
	return answered, err
}
