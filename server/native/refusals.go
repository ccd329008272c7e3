package native

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
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
	if e.route != nil && e.route.Refuse != nil {
		return e.route.Refuse(refusal, e.sandbox.sent())
	}
	return api.Refuse(refusal)
}

// refuse returns the operator's answer to an error. The function tell returns the answer for the refusal. refuse logs
// the error if isFailure returns true.
func (n *Native) refuse(
	r *http.Request, api *operatorapi.API, err error, tell func(*operatorapi.Refusal) operatorapi.Answer,
) exchange.Answer {
	refusal := refusalOf(err)
	if isFailure(err, refusal) {
		n.exchange.LogFailure(r.Context(), err)
	}
	told := tell(refusal)
	a := answerOf(api, told, exchange.CallerOf(r))
	if a.Header == nil {
		a.Header = http.Header{}
	}
	a.Code, a.Hint = cmp.Or(string(told.Reason), refusal.Code()), cmp.Or(told.Detail, refusal.Detail)
	a.Header.Set(requests.ReasonHeader, a.Code)
	if a.Hint != "" {
		a.Header.Set(requests.ReasonHeader, a.Code+": "+a.Hint)
	}
	if seconds := pauseAfter(err); seconds != "" {
		a.Header.Set("Retry-After", seconds)
	}
	return a
}

// isFailure reports whether an error is to be logged: neither the caller nor a fault caused it.
func isFailure(err error, refusal *operatorapi.Refusal) bool {
	deliberate := errors.As(err, new(*operatorapi.Refusal)) || errors.As(err, new(service.ErrFault))
	return refusal.Why == operatorapi.Internal && !deliberate || errors.Is(err, postgres.ErrUnavailable)
}

// pauseAfter returns the value of the header Retry-After, in seconds. It returns "" if the time is unknown.
func pauseAfter(err error) string {
	var fault service.ErrFault
	var limited exchange.ErrRateLimited
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

// refusalOf returns the refusal of the operators' APIs for an error. Its Reason is the error code of /v1 if that is
// more specific.
func refusalOf(err error) *operatorapi.Refusal {
	var refusal *operatorapi.Refusal
	var fault service.ErrFault
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &fault):
		status := fault.Fault.Answer().Status
		return operatorapi.OfStatus(status, faults.CodeOf(status))
	case errors.As(err, new(exchange.ErrRateLimited)):
		return operatorapi.Refuse(operatorapi.TooMany)
	case errors.As(err, new(exchange.ErrMisdirected)): // no operator has a code for it, so Reason names the flag
		return operatorapi.OfStatus(http.StatusMisdirectedRequest, exchange.MisdirectedCode+": "+exchange.AllowedHostsFlag)
	case errors.Is(err, service.ErrUnauthorized):
		return operatorapi.Because(operatorapi.KeyInvalid, "unauthorized")
	case errors.Is(err, service.ErrSuspended):
		return operatorapi.Because(operatorapi.Unavailable, "suspended")
	}
	if refusal = orderRefusal(err); refusal != nil {
		return refusal
	}
	return failureOf(err)
}

// orderRefusal returns the refusal for an error about an order. It returns nil for any other error.
func orderRefusal(err error) *operatorapi.Refusal {
	var environment service.ErrNoEnvironment
	var notRefundable payments.ErrNotRefundable
	var exceeds payments.ErrExceedsRefundable
	switch {
	case errors.As(err, new(ledger.ErrQuotaExceeded)):
		return operatorapi.Because(operatorapi.Unavailable, "quota_exceeded")
	case errors.As(err, &environment):
		return operatorapi.Because(operatorapi.NotFound, "env_not_found").Say(environment.Error())
	case errors.As(err, new(service.ErrNoStore)), errors.Is(err, ledger.ErrNotFound):
		return operatorapi.Refuse(operatorapi.NotFound)
	case errors.As(err, new(service.ErrWrongCurrency)), errors.As(err, new(service.ErrUndetected)):
		return operatorapi.Because(operatorapi.Invalid, "invalid_body")
	case errors.As(err, &notRefundable):
		return operatorapi.Because(operatorapi.Invalid, "not_refundable").Say(notRefundable.Error())
	case errors.As(err, &exceeds):
		return operatorapi.Because(operatorapi.Invalid, "exceeds_refundable").Say(exceeds.Error())
	}
	return nil
}

// failureOf returns the refusal for an error that the caller did not cause.
func failureOf(err error) *operatorapi.Refusal {
	switch {
	case errors.Is(err, postgres.ErrOverloaded), errors.Is(err, postgres.ErrConfigChanged):
		return operatorapi.Because(operatorapi.Unavailable, "overloaded")
	case errors.Is(err, postgres.ErrUnavailable):
		return operatorapi.Refuse(operatorapi.Unavailable)
	case errors.Is(err, ledger.ErrTooManyUsers):
		return operatorapi.Because(operatorapi.Unavailable, "too_many_users")
	}
	return operatorapi.Refuse(operatorapi.Internal)
}
