package view

import (
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Forbidden is 403 for an action that the sandbox's resource does not allow its API key.
func Forbidden(what, field string) *wire.Error {
	return &wire.Error{Status: http.StatusForbidden, Code: "forbidden", Detail: map[string]any{"field": field},
		Message: fmt.Sprintf("This sandbox does not allow its API key to %s. Set %s of the SandboxEnvironment to true first.", what, field)}
}

// ManagedByResource is 409 for a test client that a TestClient resource manages.
func ManagedByResource(e ledger.ErrManagedByResource) *wire.Error {
	return &wire.Error{Status: http.StatusConflict, Code: "managed_by_resource", Detail: map[string]any{"name": e.Name},
		Message: fmt.Sprintf("The TestClient resource %q in the cluster manages this number. Change or delete that resource.", e.Name)}
}

// TooManyTestClients is 409 for a sandbox that has as many test clients as it may have.
func TooManyTestClients(e ledger.ErrTooManyTestClients) *wire.Error {
	return &wire.Error{Status: http.StatusConflict, Code: "too_many_test_clients", Detail: map[string]any{"limit": e.Limit},
		Message: fmt.Sprintf("This sandbox may have %s, with those of TestClient resources. Delete one that you do not need, or "+
			"ask your platform team for a higher --max-test-clients-per-sandbox.", english.Plural(e.Limit, "test client", "test clients"))}
}

// TooManyResets is 429 for more than five resets in a second.
func TooManyResets() *wire.Error {
	return &wire.Error{Status: http.StatusTooManyRequests, Code: "too_many_resets", RetryAfter: "1",
		Message: "This sandbox was reset five times in the last second. It was not reset again. Try again in a second."}
}

// DuplicateMSISDN is 409 for a number that a test client has already.
func DuplicateMSISDN(e *ledger.ErrTestClientExists) *wire.Error {
	present := e.TestClient
	help := fmt.Sprintf("A test client has the number %s already. Change it with PATCH /v1/test_clients/{msisdn}, or send another number.",
		present.MSISDN)
	if present.Source == sandboxes.SourceResource {
		help = fmt.Sprintf("The TestClient resource %q in the cluster has the number %s already. Send another number.", present.Name, present.MSISDN)
	}
	return &wire.Error{Status: http.StatusConflict, Code: "duplicate_msisdn", Message: help,
		Detail: map[string]any{"msisdn": present.MSISDN, "name": present.Name, "source": present.Source}}
}
