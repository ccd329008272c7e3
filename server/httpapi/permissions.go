package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// permission is what a sandbox's key may do only if the sandbox's resource says so.
type permission struct {
	given  func(sandboxes.APIAccess) bool
	denied *wire.Error
}

var changeTestClients = permission{
	func(a sandboxes.APIAccess) bool { return a.TestClients }, wire.Forbidden("change test clients", "spec.api.testClients"),
}

var resetSandbox = permission{
	func(a sandboxes.APIAccess) bool { return a.Reset }, wire.Forbidden("reset the sandbox", "spec.api.reset"),
}

// permitted answers a request by f if the sandbox has the permission. What the copy of the configuration denies may be given by now, so the
// present configuration decides. f goes on when the client disconnects, and is repeated for a configuration that changed.
func (s *Server) permitted(
	w http.ResponseWriter, r *http.Request, p permission, f func(context.Context, *sandboxes.Sandbox) (answer, error),
) (answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), bookingTimeout)
	defer cancel()
	denied := false
	return s.repeat(w, r.WithContext(ctx), func(_ http.ResponseWriter, r *http.Request) (answer, error) {
		sandbox := sessionOf(r).sandbox
		switch given := p.given(sandbox.API); {
		case !given && denied:
			return answer{}, p.denied
		case !given:
			denied = true
			return answer{}, postgres.ErrConfigChanged
		}
		a, err := f(ctx, sandbox)
		if err != nil {
			return answer{}, wire.TestClientRefusal(err)
		}
		return a, nil
	})
}

// reset needs no body and ignores one. No fault acts on it: it would act on each repetition, since a reset ends what faults remember.
func (s *Server) reset(w http.ResponseWriter, r *http.Request) (answer, error) {
	return s.permitted(w, r, resetSandbox, func(ctx context.Context, sandbox *sandboxes.Sandbox) (answer, error) {
		err := s.sandboxes.ResetByAPI(ctx, sandbox.Tenant)
		if errors.Is(err, sandboxes.ErrTooManyResets) {
			err = wire.TooManyResets()
		}
		return answer{status: http.StatusOK, body: wire.Reset{OrganizationID: sandbox.OrganizationID}}, err
	})
}
