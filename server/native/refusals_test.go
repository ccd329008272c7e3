package native

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/service"
)

// Each error has a reason of package operatorapi. The header X-Cauri-Reason has the code of /v1.
func TestErrorsAsOperatorsTellThem(t *testing.T) {
	t.Parallel()
	answers := func(status int) service.ErrFault {
		return service.ErrFault{Fault: &faults.Fault{Name: "bad", API: &faults.API{Status: status}}}
	}
	for _, c := range []struct {
		err    error
		reason operatorapi.Reason
		code   string
		pause  string
	}{
		{operatorapi.Refuse(operatorapi.KeyInvalid), operatorapi.KeyInvalid, "key_invalid", ""},
		{service.ErrUnauthorized, operatorapi.KeyInvalid, "unauthorized", ""}, // the key ended during the call
		{service.ErrSuspended, operatorapi.Unavailable, "suspended", "60"},
		{service.ErrNoStore{}, operatorapi.NotFound, "not_found", ""},
		{service.ErrNoEnvironment{}, operatorapi.NotFound, "env_not_found", ""},
		{service.ErrWrongCurrency{}, operatorapi.Invalid, "invalid_body", ""},
		{service.ErrUndetected{}, operatorapi.Invalid, "invalid_body", ""},
		{ledger.ErrNotFound, operatorapi.NotFound, "not_found", ""},
		{ledger.ErrQuotaExceeded{}, operatorapi.Unavailable, "quota_exceeded", ""},
		{nativestore.ErrTooManyUsers, operatorapi.Unavailable, "too_many_users", ""},
		{payments.ErrNotRefundable{}, operatorapi.Invalid, "not_refundable", ""},
		{payments.ErrExceedsRefundable{}, operatorapi.Invalid, "exceeds_refundable", ""},
		{httpfront.ErrRateLimited{}, operatorapi.TooMany, "rate_limited", "0"},
		{postgres.ErrOverloaded, operatorapi.Unavailable, "overloaded", "1"},
		{postgres.ErrConfigChanged, operatorapi.Unavailable, "overloaded", "1"},
		{postgres.ErrUnavailable, operatorapi.Unavailable, "unavailable", "1"},
		{postgres.ErrUncertain, operatorapi.Unavailable, "unavailable", "1"},
		{errors.ErrUnsupported, operatorapi.Internal, "internal", ""},
		{answers(429), operatorapi.TooMany, "rate_limited", "1"},
		{answers(500), operatorapi.Internal, "internal", ""},
		{answers(502), operatorapi.Gateway, "bad_gateway", ""},
		{answers(503), operatorapi.Unavailable, "unavailable", "1"},
	} {
		wrapped := fmt.Errorf("recording: %w", c.err)
		got := refusalOf(wrapped)
		if got.Reason != c.reason || got.Code() != c.code || pauseAfter(wrapped) != c.pause {
			t.Errorf("%v: %s, with the code %s and a pause of %q", c.err, got.Reason, got.Code(), pauseAfter(wrapped))
		}
	}
}

// Each refusal that an operator's API can meet has a reason, and the code that it has in /v1.
func TestEachRefusalHasAReason(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range slices.Concat(service.Refusals, httpfront.Refusals) {
		known[r.Code] = true
		got := refusalOf(r.Example)
		code, _, _ := strings.Cut(got.Code(), ":")
		if r.Of != service.OnlyV1 && (got.Reason == operatorapi.Internal || code != r.Code) {
			t.Errorf("%T %q is told as %s, with the code %s: add %s to reasons", r.Example, r.Example, got.Reason, code, r.Code)
		}
	}
	for code := range reasons {
		if !known[code] {
			t.Errorf("no refusal has the code %s of reasons", code)
		}
	}
}

// Only errors that the caller did not cause are logged.
func TestFailuresAreTold(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		errors.ErrUnsupported: true, postgres.ErrUnavailable: true, service.ErrSuspended: false,
		operatorapi.Refuse(operatorapi.Internal):                              false,
		service.ErrFault{Fault: &faults.Fault{API: &faults.API{Status: 500}}}: false,
	} {
		if isFailure(err, refusalOf(err)) != want {
			t.Errorf("%v is logged: %t", err, !want)
		}
	}
}

// RoutedPath removes the slashes and spaces that clients add. A slash in an id stays escaped. Paths of other fronts are
// unescaped.
func TestRoutedPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/operators/mtn//collection/token ":              "/operators/mtn/collection/token",
		"/operators/mtn/collection/token/ /":             "/operators/mtn/collection/token",
		"/sandboxes/team/shop/operators/mtn/collection/": "/sandboxes/team/shop/operators/mtn/collection",
		"/v1/payments/":            "/v1/payments/",
		"/v1/x%2By/%2f":            "/v1/x+y//",
		"/v1/x/operators/payments": "/v1/x/operators/payments",
		"/operators/airtel/standard/v1/payments/%61%2fb": "/operators/airtel/standard/v1/payments/a%2Fb",
		"/operators/airtel%2Fstandard/%E9":               "/operators/airtel%2Fstandard/%EF%BF%BD", // U+FFFD
		// Parameters stay escaped in every form of a path of an operator's API.
		"/operator%73/airtel/%25zz":                       "/operators/airtel/%25zz",
		"/sandboxes/team/sh%6Fp/operators%2Fairtel/%25zz": "/sandboxes/team/shop/operators%2Fairtel/%25zz",
		"/sandboxes/team%2Fshop/operators/airtel/%25zz":   "/sandboxes/team%2Fshop/operators/airtel/%25zz",
		"/sandboxes/operators/shop/operators/mtn//x/":     "/sandboxes/operators/shop/operators/mtn/x",
	} {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := RoutedPath(u); got != want {
			t.Errorf("%s is routed as %s", path, got)
		}
	}
}
