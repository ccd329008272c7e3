package apidoc

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// ErrorCase describes when the API answers with an error, and has an example of the answer.
type ErrorCase struct {
	When    string
	Example *wire.Error
}

// ErrorCases has all errors of the API. If a function of package wire returns the error, the same function returns the
// example.
var ErrorCases = []ErrorCase{
	{"The body is not one JSON object, or fields are missing or invalid. `detail.fieldErrors` names all of them.",
		wire.InvalidBody(wire.FieldErrors{
			"amount":    {"expected integer, for example 25000"},
			"reference": {"is required, for example SHOP-PAY-20260531120000-0123456789AB"},
		})},
	{"A parameter has an invalid value. `detail.fieldErrors` names all such parameters.",
		wire.InvalidParams(wire.FieldErrors{"limit": {"must be a number from 1 to 100"}})},
	{"The key is missing, malformed, revoked or unknown, or it belongs to another sandbox than the one in the path.", wire.Unauthorized()},
	{"The sandbox has used its monthly quota of transactions. Nothing is recorded.", wire.QuotaExceeded(ledger.ErrQuotaExceeded{Quota: 1000})},
	{"The transaction, event, test client or store does not exist in this sandbox, or the path does not exist.", wire.NoSuchTransaction()},
	{"The sandbox has no enabled environment for the operator and country.",
		wire.EnvironmentNotFound("This sandbox has no enabled environment for the operator %s in %s. It has: %s in %s, %s in %s.", payments.Moov,
			payments.Benin, payments.MTN, payments.Rwanda, payments.Orange, payments.CoteDIvoire)},
	{"The sandbox's resource does not allow this to its API key. `detail.field` is the field to set.",
		wire.Forbidden("change test clients", "spec.api.testClients")},
	{"The path does not answer this method.",
		&wire.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "This path does not answer the method DELETE."}},
	{"The reference belongs to another request. Nothing is recorded.", wire.DuplicateReference(exampleReference)},
	{"The sandbox has no webhook URL to send the event to.", wire.ResendRefusal(ledger.ErrNoEndpoint).(*wire.Error)},
	{"The event is being sent now.", wire.ResendRefusal(ledger.ErrBeingSent).(*wire.Error)},
	{"The payment already has another outcome: `detail.status`.",
		wire.PromptRefusal(&ledger.ErrPromptClosed{Transaction: &payments.Transaction{Status: payments.UserCancelled}}).(*wire.Error)},
	{"A test client has the number already: `detail.name`, `detail.source`.",
		wire.TestClientRefusal(&ledger.ErrTestClientExists{TestClient: *exampleTestClient()}).(*wire.Error)},
	{"A TestClient resource in the cluster manages the number: `detail.name`.",
		wire.TestClientRefusal(ledger.ErrManagedByResource{Name: "alice"}).(*wire.Error)},
	{"The sandbox has as many test clients as it may have: `detail.limit`.",
		wire.TestClientRefusal(ledger.ErrTooManyTestClients{Limit: 1000}).(*wire.Error)},
	{"The clock is being advanced to another target: `detail.target`.",
		wire.AdvanceRefusal(ledger.ClockTarget{}, ledger.ErrClockBusy{Target: exampleTime.Add(24 * time.Hour)}).(*wire.Error)},
	{"The sandbox was reset while its clock was being advanced.", wire.AdvanceRefusal(ledger.ClockTarget{}, ledger.ErrClockReset).(*wire.Error)},
	{"The body has more than 64 KiB.",
		&wire.Error{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Message: "The request body has more than 65536 bytes."}},
	{"The body's Content-Type is not `application/json`.",
		&wire.Error{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Message: "Send the body as JSON with the header Content-Type: application/json."}},
	{"The time is before the sandbox's present one: `detail.now`.",
		wire.AdvanceRefusal(ledger.ClockTarget{}, ledger.ErrClockBackwards{Now: exampleTime}).(*wire.Error)},
	{"The sandbox has so many transactions that the lines cannot be evaluated in time.", wire.TooManyRows()},
	{"The refund is larger than the amount that is left to refund: `detail.refundable`.",
		wire.RefundRefusal(payments.ErrExceedsRefundable{Refundable: 20_000}).(*wire.Error)},
	{"The transaction is not a collection with status `SUCCESS`.", wire.RefundRefusal(payments.ErrNotRefundable).(*wire.Error)},
	{"The sandbox has used its requests of this minute. Wait as long as `Retry-After` says.",
		&wire.Error{Status: http.StatusTooManyRequests, Code: "rate_limited",
			Message: "This sandbox takes 600 requests a minute. Try again in 7 seconds."}},
	{"The sandbox, or the process of the API, has as many open streams as it may have.", wire.TooManyStreams("This sandbox", 100)},
	{"The sandbox was reset five times in the last second. It was not reset again.", wire.TooManyResets()},
	{"The service failed. Send the request again with the same reference.",
		wire.Internal("")},
	{"A fault of the sandbox answers so: `detail.fault`. The request recorded nothing.", simulated(http.StatusNotImplemented)},
	{"A fault of the sandbox answers so, as a proxy does that gets no answer from the service. The request recorded nothing.",
		simulated(http.StatusBadGateway)},
	{"A fault of the sandbox answers so, as a proxy does that waited too long. The request recorded nothing.",
		simulated(http.StatusGatewayTimeout)},
	{"The sandbox is suspended. Until it is resumed, requests are refused and pending payments stay pending.", wire.Suspended()},
	{"The service has more requests than it can handle in time, or the sandbox was reset again and again meanwhile. The request recorded nothing.",
		wire.Overloaded()},
	{"No worker has verified the ledger in time, as `verify=full` asked for.", wire.NotVerified()},
	{"The service cannot reach its database. Send the request again with the same reference, after the time in `Retry-After`. If the error " +
		"has `detail.reference`, the request may have been recorded: send it again with that reference. If the request had " +
		"none, it was generated.",
		wire.Uncertain(exampleReference)},
}

