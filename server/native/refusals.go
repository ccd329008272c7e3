package native

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/service"
)

// refusedCall is the error of a call.
type refusedCall struct {
	error
	sandbox *sandbox
	route   *operatorapi.Route // nil for an unknown path
}

func (e refusedCall) Unwrap() error { return e.error }

// answer returns the answer for the refusal of a call.
func (e refusedCall) answer(api *operatorapi.API, refusal *operatorapi.Refusal) operatorapi.Answer {
	if e.sandbox != nil {
		_, _, refusal.Basic = e.sandbox.request.BasicAuth()
	}
	switch {
	case e.route != nil && e.route.Refuse != nil:
		return e.route.Refuse(refusal, e.sandbox.sent())
	case e.route == nil && e.sandbox != nil:
		_, refusal.Path, _ = strings.Cut(RoutedPath(e.sandbox.request.URL), prefix+string(api.Operator))
	}
	return api.Refuse(refusal)
}

// refuse returns the operator's answer to an error. The function tell returns the answer for the refusal. refuse logs
// the error if isFailure returns true.
func (n *Native) refuse(
	r *http.Request, api *operatorapi.API, err error, tell func(*operatorapi.Refusal) operatorapi.Answer,
) httpfront.Answer {
	refusal := refusalOf(err)
	if isFailure(err, refusal) {
		n.pipeline.LogFailure(r.Context(), err)
	}
	told := tell(refusal)
	a := answerOf(api, told, httpfront.CallerOf(r))
	if a.Header == nil {
		a.Header = http.Header{}
	}
	a.Code, a.Hint = cmp.Or(string(told.Reason), refusal.Code()), cmp.Or(told.Detail, api.Detail(refusal))
	a.Header.Set(requests.ReasonHeader, a.Code)
	if a.Hint != "" {
		a.Header.Set(requests.ReasonHeader, a.Code+": "+a.Hint)
	}
	if seconds := pauseAfter(err); seconds != "" {
		a.Header.Set("Retry-After", seconds)
	}
	return a
}

// isFailure reports whether an error must be logged. An error is logged if neither the caller nor a fault of the
// sandbox caused it.
func isFailure(err error, refusal *operatorapi.Refusal) bool {
	deliberate := errors.As(err, new(*operatorapi.Refusal)) || errors.As(err, new(service.ErrFault))
	return refusal.Reason == operatorapi.Internal && !deliberate || errors.Is(err, postgres.ErrUnavailable)
}

// pauseAfter returns the value of the header Retry-After, in seconds. It returns "" if the time is unknown.
func pauseAfter(err error) string {
	var fault service.ErrFault
	var limited httpfront.ErrRateLimited
	switch {
	case errors.As(err, &fault):
		return fault.Fault.Answer().Pause()
	case errors.As(err, &limited):
		return limited.Reset()
	case errors.Is(err, service.ErrSuspended):
		return suspendedPause
	case errors.Is(err, postgres.ErrUnavailable), errors.Is(err, postgres.ErrConfigChanged):
		return "1"
	}
	return ""
}

// suspendedPause is a minute, in seconds, because only a person ends a suspension.
const suspendedPause = "60"

// reasons has the reason for each error code that a request to an operator's API can meet. An error with any other code is
// internal.
var reasons = map[string]operatorapi.Reason{
	"unauthorized":        operatorapi.KeyInvalid,
	"not_found":           operatorapi.NotFound,
	"env_not_found":       operatorapi.NotFound,
	"invalid_body":        operatorapi.Invalid,
	"not_refundable":      operatorapi.Invalid,
	"exceeds_refundable":  operatorapi.Invalid,
	"duplicate_reference": operatorapi.Duplicate,
	"suspended":           operatorapi.Unavailable,
	"quota_exceeded":      operatorapi.Unavailable,
	"overloaded":          operatorapi.Unavailable,
	"unavailable":         operatorapi.Unavailable,
}

// refusalOf returns the refusal of the operators' APIs for an error. Its code is that of the error in /v1.
func refusalOf(err error) *operatorapi.Refusal {
	var refusal *operatorapi.Refusal
	var fault service.ErrFault
	code := service.CodeOf(err)
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &fault):
		status := fault.Fault.Answer().Status
		return operatorapi.OfStatus(status, faults.CodeOf(status))
	case errors.As(err, new(httpfront.ErrRateLimited)):
		return operatorapi.Refuse(operatorapi.TooMany)
	case errors.As(err, new(httpfront.ErrMisdirected)): // no operator has a code for a wrong host, so Reason names the flag
		return operatorapi.OfStatus(http.StatusMisdirectedRequest, httpfront.MisdirectedCode+": "+httpfront.AllowedHostsFlag)
	case reasons[code] != "":
		return operatorapi.Because(reasons[code], code).Say(detailOf(err))
	case errors.Is(err, ledger.ErrNotFound):
		return operatorapi.Refuse(operatorapi.NotFound)
	case errors.Is(err, nativestore.ErrTooManyUsers): // only the operators' APIs add users
		return operatorapi.Because(operatorapi.Unavailable, "too_many_users")
	}
	return operatorapi.Refuse(operatorapi.Internal)
}

// detailOf returns what is wrong, for the errors whose text names something that the caller cannot know; "" for any
// other error.
func detailOf(err error) string {
	var environment service.ErrNoEnvironment
	var refused payments.ErrNotRefundable
	var exceeds payments.ErrExceedsRefundable
	switch {
	case errors.As(err, &environment):
		return environment.Error()
	case errors.As(err, &refused):
		return refused.Error()
	case errors.As(err, &exceeds):
		return exceeds.Error()
	}
	return ""
}
