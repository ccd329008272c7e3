package view

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
)

// InvalidBody is 400 for a body with wrong fields.
func InvalidBody(fields wire.FieldErrors) *wire.Error {
	e := &wire.Error{Status: http.StatusBadRequest, Code: "invalid_body", Message: "The request body is invalid; detail.fieldErrors says which " +
		"fields and why."}
	e.Detail = map[string]any{"fieldErrors": fields}
	return e
}

// InvalidField is [InvalidBody] for one field.
func InvalidField(field, message string) *wire.Error {
	return InvalidBody(wire.FieldErrors{field: {message}})
}

// MalformedBody is 400 for a body that cannot be read.
func MalformedBody(message string) *wire.Error {
	return &wire.Error{Status: http.StatusBadRequest, Code: "invalid_body", Message: message}
}

// InvalidParams returns a 400 error for a query with wrong parameters.
func InvalidParams(wrong wire.FieldErrors) *wire.Error {
	return &wire.Error{Status: http.StatusBadRequest, Code: "invalid_params",
		Message: "The query is invalid; detail.fieldErrors says which parameters and why.",
		Detail:  map[string]any{"fieldErrors": wrong}}
}

// NotFound is 404 for an object that does not exist in the sandbox.
func NotFound(message string) *wire.Error {
	return &wire.Error{Status: http.StatusNotFound, Code: "not_found", Message: message}
}

// MethodNotAllowed is 405 for a path that answers only the methods of a header Allow.
func MethodNotAllowed(method, allow string) *wire.Error {
	return &wire.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Detail: map[string]any{"allow": strings.Split(allow, ", ")},
		Message: fmt.Sprintf("This path does not answer the method %s. It answers: %s.", method, allow)}
}

// BodyTooLarge is 413 for a body with too many bytes.
func BodyTooLarge() *wire.Error {
	return &wire.Error{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Detail: map[string]any{"limit": MaxBody},
		Message: fmt.Sprintf("The request body has more than %d bytes.", MaxBody)}
}

// Unauthorized is 401. Its body does not depend on the reason.
func Unauthorized() *wire.Error {
	return &wire.Error{Status: http.StatusUnauthorized, Code: "unauthorized",
		Message: "Send the sandbox's API key as `Authorization: Bearer <key>`. It is missing, malformed or not valid here."}
}

// QuotaExceeded is 402 for a sandbox that has used up its monthly quota.
func QuotaExceeded(e ledger.ErrQuotaExceeded) *wire.Error {
	return &wire.Error{Status: http.StatusPaymentRequired, Code: "quota_exceeded",
		Message: fmt.Sprintf("This sandbox has used its quota of %s in a calendar month (UTC). Nothing was recorded.",
			english.Plural(e.Quota, "transaction", "transactions")),
		Detail: map[string]any{"monthlyTransactions": e.Quota}}
}

// Unavailable is 503 for a request that the unavailable database did not record.
func Unavailable() *wire.Error {
	return &wire.Error{Status: http.StatusServiceUnavailable, Code: "unavailable", RetryAfter: "1",
		Message: "The service cannot reach its database. This request recorded nothing. Send it again, with the same reference if it has one."}
}

// Uncertain is 503 for a request whose database transaction may have been committed. The client repeats the request
// with the reference, which is empty if the request has none.
func Uncertain(reference string) *wire.Error {
	e := &wire.Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: repeatWith(reference), RetryAfter: "1",
		Message: "The connection to the database failed during this request. It is not known whether the request was recorded. "}
	if reference == "" {
		e.Message += "Send it again: nothing is recorded twice."
	} else {
		e.Message += "Send it again with the reference in detail.reference: nothing is recorded twice under one reference."
	}
	return e
}

// Internal is 500 for an unexpected error. The client repeats the request with the reference, which is empty if the
// request has none.
func Internal(reference string) *wire.Error {
	return &wire.Error{Status: http.StatusInternalServerError, Code: "internal", Detail: repeatWith(reference),
		Message: "The service failed. Send the request again with the same reference: nothing is recorded twice."}
}

// repeatWith returns the detail with the reference for the repeated request; nil for an empty reference.
func repeatWith(reference string) map[string]any {
	if reference == "" {
		return nil
	}
	return map[string]any{"reference": reference}
}

// Overloaded is 503 for a request that would wait too long for the database. Nothing was recorded.
func Overloaded() *wire.Error {
	return &wire.Error{Status: http.StatusServiceUnavailable, Code: "overloaded", RetryAfter: "1",
		Message: "The service has too many requests. This request recorded nothing. Send it again, with the same reference if it has one."}
}

// Changing is 503 for a request whose sandbox was reset or changed during every try. Nothing was recorded.
func Changing() *wire.Error {
	e := Overloaded()
	e.Message = "This sandbox was reset or changed again and again while the request was tried. The request recorded nothing. Send it again, with " +
		"the same reference if it has one."
	return e
}

// Simulated is the answer of a fault of the sandbox.
func Simulated(f *faults.Fault, a *faults.API) *wire.Error {
	return &wire.Error{Status: a.Status, Code: faults.CodeOf(a.Status), Detail: map[string]any{"fault": f.Name}, RetryAfter: a.Pause(),
		Message: fmt.Sprintf("This is the sandbox's fault %s. Nothing was recorded. Send the request again with the same reference.", f)}
}

// Misdirected is 421 for a request under a host name that `cauri dev` does not know.
func Misdirected(host string) *wire.Error {
	return &wire.Error{Status: http.StatusMisdirectedRequest, Code: "misdirected_request", Detail: map[string]any{"host": host},
		Message: fmt.Sprintf("This service does not answer under the name %q, because a page of any site could ask it so. Ask it at localhost or "+
			"at an address, or start cauri dev with --allowed-hosts=%[1]s (CAURI_ALLOWED_HOSTS).", host)}
}

// RateLimited is 429 for a request beyond the rate limit of the sandbox. The parameter seconds is the time until a
// request is allowed again.
func RateLimited(limit int, seconds string) *wire.Error {
	return &wire.Error{Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: seconds, Detail: map[string]any{"limit": limit},
		Message: fmt.Sprintf("This sandbox takes %s a minute. Try again in %s s.", english.Plural(limit, "request", "requests"), seconds)}
}

// Suspended is 503 for a suspended sandbox. Retry-After is a minute, because only a person ends the suspension.
func Suspended() *wire.Error {
	return &wire.Error{Status: http.StatusServiceUnavailable, Code: "suspended", RetryAfter: "60",
		Message: "This sandbox is suspended. Nothing was recorded. To resume it, set spec.suspend of the SandboxEnvironment to false."}
}

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = 64 << 10