// simulated returns the answer of a fault with this status.
func simulated(status int) *wire.Error {
	a := &faults.API{Status: status}
	return wire.Simulated(&faults.Fault{Name: "bad-gateway", API: a}, a)
}

// errorHeaders has the names of the headers of errors, by status.
var errorHeaders = map[int][]string{
	http.StatusUnauthorized:       {"WWW-Authenticate"},
	http.StatusTooManyRequests:    {"Retry-After"},
	http.StatusServiceUnavailable: {"Retry-After"},
}

// errorResponses returns the responses for these error codes, by status. The parameter headers has the names of the
// headers of every answer to a valid key.
func errorResponses(codes, headers []string) map[string]*huma.Response {
	cases := map[int][]ErrorCase{}
	for _, code := range codes {
		c := ErrorCaseOf(code)
		cases[c.Example.Status] = append(cases[c.Example.Status], c)
	}
	responses := map[string]*huma.Response{}
	for status, cases := range cases {
		responses[strconv.Itoa(status)] = errorResponse(status, cases, headers)
	}
	return responses
}

func errorResponse(status int, cases []ErrorCase, headers []string) *huma.Response {
	var when []string
	var codes []any
	examples := map[string]*huma.Example{}
	for _, c := range cases {
		when = append(when, "`"+c.Example.Code+"`: "+c.When)
		codes = append(codes, c.Example.Code)
		examples[c.Example.Code] = &huma.Example{Value: c.Example}
	}
	if status == http.StatusUnauthorized {
		headers = nil
	}
	schema := &huma.Schema{Ref: ErrorSchema.Ref, Properties: map[string]*huma.Schema{"error": {Enum: codes}}}
	return &huma.Response{
		Description: strings.Join(when, "\n\n"), Headers: headerRefs(slices.Concat(headers, errorHeaders[status], []string{"Link"})...),
		Content: map[string]*huma.MediaType{MediaJSON: {Schema: schema, Examples: examples}},
	}
}

// ErrorCaseOf returns the description of an error code. It panics if there is none.
func ErrorCaseOf(code string) ErrorCase {
	i := slices.IndexFunc(ErrorCases, func(c ErrorCase) bool { return c.Example.Code == code })
	if i < 0 {
		panic("there is no description of the error " + code)
	}
	return ErrorCases[i]
}
