package apidoc

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// ErrorCase describes when the API answers with an error, with code between backticks, and has an example of the answer.
type ErrorCase struct {
	When    string
	Example *wire.Error
}

// Instead returns what a client sends instead of a request that was answered with the error.
func (c ErrorCase) Instead() english.Text { return advice.Instead(c.Example.Code) }

// ErrorCases has all errors of the API. If a function of package wire returns the error, the same function returns the
// example.
var ErrorCases = []ErrorCase{
	{
		"The body is not one JSON object: `message` says where and why. Or fields are missing, invalid or misspelled: `detail.fieldErrors` names all of them.",
		view.InvalidBody(wire.FieldErrors{
			"amount":    {"expected integer, for example 25000"},
			"reference": {"is required, for example SHOP-PAY-20260531120000-0123456789AB"},
		}),
	},
	{
		"A parameter of a list, or a number in a path, has an invalid value, or a parameter is misspelled. `detail.fieldErrors` names all of them.",
		view.InvalidParams(wire.FieldErrors{"limit": {"must be a number from 1 to 100"}}),
	},
	{
		"The key is missing, malformed, revoked or unknown, or it belongs to another sandbox than the one in the path.",
		view.Unauthorized(),
	},
	{
		"The sandbox has used its monthly quota of transactions. Nothing is recorded.",
		view.QuotaExceeded(ledger.ErrQuotaExceeded{Quota: 1000}),
	},
	{
		"The transaction, event, test client, fault or store does not exist in this sandbox, or the path does not exist. `detail.stores` has the stores, " +
			"`detail.path` the right path, or the path of the operator's own API that has this path.",
		view.NoSuchTransaction(),
	},
	{
		"The sandbox has no enabled environment for `detail.operator` in `detail.country`, as they were sent or detected.",
		view.NoEnvironment(sandboxes.Market{Operator: payments.Moov, Country: payments.Benin}, []sandboxes.Market{
			{Operator: payments.MTN, Country: payments.Rwanda}, {Operator: payments.Orange, Country: payments.CoteDIvoire},
		}),
	},
	{
		"The sandbox's resource does not allow this to its API key. `detail.field` is the field to set.",
		view.Forbidden("change test clients", "spec.api.testClients"),
	},
	{
		"The path does not answer this method.",
		view.MethodNotAllowed(http.MethodDelete, "GET, HEAD, POST"),
	},
	{
		"The reference belongs to another request, which recorded `detail.transaction`. `detail.recorded` has what that request sent in each field in " +
			"which this one differs; null: it left the field out. Nothing is recorded.",
		view.DuplicateReference(pendingCollection(), map[string]any{"description": "Two tickets"}),
	},
	{
		"The sandbox has no webhook URL to send events to. `detail.field` is the field to set.",
		view.NoWebhook(),
	},
	{
		"The event is being sent now.",
		view.BeingSent(),
	},
	{
		"The payment already has another outcome: `detail.status`.",
		view.PromptClosed(&ledger.ErrPromptClosed{Transaction: &payments.Transaction{Status: payments.UserCancelled}}),
	},
	{
		"A test client has the number already: `detail.name`, `detail.source`.",
		view.DuplicateMSISDN(&ledger.ErrTestClientExists{TestClient: *exampleTestClient()}),
	},
	{
		"A resource in the cluster manages this: the TestClient `detail.name` the number, or the SandboxEnvironment the fault `detail.name`.",
		view.ManagedByResource(ledger.ErrManagedByResource{Name: "alice"}),
	},
	{
		"The sandbox has as many test clients as it may have: `detail.limit`.",
		view.TooManyTestClients(ledger.ErrTooManyTestClients{Limit: 1000}),
	},
	{
		"As many faults are set in the sandbox as may be: `detail.limit`.",
		view.TooManyFaults(),
	},
	{
		"The clock is being advanced to another target: `detail.target`.",
		view.ClockBusy(clocks.ErrClockBusy{Target: exampleTime.Add(24 * time.Hour)}),
	},
	{
		"The sandbox was reset while its clock was being advanced.",
		view.ClockReset(),
	},
	{
		"The body has more than 64 KiB: `detail.limit`, in bytes.",
		view.BodyTooLarge(),
	},
	{
		"The body's Content-Type is not `application/json`.",
		&wire.Error{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Message: "The body's Content-Type is text/plain. Send the body as JSON with the header Content-Type: application/json."},
	},
	{
		"The host name of the request is not one under which `cauri dev` answers: `detail.host`. Without this rule, a page of any site could read " +
			"the answers (DNS rebinding).",
		view.Misdirected("pay.example.com"),
	},
	{
		"The time is before the sandbox's present one: `detail.now`.",
		view.ClockBackwards(clocks.ErrClockBackwards{Now: exampleTime}),
	},
	{
		"The sandbox has so many transactions that the lines of an expectation cannot be evaluated in time.",
		view.TooManyRows(),
	},
	{
		"The refund is larger than the amount that is left to refund: `detail.refundable`.",
		view.ExceedsRefundable(payments.ErrExceedsRefundable{Refundable: 20_000}),
	},
	{
		"The transaction is not a collection with status `SUCCESS`: `detail.type`, `detail.status`.",
		view.NotRefundable(payments.ErrNotRefundable{Type: payments.Collection, Status: payments.Timeout}),
	},
	{
		"The sandbox has used its requests of this minute: `detail.limit`.",
		view.RateLimited(600, "7"),
	},
	{
		"The sandbox, or the process of the API, has as many open streams as it may have: `detail.limit`.",
		view.TooManyStreams("This sandbox", 100),
	},
	{
		"The sandbox was reset five times in the last second. It was not reset again.",
		view.TooManyResets(),
	},
	{
		"The faults of the sandbox were changed ten times in ten seconds. Nothing was changed.",
		view.TooManyChanges(faultcounts.ErrTooManyChanges{Wait: 7 * time.Second}),
	},
	{
		"A check of the receiver is open, or was asked for less than a minute ago.",
		view.TooManyChecks(receiverchecks.ErrTooManyChecks{Wait: 42 * time.Second}),
	},
	{
		"The service failed. The request may have been recorded.",
		view.Internal(""),
	},
	{
		"A fault of the sandbox answers so: `detail.fault`. The request recorded nothing.",
		simulated(http.StatusNotImplemented),
	},
	{
		"A fault of the sandbox answers so, as a proxy does without an answer of the service. The request recorded nothing.",
		simulated(http.StatusBadGateway),
	},
	{
		"A fault of the sandbox answers so, as a proxy does that waited too long. The request recorded nothing.",
		simulated(http.StatusGatewayTimeout),
	},
	{
		"The sandbox is suspended. Until it is resumed, requests are refused and pending payments stay pending.",
		view.Suspended(),
	},
	{
		"The service or this sandbox has more requests than it can handle in time, or the sandbox was reset or changed " +
			"during every try. The request recorded nothing.",
		view.Overloaded(),
	},
	{
		"No worker has verified the ledger within 25 seconds, as `verify=full` asked for.",
		view.NotVerified(),
	},
	{
		"The database is unavailable, or does not answer within 10 s. If the error has `detail.reference`, the request " +
			"may have been recorded. If the request had no reference, that one was generated.",
		view.Uncertain(exampleReference),
	},
}

// simulated returns the answer of a fault with this status.
func simulated(status int) *wire.Error {
	a := &faults.API{Status: status}
	return view.Simulated(&faults.Fault{Name: "bad-gateway", API: a}, a)
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
		when = append(when, "`"+c.Example.Code+"`: "+c.When+" "+string(c.Instead()))
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
