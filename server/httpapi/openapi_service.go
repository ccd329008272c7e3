package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

var metaOperation = operation{
	id: "getMeta", method: http.MethodGet, path: "/v1/meta", tag: tagService, summary: "Version and capabilities", open: true,
	description: "Detect features by the names in `capabilities`. Within `v1` changes only add.",
	answers:     []described{{http.StatusOK, "What this service is.", metaSchema, nil}},
	examples: []example{{
		name: "meta", summary: "This version", status: http.StatusOK,
		answer: wire.MetaOfThisVersion(),
	}},
}

var healthOperation = operation{
	id: "getHealth", method: http.MethodGet, path: "/v1/health", tag: tagService, summary: "Health", open: true,
	description: "For probes.",
	answers: []described{
		{http.StatusOK, "The service can serve.", healthSchema, nil},
		{http.StatusServiceUnavailable, "The database is away.", healthSchema, []string{"Retry-After"}},
	},
	examples: []example{{name: "healthy", summary: "All is well", status: http.StatusOK, answer: wire.Health{Status: "ok", Version: "v0.1.0"}}},
}

var documentOperation = operation{
	id: "getOpenAPI", method: http.MethodGet, path: "/v1/openapi.json", tag: tagService, summary: "This description", open: true,
	description: "The OpenAPI 3.1 document that this page is made of. With `If-None-Match` it is sent only if it has changed.",
	answers: []described{
		{http.StatusOK, "The document.", documentSchema, []string{"ETag", "Cache-Control"}},
		{http.StatusNotModified, "The document is the one that the caller has.", nil, []string{"ETag", "Cache-Control"}},
	},
}
