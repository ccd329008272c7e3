package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// api registers routes by their descriptions.
type api struct {
	router chi.Router
	guards []func(http.Handler) http.Handler // of the routes that need a key
}

// route adds the operation of a description to the router, in all forms of its path. The description says whether it needs a key.
func (a *api) route(o apidoc.Operation, handler http.HandlerFunc) {
	router := a.router
	if !o.Open {
		router = router.With(a.guards...)
	}
	for _, form := range formsOf(o.Path) {
		router.Method(o.Method, form, handler)
	}
}
