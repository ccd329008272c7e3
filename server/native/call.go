package native

import (
	"context"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 64 << 10

// call returns the handler of a route of an operator's API. route is nil for paths that the operator does not know.
func (n *Native) call(api *operatorapi.API, route *operatorapi.Route) exchange.OpenHandler {
	return func(w http.ResponseWriter, r *http.Request) (exchange.Answer, error) {
		ctx, cancel := context.WithTimeout(r.Context(), exchange.AnswerTimeout)
		defer cancel()
		r = r.WithContext(ctx)
		s := &sandbox{native: n, api: api}
		if err := s.admit(r, route); err != nil {
			return exchange.Answer{}, err
		}
		answered, err := s.answer(w, r, route)
		if err != nil {
			return exchange.Answer{}, err
		}
		a := answerOf(answered, s.who)
		a.Before = s.before
		return a, nil
	}
}

// answer carries out a call. It does so again if the sandbox's configuration changes in the meantime.
func (s *sandbox) answer(
	w http.ResponseWriter, r *http.Request, route *operatorapi.Route,
) (answered operatorapi.Answer, err error) {
	request := operatorapi.Request{
		Header: r.Header, Param: func(name string) string { return chi.URLParam(r, name) }, Product: route.Product,
	}
	err = s.native.service.Renewing(r.Context(), s.who, func(ctx context.Context) (err error) {
		if request.User, err = s.user(ctx, r, route); err != nil {
			return err
		}
		if request.Body == nil { // it is set when the call is carried out again
			if request.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
				return operatorapi.Refuse(operatorapi.Invalid)
			}
		}
		answered, err = s.handle(ctx, route, &request)
		return err
	})
	return answered, err
}

// handle runs the handler of a route. It applies faults first, unless the route records a transaction: then package
// service applies them, once it knows the transaction.
func (s *sandbox) handle(
	ctx context.Context, route *operatorapi.Route, r *operatorapi.Request,
) (operatorapi.Answer, error) {
	if !route.Orders {
		if err := s.native.service.ApplyFault(ctx, s.who); err != nil {
			return operatorapi.Answer{}, err
		}
	}
	return route.Handle(ctx, s, r)
}
