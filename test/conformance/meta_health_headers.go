package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// apiVersion is the version that this suite is about.
const apiVersion = "2026-05-31"

// capabilities of that version. An implementation may have more.
var capabilities = []string{
	"payments", "refunds", "disbursements", "webhooks", "test_clients", "multi_environment", "commission_split",
	"order_linkage", "reference_format",
}

func metaRules() []rule {
	return []rule{
		{id: "meta/document", check: metaDocument,
			text: "meta has the version as a date, the capabilities, the least client version and a link to the changelog"},
		{id: "meta/capabilities", check: metaCapabilities,
			text: "meta lists all nine capabilities of the version"},
		{id: "health/ok", check: healthOK,
			text: "health says that the service is ok, and which version it is"},
		{id: "openapi/document", check: openapiDocument,
			text: "the API describes itself in OpenAPI 3.1 at /v1/openapi.json, without a key"},
		{id: "openapi/complete", check: openapiComplete,
			text: "the description has every endpoint of the specification"},
	}
}

func metaDocument(c *check) {
	c.fields("meta", c.expect(c.get("/meta"), http.StatusOK), object{
		"api_version":     apiVersion,
		"min_sdk_version": matching(`^\d+\.\d+\.\d+$`),
		"changelog_url":   matching(`^https?://[^/]+`),
	})
}

func metaCapabilities(c *check) {
	list, ok := c.expect(c.get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !ok {
		c.fail("capabilities is no array")
	}
	for _, want := range capabilities {
		if !slices.Contains(list, any(want)) {
			c.problem("the capability %s is not among %v", want, list)
		}
	}
}

func healthOK(c *check) {
	c.fields("health", c.expect(c.get("/health"), http.StatusOK), object{"status": "ok", "version": anyText})
}

func (c *check) openapi() object {
	return c.expect(c.send(request{method: "GET", path: "/openapi.json", header: map[string]string{"Authorization": ""}}), http.StatusOK)
}

func openapiDocument(c *check) {
	c.fields("the description", c.openapi(), object{
		"openapi": matching(`^3\.1\.\d+$`), "info": object{"title": anyText, "version": anyText}, "paths": anyObject,
	})
}

// pathParameter is a part of a path that stands for a value, whatever its name.
var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

func openapiComplete(c *check) {
	paths, _ := c.openapi()["paths"].(object)
	described := map[string]bool{}
	for path, item := range paths {
		operations, _ := item.(object)
		for method := range operations {
			described[strings.ToUpper(method)+" "+pathParameter.ReplaceAllString(path, "{}")] = true
		}
	}
	for _, endpoint := range []string{
		"POST /payments", "GET /payments/{}", "GET /payments", "POST /payments/{}/refund", "POST /disbursements", "GET /meta", "GET /health",
	} {
		method, path, _ := strings.Cut(endpoint, " ")
		if !described[endpoint] && !described[method+" /v1"+path] {
			c.problem("%s is not described", endpoint)
		}
	}
}

func headerRules() []rule {
	return []rule{
		{id: "headers/version", check: headersVersion,
			text: "the version header says what meta says, on success and on every kind of error"},
		{id: "headers/request-id-taken", check: headersRequestIDTaken,
			text: "an X-Request-Id of 1 to 128 letters, digits, dots, underscores and hyphens is taken over"},
		{id: "headers/request-id-made", check: headersRequestIDMade,
			text: "without an X-Request-Id, or with one of another form, the service makes one"},
		{id: "headers/request-id-unique", check: headersRequestIDUnique,
			text: "every request gets an id of its own"},
	}
}

func headersVersion(c *check) {
	version := textOf(c.expect(c.get("/meta"), http.StatusOK), "api_version")
	for _, r := range []request{
		{method: "GET", path: "/health"},
		{method: "GET", path: "/payments"},
		{method: "GET", path: "/payments", header: map[string]string{"Authorization": ""}},
		{method: "GET", path: "/payments/TX_nothing"},
		{method: "GET", path: "/nothing"},
		{method: "PUT", path: "/payments", body: object{}},
		{method: "POST", path: "/payments", body: text("{")},
		{method: "POST", path: "/payments", body: text(strings.Repeat(" ", 64<<10+1))},
		{method: "POST", path: "/payments", body: object{}, header: map[string]string{"Content-Type": "text/plain"}},
	} {
		if a := c.send(r); a.header.Get("X-Service-Api-Version") != version {
			c.problem("%s with the version %q, want %q", a, a.header.Get("X-Service-Api-Version"), version)
		}
	}
}

// requestIDOf sends a request with an id, and returns the answer's.
func (c *check) requestIDOf(path, id string) string {
	a := c.send(request{method: "GET", path: path, header: map[string]string{"X-Request-Id": id}})
	return a.header.Get("X-Request-Id")
}

func headersRequestIDTaken(c *check) {
	for _, id := range []string{"a", c.unique(), "A-Z.a_z-0.9", strings.Repeat("x", 128)} {
		for _, path := range []string{"/meta", "/payments", "/payments/TX_nothing", "/nothing"} {
			if got := c.requestIDOf(path, id); got != id {
				c.problem("GET %s with the X-Request-Id %q was answered with %q", path, id, got)
			}
		}
	}
}

func headersRequestIDMade(c *check) {
	for _, id := range []string{"", strings.Repeat("x", 129), "a b", "a/b", "a:b", "<script>", "é", "a\tb"} {
		if got := c.requestIDOf("/meta", id); got == id || !requestIDForm.MatchString(got) {
			c.problem("GET /meta with the X-Request-Id %q was answered with %q", id, got)
		}
	}
}

func headersRequestIDUnique(c *check) {
	seen := map[string]string{}
	for i := range 20 {
		id := c.requestIDOf("/meta", "")
		if before, known := seen[id]; known {
			c.problem("request %d got the id %q of %s", i, id, before)
		}
		seen[id] = fmt.Sprintf("request %d", i)
	}
}
