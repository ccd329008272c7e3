package rules

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// apiVersion is the version that this suite checks.
const apiVersion = "2026-05-31"

// The capabilities of that version. An implementation may have more.
var capabilities = []string{
	"payments", "refunds", "disbursements", "webhooks", "test_clients", "multi_environment", "commission_split",
	"order_linkage", "reference_format",
}

func metaRules() []suite.Rule {
	return []suite.Rule{
		{ID: "meta/document", Check: metaDocument,
			Text: "meta has the version as a date, the capabilities, the minimum client version and a link to the changelog"},
		{ID: "meta/capabilities", Check: metaCapabilities,
			Text: "meta lists all nine capabilities of the version"},
		{ID: "health/ok", Check: healthOK,
			Text: "health reports that the service is ok, and its version"},
		{ID: "openapi/document", Check: openapiDocument,
			Text: "the API describes itself in OpenAPI 3.1 at /v1/openapi.json, without a key"},
		{ID: "openapi/complete", Check: openapiComplete,
			Text: "the description has every endpoint of the specification"},
		{ID: "openapi/older", Check: openapiOlder,
			Text: "the description is also OpenAPI 3.0, at /v1/openapi-3.0.json, with the same endpoints and the same first server"},
	}
}

func metaDocument(c *suite.Check) {
	c.Fields("meta", c.Expect(c.Get("/meta"), http.StatusOK), suite.Object{
		"api_version":     apiVersion,
		"min_sdk_version": suite.Matching(`^\d+\.\d+\.\d+$`),
		"changelog_url":   suite.Matching(`^https?://[^/]+`),
	})
}

func metaCapabilities(c *suite.Check) {
	list, ok := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !ok {
		c.Fail("capabilities is not an array")
	}
	for _, want := range capabilities {
		if !slices.Contains(list, any(want)) {
			c.Problem("the capability %s is not among %v", want, list)
		}
	}
}

func healthOK(c *suite.Check) {
	c.Fields("health", c.Expect(c.Get("/health"), http.StatusOK), suite.Object{"status": "ok", "version": suite.AnyText})
}

func openapi(c *suite.Check) suite.Object { return openapiAt(c, "/openapi.json") }

func openapiAt(c *suite.Check, path string) suite.Object {
	return c.Expect(c.Send(suite.Request{Method: "GET", Path: path, Header: map[string]string{"Authorization": ""}}), http.StatusOK)
}

func openapiDocument(c *suite.Check) {
	c.Fields("the description", openapi(c), suite.Object{
		"openapi": suite.Matching(
			`^3\.1\.\d+$`,
		),
		"info":  suite.Object{"title": suite.AnyText, "version": suite.AnyText},
		"paths": suite.AnyObject,
	})
}

// pathParameter matches a parameter of a path, whatever its name.
var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

func openapiComplete(c *suite.Check) {
	paths, _ := openapi(c)["paths"].(suite.Object)
	described := map[string]bool{}
	for path, item := range paths {
		operations, _ := item.(suite.Object)
		for method := range operations {
			described[strings.ToUpper(method)+" "+pathParameter.ReplaceAllString(path, "{}")] = true
		}
	}
	for _, endpoint := range []string{
		"POST /payments", "GET /payments/{}", "GET /payments", "POST /payments/{}/refund", "POST /disbursements", "GET /meta", "GET /health",
	} {
		method, path, _ := strings.Cut(endpoint, " ")
		if !described[endpoint] && !described[method+" /v1"+path] {
			c.Problem("%s is not described", endpoint)
		}
	}
}

func openapiOlder(c *suite.Check) {
	newer, older := openapi(c), openapiAt(c, "/openapi-3.0.json")
	c.Fields("the older description", older, suite.Object{"openapi": suite.Matching(`^3\.0\.\d+$`)})
	newerPaths, _ := newer["paths"].(suite.Object)
	olderPaths, _ := older["paths"].(suite.Object)
	if a, b := slices.Sorted(maps.Keys(newerPaths)), slices.Sorted(maps.Keys(olderPaths)); !slices.Equal(a, b) {
		c.Problem("the endpoints differ: %v, %v", a, b)
	}
	if !reflect.DeepEqual(newer["servers"], older["servers"]) {
		c.Problem("the servers differ: %v, %v", newer["servers"], older["servers"])
	}
}

func headerRules() []suite.Rule {
	return []suite.Rule{
		{ID: "headers/version", Check: headersVersion,
			Text: "the version header has the version of meta, on success and on every kind of error"},
		{ID: "headers/request-id-taken", Check: headersRequestIDTaken,
			Text: "an X-Request-Id of 1 to 128 letters, digits, dots, underscores and hyphens is returned"},
		{ID: "headers/request-id-made", Check: headersRequestIDMade,
			Text: "without an X-Request-Id, or with one in another form, the service generates one"},
		{ID: "headers/request-id-unique", Check: headersRequestIDUnique,
			Text: "every request gets a unique id"},
	}
}

func headersVersion(c *suite.Check) {
	version := suite.TextOf(c.Expect(c.Get("/meta"), http.StatusOK), "api_version")
	for _, r := range []suite.Request{
		{Method: "GET", Path: "/health"},
		{Method: "GET", Path: "/payments"},
		{Method: "GET", Path: "/payments", Header: map[string]string{"Authorization": ""}},
		{Method: "GET", Path: "/payments/TX_nothing"},
		{Method: "GET", Path: "/nothing"},
		{Method: "PUT", Path: "/payments", Body: suite.Object{}},
		{Method: "POST", Path: "/payments", Body: suite.Text("{")},
		{Method: "POST", Path: "/payments", Body: suite.Text(strings.Repeat(" ", 64<<10+1))},
		{Method: "POST", Path: "/payments", Body: suite.Object{}, Header: map[string]string{"Content-Type": "text/plain"}},
	} {
		if a := c.Send(r); a.Header.Get("X-Service-Api-Version") != version {
			c.Problem("%s with the version %q, want %q", a, a.Header.Get("X-Service-Api-Version"), version)
		}
	}
}

// requestIDOf sends a request with an id and returns the id of the answer.
func requestIDOf(c *suite.Check, path, id string) string {
	a := c.Send(suite.Request{Method: "GET", Path: path, Header: map[string]string{"X-Request-Id": id}})
	return a.Header.Get("X-Request-Id")
}

func headersRequestIDTaken(c *suite.Check) {
	for _, id := range []string{"a", c.Unique(), "A-Z.a_z-0.9", strings.Repeat("x", 128)} {
		for _, path := range []string{"/meta", "/payments", "/payments/TX_nothing", "/nothing"} {
			if got := requestIDOf(c, path, id); got != id {
				c.Problem("GET %s with the X-Request-Id %q was answered with %q", path, id, got)
			}
		}
	}
}

func headersRequestIDMade(c *suite.Check) {
	for _, id := range []string{"", strings.Repeat("x", 129), "a b", "a/b", "a:b", "<script>", "é", "a\tb"} {
		if got := requestIDOf(c, "/meta", id); got == id || !requestIDForm.MatchString(got) {
			c.Problem("GET /meta with the X-Request-Id %q was answered with %q", id, got)
		}
	}
}

func headersRequestIDUnique(c *suite.Check) {
	seen := map[string]string{}
	for i := range 20 {
		id := requestIDOf(c, "/meta", "")
		if before, known := seen[id]; known {
			c.Problem("request %d got the id %q of %s", i, id, before)
		}
		seen[id] = fmt.Sprintf("request %d", i)
	}
}
