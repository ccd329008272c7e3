package console

import (
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// resetDeletes and resetKeeps say what a reset deletes and what it keeps.
var (
	resetDeletes = []english.Text{
		"all payments, refunds and disbursements", "all events, also those that are not sent yet", "the request log",
		"test clients that were made by the API", "how often faults have acted",
	}
	resetKeeps = []english.Text{
		"the configuration, the stores and the environments", "the API key and the signing secret",
		"test clients of resources", "the sessions of this console",
	}
)

// mayReset reports whether the session may reset the sandbox, and the sandbox allows it.
func (v *visit) mayReset() bool { return v.may(full) && v.who.Sandbox.API.Reset }

// reset shows the form that resets the sandbox, for browsers without JavaScript.
func (c *Console) reset(v *visit) (page, error) {
	return page{title: v.Text("Reset this sandbox"), body: resetPage(v, "")}, nil
}

// resetNow resets the sandbox if the form has its name.
func (c *Console) resetNow(v *visit) (httpfront.Answer, error) {
	if v.form("name") != v.name {
		wrong := v.Text("This is not its name. Nothing was reset. Write: %s", v.name)
		p := page{title: v.Text("Reset this sandbox"), body: resetPage(v, wrong)}
		return c.again(v, http.StatusUnprocessableEntity, p, "invalid_body")
	}
	err := c.Service.Reset(v.ctx(), v.who)
	switch {
	case errors.As(err, new(service.ErrDenied)):
		return httpfront.Answer{}, newProblem(http.StatusForbidden, v.Text("This sandbox may not be reset here"),
			v.resetDenied(), "forbidden")
	case errors.Is(err, sandboxes.ErrTooManyResets):
		return httpfront.Answer{}, newProblem(http.StatusTooManyRequests,
			v.Text("The sandbox was reset five times in the last second"), v.Text("It was not reset again. Wait a second."),
			"too_many_resets")
	case err != nil:
		return httpfront.Answer{}, err
	}
	return v.goTo("/overview"), c.Directory.Refresh(v.ctx()) // now the request log is the new tenant's
}

// resetDenied returns how the owner of the sandbox can allow a reset.
func (v *visit) resetDenied() string {
	if v.dev {
		return v.Text("Set spec.api.reset to true in its file, and start cauri dev again.")
	}
	return v.Text("Its owner allows it with spec.api.reset, or resets it with: kubectl cauri reset %s", v.name)
}
