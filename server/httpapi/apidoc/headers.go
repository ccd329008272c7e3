package apidoc

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/requests"
)

// RateLimitHeaders are on the answers to a sandbox that has a rate limit.
var RateLimitHeaders = []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}

// responseHeaders are the header components of the document. Responses refer to them. A required header is on every
// answer whose response refers to it.
var responseHeaders = map[string]*huma.Header{
	wire.APIVersionHeader: {Required: true, Description: "Version of the API.", Schema: exampleText("date", wire.APIVersion)},
	wire.RequestIDHeader: {
		Required: true, Description: "The id that the request had, or a generated one. Quote it when you ask for help.",
		Schema: exampleText("", "req_4KZ2TQ6VJ7M3XH5R"),
	},
	faults.Header: {
		Description: "Name of the sandbox's fault that acted on this request. Absent if none did.",
		Schema:      exampleText("", "slow-answer"),
	},
	wire.IgnoredHeader: {
		Description: "Names of the fields and parameters of the request that are unknown and were ignored, percent-encoded, at most 10 and `...`. " +
			"Absent if there were none.",
		Schema: exampleText("", "colour, page"),
	},
	requests.ReasonHeader: {
		Description: "What to know about the number: its length is wrong, or its test client is of another operator or country. Absent for nothing.",
		Schema:      exampleText("", "+225730000901 has 9 digits after +225, and a number of CI has 10"),
	},
	"Idempotent-Replayed": {
		Description: "`true` if the same request was made before. Absent on the first response.",
		Schema:      &huma.Schema{Type: huma.TypeString, Enum: []any{"true"}},
	},
	"Location": {
		Description: "Path of the transaction that this request recorded.",
		Schema:      exampleText("uri-reference", "/v1/payments/"+settledID.String()),
	},
	"Link": {
		Description: "Of an error: `<page>; rel=\"help\"`, what its code means and what to do. Of an answer in CSV: " +
			"`<path and query of the next page>; rel=\"next\"`, absent on the last page.",
		Schema: exampleText("", `</v1/ledger/entries?currency=RWF&cursor=AAAAAAAAAAI&limit=100>; rel="next"`),
	},
	"Vary": {Description: "The headers of the request on which the answer depends.", Schema: exampleText("", "Accept")},
	"WWW-Authenticate": {
		Required: true, Description: "The required scheme.", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"Bearer"}},
	},
	"Retry-After":   {Required: true, Description: "Seconds to wait before the next try.", Schema: count(0)},
	"ETag":          {Required: true, Description: "Changes when the document does.", Schema: exampleText("", `W/"2f1c9a7e"`)},
	"Cache-Control": {Required: true, Description: "How long the document may be kept.", Schema: exampleText("", static.CacheControl)},
	RateLimitHeaders[0]: {
		Description: "Requests that the sandbox may make in any minute. Absent, like the other two headers, if there is no limit.",
		Schema:      count(1),
	},
	RateLimitHeaders[1]: {Description: "Requests that are left.", Schema: count(0)},
	RateLimitHeaders[2]: {Description: "Seconds until the whole limit is available again.", Schema: count(0)},
}

var requestIDParameter = &huma.Param{
	Name: wire.RequestIDHeader, In: "header",
	Description: "Your id of this request, returned with the response. An id of another form is replaced.",
	Schema:      &huma.Schema{Type: huma.TypeString, Pattern: requests.IDForm.String(), Examples: []any{"checkout-1042"}},
}

// headerRefs returns references to the headers of every answer and to the headers with these names.
func headerRefs(names ...string) map[string]*huma.Param {
	refs := map[string]*huma.Param{}
	for _, name := range append([]string{wire.APIVersionHeader, wire.RequestIDHeader}, names...) {
		if responseHeaders[name] == nil {
			panic("there is no description of the header " + name)
		}
		refs[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	return refs
}

func exampleText(format, example string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: format, Examples: []any{example}}
}

func count(least float64) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: &least}
}
