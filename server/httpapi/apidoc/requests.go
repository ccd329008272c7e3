package apidoc

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/requests"
)

// requestParameterDescriptions describes the parameters of the list of requests. [wire.RequestParameters] reads them.
var requestParameterDescriptions = map[string]*huma.Param{
	"limit":  limitParameter("Requests on a page."),
	"cursor": cursorParameter(),
	"before": beforeParameter(),
	"all": {
		Description: "`true`: also requests that were answered 2xx. They are kept from the first time that somebody asks for them, until ten " +
			"minutes after the last time.",
		Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"true", "false"}, Default: "false"},
	},
	"status": {Description: "Answered with this HTTP status.", Schema: &huma.Schema{
		Type: huma.TypeInteger, Format: "int32", Minimum: new(100.0), Maximum: new(599.0),
	}},
	"error": {Description: "With this error code.", Schema: characters(80)},
	"path": {Description: "To paths that begin with this, for example `/v1/payments`.", Schema: &huma.Schema{
		Type: huma.TypeString, Pattern: "^/", MinLength: new(1), MaxLength: new(200),
	}},
}

func refineLoggedRequest(fields map[string]*huma.Schema) {
	fields["id"].Pattern = "^log_[0-9A-HJKMNP-TV-Z]{26}$"
	for _, name := range []string{"query", "requestBody", "responseBody"} {
		fields[name] = &huma.Schema{
			Type: huma.TypeObject, Nullable: true, Description: fields[name].Description, AdditionalProperties: true,
		}
	}
}

var ListRequests = Operation{
	ID: "listRequests", Method: http.MethodGet, Path: "/v1/requests", Tag: tagRequests, Summary: "List requests",
	Description: "What your code sent, and what was answered: the last 500 requests with a key of this sandbox that were not answered 2xx, " +
		"in pages. " +
		"A request is in the list about a second after its answer. The last 20 requests without a valid key are in it too, if their path names " +
		"the sandbox; there is one a second at most.\n\n" +
		"With `all=true` the list also has the last 500 requests that were answered 2xx.\n\n" +
		"No header is kept, and of bodies (the first 4 KiB) and queries only the fields and parameters that this description names. Credentials " +
		"are replaced where they are in one of these. Of URLs only the host is kept.",
	Parameters: describedParameters(decode.RequestParameters, requestParameterDescriptions,
		[]string{"limit", "cursor", "before", "all", "status", "error", "path"}),
	answers: []described{{http.StatusOK, "A page.", requestListSchema, nil}},
	errors:  []string{"invalid_params"},
	Examples: []Example{{
		name: "refused", Summary: "Payments that were refused", Status: http.StatusOK, Parameters: map[string]any{"path": "/v1/payments"},
		Answer: wire.RequestList{Data: []wire.LoggedRequest{view.LoggedRequestOf(refusedRequest(), nil)}},
	}},
}

// refusedRequest returns a logged request for a payment with a wrong amount and without a reference.
func refusedRequest() *requests.Entry {
	answer, err := json.Marshal(ErrorCaseOf("invalid_body").Example)
	if err != nil {
		panic(err) // encoding plain data does not fail
	}
	return &requests.Entry{
		ID: exampleID("refused", 3*time.Second), ReceivedAt: exampleTime.Add(3 * time.Second), Method: http.MethodPost, Path: "/v1/payments",
		Status: http.StatusBadRequest, Error: "invalid_body", RequestID: "checkout-1042",
		RequestBody: rawJSON(`{"amount":"25000","currency":"RWF","msisdn":"` + exampleMSISDN + `","application":"shop"}`), ResponseBody: answer,
		NotKept: []string{"phone"},
	}
}
