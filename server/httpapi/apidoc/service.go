package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

var GetMeta = Operation{
	ID: "getMeta", Method: http.MethodGet, Path: "/v1/meta", Tag: tagService, Summary: "Version and capabilities", Open: true,
	Description: "Detect features by the names in `capabilities`. Changes within `v1` only add.",
	answers:     []described{{http.StatusOK, "What this service is.", metaSchema, nil}},
	Examples: []Example{{
		name: "meta", Summary: "This version", Status: http.StatusOK,
		Answer: wire.MetaOfThisVersion(),
	}},
}

var GetHealth = Operation{
	ID: "getHealth", Method: http.MethodGet, Path: "/v1/health", Tag: tagService, Summary: "Health", Open: true,
	Description: "For probes.",
	answers: []described{
		{http.StatusOK, "The service can serve.", healthSchema, nil},
		{http.StatusServiceUnavailable, "The database is unavailable.", healthSchema, []string{"Retry-After"}},
	},
	Examples: []Example{{name: "healthy", Summary: "All is well", Status: http.StatusOK, Answer: wire.Health{Status: "ok",
		Version: "v0.1.0"}}},
}

var GetDocument = Operation{
	ID: "getOpenAPI", Method: http.MethodGet, Path: "/v1/openapi.json", Tag: tagService, Summary: "This description", Open: true,
	Description: "The OpenAPI 3.1 document of this API. Its first server is the address under which you ask for it. With `If-None-Match` it is sent only if it has changed.",
	Parameters:  sliceParameters,
	answers: []described{
		{http.StatusOK, "The document.", documentSchema, []string{"ETag", "Cache-Control", "Vary"}},
		{http.StatusNotModified, "The document has not changed.", nil, []string{"ETag", "Cache-Control", "Vary"}},
	},
	errors: []string{"invalid_params"},
}

var sliceParameters = []*huma.Param{{
	Name: SliceParameter, In: "query",
	Description: "The id of an operation: the document has only this operation, with everything to which it refers.",
	Schema:      exampleText("", CreatePayment.ID),
}}

var GetDocument30 = Operation{
	ID: "getOpenAPI30", Method: http.MethodGet, Path: "/v1/openapi-3.0.json", Tag: tagService, Summary: "This description as OpenAPI 3.0",
	Open: true,
	Description: "The same as OpenAPI 3.0.3, for tools that do not read 3.1. The events are under `x-webhooks`. With `If-None-Match` it is " +
		"sent only if it has changed.",
	Parameters: sliceParameters,
	answers:    GetDocument.answers,
	errors:     GetDocument.errors,
}
