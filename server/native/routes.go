package native

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
)

// Route adds the routes of all operators. Unknown paths below the base path of an operator get an answer in the
// operator's format.
func (n *Native) Route(router chi.Router) {
	for _, api := range operators.NativeAPIs() {
		base, front := prefix+string(api.Operator), n.front(api)
		for i := range api.Routes {
			route := &api.Routes[i]
			for _, form := range httpfront.FormsOf(base + route.Path) {
				router.Method(route.Method, form, n.pipeline.Handle(front, n.call(api, route)))
			}
		}
		for _, form := range httpfront.FormsOf(base + documentPath) {
			router.Get(form, n.serveDocument(api, base))
		}
		for _, f := range api.Files {
			for _, form := range httpfront.FormsOf(base + f.Path) {
				router.Get(form, n.serveFile(f, base, front))
			}
		}
		n.routePage(router, api, base)
		unknown := n.pipeline.Handle(front, n.call(api, nil))
		for _, form := range httpfront.FormsOf(base) {
			router.Handle(form, unknown)
			router.Handle(form+"/*", unknown)
		}
	}
}

// front returns the front of an operator's API for package httpfront.
func (n *Native) front(api *operatorapi.API) *httpfront.Front {
	fields := loggedFields(api)
	return &httpfront.Front{
		Failed: func(r *http.Request, err error) httpfront.Answer {
			var refused refusedCall // empty after a panic
			errors.As(err, &refused)
			return n.refuse(r, api, err, func(refusal *operatorapi.Refusal) operatorapi.Answer { return refused.answer(api, refusal) })
		},
		Kept: func(string, string) httpfront.LoggedFields {
			return httpfront.LoggedFields{Body: fields, Answer: fields, Nested: true}
		},
	}
}

// FrontOf returns the front of the operator's API that the path of a request names; nil if it names none. It is for
// errors that occur before the request is routed.
func (n *Native) FrontOf(r *http.Request) *httpfront.Front {
	if !isOfOperator(r.URL.Path) {
		return nil
	}
	_, behind, _ := strings.Cut(r.URL.Path, prefix)
	name, path, _ := strings.Cut(behind, "/")
	api := operators.NativeAPI(payments.Operator(name))
	if api == nil {
		return nil
	}
	front, tell := n.front(api), api.Refuse
	for i := range api.Routes { // a route may have its own errors, for example SOAP
		if route := &api.Routes[i]; route.Refuse != nil && strings.HasPrefix("/"+path, route.Path[:strings.IndexByte(route.Path+"{", '{')]) {
			tell = func(refusal *operatorapi.Refusal) operatorapi.Answer { return route.Refuse(refusal, nil) }
		}
	}
	front.Failed = func(r *http.Request, err error) httpfront.Answer { return n.refuse(r, api, err, tell) }
	return front
}

// loggedFields returns the fields of an operator's own API that the request log keeps.
func loggedFields(api *operatorapi.API) requests.Fields {
	all := requests.Fields{}
	for _, name := range api.Logged {
		all[name] = true
	}
	return all
}
