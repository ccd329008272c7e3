package apidoc

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// ErrorCase describes an error: when it is answered, and what the answer looks like.
type ErrorCase struct {
	When    string
	Example *wire.Error
}

// ErrorCases are all errors of the API. Examples are made by what makes the errors, where that is a function.
var ErrorCases = []ErrorCase{
	{"The body is not one JSON object, or fields are missing or wrong; `detail.fieldErrors` names all of them at once.",
		wire.InvalidBody(wire.FieldErrors{
			"amount":    {"expected integer, for example 25000"},
			"reference": {"is required, for example SHOP-PAY-20260531120000-0123456789AB"},
		})},
	{"A parameter has a value that it cannot have; `detail.fieldErrors` names all of them at once.",
		wire.InvalidParams(wire.FieldErrors{"limit": {"has to be a number from 1 to 100"}})},
	{"The key is missing, malformed, revoked or unknown, or of another sandbox than the path names.", wire.Unauthorized()},
	{"The sandbox has made all transactions of its monthly quota. Nothing is recorded.", wire.QuotaExceeded(ledger.ErrQuotaExceeded{Quota: 1000})},
	{"There is no such transaction, event or test client in this sandbox, no such store, or nothing at the path.", wire.NoSuchTransaction()},
	{"The sandbox has no enabled environment for the operator and country.",
		wire.EnvironmentNotFound("This sandbox has no enabled environment for the operator %s in %s.", payments.Moov, payments.Benin)},
	{"The path does not answer this method.",
		&wire.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "This path does not answer the method DELETE."}},
	{"The reference belongs to another request. Nothing is recorded.", wire.DuplicateReference(exampleReference)},
	{"The sandbox has no webhook URL to send the event to.", wire.ResendRefusal(ledger.ErrNoEndpoint).(*wire.Error)},
	{"The event is being sent at this moment.", wire.ResendRefusal(ledger.ErrBeingSent).(*wire.Error)},
	{"The payment has another outcome already, `detail.status`.",
		wire.PromptRefusal(&ledger.ErrPromptClosed{Transaction: &payments.Transaction{Status: payments.UserCancelled}}).(*wire.Error)},
	{"The body has more than 64 KiB.",
		&wire.Error{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Message: "The request body has more than 65536 bytes."}},
	{"The body's Content-Type is not `application/json`.",
		&wire.Error{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Message: "Send the body as JSON with the header Content-Type: application/json."}},
	{"The refund is larger than what is left of the payment, `detail.refundable`.",
		wire.RefundRefusal(payments.ErrExceedsRefundable{Refundable: 20_000}).(*wire.Error)},
	{"The transaction is not a collection with status `SUCCESS`.", wire.RefundRefusal(payments.ErrNotRefundable).(*wire.Error)},
	{"The sandbox has used up its requests of this minute; wait for `Retry-After`.",
		&wire.Error{Status: http.StatusTooManyRequests, Code: "rate_limited", Message: "This sandbox takes 600 requests a minute. Try again in 7 seconds."}},
	{"Something went wrong in the service. Repeat the request with the same reference.",
		wire.Internal("")},
	{"The sandbox is suspended: no call is served until it is resumed, and nothing that is pending ends.", wire.Suspended()},
	{"More is asked of the service than it can do in good time. The request records nothing.", wire.Overloaded()},
	{"The service cannot reach its database. Repeat the request with the same reference after `Retry-After`. With `detail.reference` it is not known whether " +
		"the request was recorded: repeat it with that reference, which was generated if the request had none.", wire.Uncertain(exampleReference)},
}

// errorHeaders are the headers of an error by its status.
var errorHeaders = map[int][]string{
	http.StatusUnauthorized:       {"WWW-Authenticate"},
	http.StatusTooManyRequests:    {"Retry-After"},
	http.StatusServiceUnavailable: {"Retry-After"},
}

// errorResponses describes the answers with the given error codes, by status. The headers are those that a route adds to
// every answer to a key that is valid.
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
		Description: strings.Join(when, "\n\n"), Headers: headerRefs(slices.Concat(headers, errorHeaders[status])...),
		Content: map[string]*huma.MediaType{MediaJSON: {Schema: schema, Examples: examples}},
	}
}

func ErrorCaseOf(code string) ErrorCase {
	i := slices.IndexFunc(ErrorCases, func(c ErrorCase) bool { return c.Example.Code == code })
	if i < 0 {
		panic("there is no description of the error " + code)
	}
	return ErrorCases[i]
}
