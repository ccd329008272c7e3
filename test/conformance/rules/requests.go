package rules

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// requestRules are the rules about the request log, which is an optional part of the service. They run alone: the log
// keeps the last 500 refused requests, and the rules that run in parallel send more than that in a second.
func requestRules() []suite.Rule {
	return []suite.Rule{
		{ID: "requests/refused", Alone: true, Check: requestsRefused,
			Text: "a refused request is in the log with its path, status, error, id, and the fields of both bodies"},
		{ID: "requests/fields", Alone: true, Check: requestsFields,
			Text: "of a field that the description does not name, the log has the name and not the value"},
		{ID: "requests/filters", Alone: true, Check: requestsFilters,
			Text: "status, error and path filter the log, and an invalid parameter is 400 invalid_params"},
		{ID: "requests/all", Alone: true, Check: requestsAll,
			Text: "with all=true the log has requests from then on that were answered 2xx, and without it none"},
	}
}

// requestLogDelay is about how long it takes until a request is in the log.
const requestLogDelay = 1500 * time.Millisecond

// needsRequestLog ends the check if the service has no request log.
func needsRequestLog(c *suite.Check) {
	list, _ := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any("requests")) {
		c.NotChecked("the service has no capability requests")
	}
}

// loggedRequest waits until a request with an id is in the log, under some filters, and returns its entry.
func loggedRequest(c *suite.Check, id string, filters url.Values) (entry suite.Object) {
	c.Eventually(func() (problem string) {
		query := url.Values{"limit": {"100"}}
		for name, values := range filters {
			query[name] = values
		}
		for {
			page := c.Expect(c.Get("/requests?"+query.Encode()), http.StatusOK)
			for _, item := range c.Items(page) {
				if item["requestId"] == id {
					entry = item
					return ""
				}
			}
			if page["nextCursor"] == nil {
				return fmt.Sprintf("the request %s is not in the log with %v", id, filters)
			}
			query.Set("cursor", suite.TextOf(page, "nextCursor"))
		}
	})
	return entry
}

// refuse sends a payment with a wrong amount and some more fields, and returns its id and what was sent.
func refuse(c *suite.Check, fields suite.Object) (id string, sent suite.Object) {
	id = "refused-" + c.Unique()
	sent = c.Collection(suite.MtnRW, suite.Object{"amount": "much"})
	body := suite.Object{}
	for _, part := range []suite.Object{sent, fields} {
		for name, value := range part {
			body[name] = value
		}
	}
	c.FieldsRefused(c.Send(suite.Request{Method: "POST", Path: "/payments", Body: body, Header: map[string]string{"X-Request-Id": id}}), "amount")
	return id, sent
}

func requestsRefused(c *suite.Check) {
	needsRequestLog(c)
	id, sent := refuse(c, nil)
	entry := loggedRequest(c, id, nil)
	c.Fields("the entry", entry, suite.Object{
		"id": suite.Matching("^log_[0-9A-HJKMNP-TV-Z]{26}$"), "method": "POST", "path": "/v1/payments", "status": 400, "error": "invalid_body",
		"fault": nil, "query": nil,
	})
	kept, _ := entry["requestBody"].(suite.Object)
	c.Fields("the request's body", kept, sent)
	answer, _ := entry["responseBody"].(suite.Object)
	c.Fields("the answer's body", answer, suite.Object{"error": "invalid_body"})
	if _, ok := suite.TimeOf(entry["time"]); !ok {
		c.Problem("time is %v", entry["time"])
	}
}

func requestsFields(c *suite.Check) {
	needsRequestLog(c)
	const secret, key = "opaque-7f3a9c51d2", "cauri_sk_test_0123456789"
	id, _ := refuse(c, suite.Object{"pin": secret, "amount": suite.Object{"token": secret}, "reference": key})
	entry := loggedRequest(c, id, nil)
	for _, hidden := range []string{secret, key} {
		if strings.Contains(fmt.Sprint(entry), hidden) {
			c.Problem("the log has what it must not keep: %v", entry)
		}
	}
	names, _ := entry["notKept"].([]any)
	for _, name := range []string{"pin", "amount"} {
		if !slices.Contains(names, any(name)) {
			c.Problem("notKept is %v, without %s", names, name)
		}
	}
}

func requestsFilters(c *suite.Check) {
	needsRequestLog(c)
	id, _ := refuse(c, nil)
	for name, value := range map[string]string{"status": "400", "error": "invalid_body", "path": "/v1/pay"} {
		loggedRequest(c, id, url.Values{name: {value}})
	}
	for _, query := range []string{"status=404", "error=not_found", "path=/v1/events"} {
		for _, item := range c.Items(c.Expect(c.Get("/requests?limit=100&"+query), http.StatusOK)) {
			if item["requestId"] == id {
				c.Problem("%s lists %v", query, item)
			}
		}
	}
	for _, query := range []string{"status=x", "status=4xx", "all=yes", "path=payments", "error=", "cursor=x", "limit=0"} {
		c.Refused(c.Get("/requests?"+query), http.StatusBadRequest, "invalid_params")
	}
}

func requestsAll(c *suite.Check) {
	needsRequestLog(c)
	c.Expect(c.Get("/requests?all=true"), http.StatusOK)
	var id string
	c.Eventually(func() (problem string) { // every replica learns of it
		id = "fine-" + c.Unique()
		a := c.Send(suite.Request{Method: "GET", Path: "/payments?limit=1", Header: map[string]string{"X-Request-Id": id}})
		c.Expect(a, http.StatusOK)
		c.Pause(requestLogDelay)
		for _, item := range c.Items(c.Expect(c.Get("/requests?all=true&status=200&path=/v1/payments&limit=100"), http.StatusOK)) {
			if item["requestId"] == id {
				c.Fields("the entry", item, suite.Object{"method": "GET", "path": "/v1/payments", "status": 200, "error": nil})
				return ""
			}
		}
		return "a request that was answered 200 is not in the log with all=true"
	})
	for _, item := range c.Items(c.Expect(c.Get("/requests?status=200&limit=100"), http.StatusOK)) {
		c.Problem("without all=true the log has %v", item)
	}
}
