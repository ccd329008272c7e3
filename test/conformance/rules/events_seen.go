package rules

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// seenEventRules are the rules about the list of events and about resending.
func seenEventRules() []suite.Rule {
	return []suite.Rule{
		{ID: "seen/list", Alone: true, Check: seenList,
			Text: "GET /events shows the events in the order of their transactions, newest first, in the envelope of the list of payments"},
		{ID: "seen/filters", Check: seenFilters,
			Text: "the list of events is filtered by event, state, tx_id, created_after and created_before"},
		{ID: "seen/bad-parameters", Check: seenBadParameters,
			Text: "an invalid value of a parameter of the list of events is 400 invalid_params"},
		{ID: "seen/pending", Check: seenPending,
			Text: "a PENDING payment has no event"},
		{ID: "seen/unknown", Check: seenUnknown,
			Text: "an unknown event is 404 not_found, for reading and for resending"},
		{ID: "seen/detail", Check: seenDetail,
			Text: "an event shows the sent bytes and the delivery attempts"},
		{ID: "seen/attempts", Check: seenAttempts,
			Text: "a failed attempt is shown with its status and its error, the acknowledged one without an error"},
		{ID: "seen/resend", Check: seenResend,
			Text: "POST /events/{id}/resend delivers the event once more, with the same id and the same bytes"},
	}
}

func eventPath(id string) string { return "/events/" + id }

// seen is the one event of a transaction in the list.
func seen(c *suite.Check, tx string) suite.Object {
	page := c.Expect(c.Get("/events?"+url.Values{"tx_id": {tx}}.Encode()), http.StatusOK)
	items := c.Items(page)
	if len(items) != 1 {
		c.Fail("%d events of %s are listed, want 1", len(items), tx)
	}
	return items[0]
}

func seenList(c *suite.Check) {
	c.Needs(suite.MtnRW)
	older, newer := c.Paid(suite.MtnRW, nil), c.Paid(suite.MtnRW, nil)
	page := c.Expect(c.Get("/events?limit=100"), http.StatusOK)
	c.Fields("the page", page, suite.Object{"nextCursor": suite.NullOr(suite.AnyText), "hasMore": suite.AnyBoolean})
	var order []string
	for _, item := range c.Items(page) {
		c.Fields("an event", item, suite.Object{
			"id":           suite.AnyText,
			"event":        suite.OneOf("payment.completed", "payment.refunded", "disbursement.completed", "operator.callback"),
			"txId":         suite.AnyText,
			"status":       suite.AnyText,
			"state":        suite.OneOf("recorded", "queued", "delivered", "failed"),
			"attemptCount": suite.AnyInteger,
			"createdAt":    suite.Timestamp,
			"nextAttemptAt": suite.NullOr(
				suite.Timestamp,
			),
			"deliveredAt":        suite.NullOr(suite.Timestamp),
			"lastResponseStatus": suite.NullOr(suite.AnyInteger),
			"lastError":          suite.NullOr(suite.AnyText),
		})
		if tx := suite.TextOf(item, "txId"); tx == older["id"] || tx == newer["id"] {
			order = append(order, tx)
		}
	}
	if want := []string{suite.TextOf(newer, "id"), suite.TextOf(older, "id")}; !slices.Equal(order, want) {
		c.Problem("two payments' events are listed as %v, want %v", order, want)
	}
}

func seenFilters(c *suite.Check) {
	c.Needs(suite.MtnRW)
	paid := c.Paid(suite.MtnRW, nil)
	tx, at := suite.TextOf(paid, "id"), suite.TextOf(paid, "createdAt")
	state := suite.TextOf(seen(c, tx), "state")
	for query, want := range map[string]int{
		"event=payment.completed": 1, "event=payment.refunded": 0, "event=disbursement.completed": 0,
		"created_after=2001-01-01T00:00:00Z": 1, "created_before=2001-01-01T00:00:00Z": 0, "created_after=2999-01-01T00:00:00Z": 0,
	} {
		page := c.Expect(c.Get("/events?tx_id="+tx+"&"+query), http.StatusOK)
		if n := len(c.Items(page)); n != want {
			c.Problem("%s lists %d events of a payment made %s, want %d", query, n, at, want)
		}
	}
	for _, item := range c.Items(c.Expect(c.Get("/events?limit=100&state="+state), http.StatusOK)) {
		if suite.TextOf(item, "state") == "" {
			c.Problem("an event without a state is listed: %v", item)
		}
	}
}

func seenBadParameters(c *suite.Check) {
	for _, query := range []string{
		"limit=0", "limit=101", "limit=x", "cursor=x", "state=sent", "state=", "event=payment", "tx_id=TX_1", "created_after=yesterday", "created_before=2026-05-31",
	} {
		name, _, _ := strings.Cut(query, "=")
		detail := c.Refused(c.Get("/events?"+query), http.StatusBadRequest, "invalid_params")
		messages, _ := detail["fieldErrors"].(suite.Object)
		if list, _ := messages[name].([]any); detail != nil && len(list) == 0 {
			c.Problem("%s: detail.fieldErrors has no messages for %s", query, name)
		}
	}
}

func seenPending(c *suite.Check) {
	c.NeedsSIM(suite.Ignores)
	p := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Ignores.MSISDN})
	if n := len(c.Items(c.Expect(c.Get("/events?tx_id="+suite.TextOf(p, "id")), http.StatusOK))); n != 0 {
		c.Problem("%d events of a PENDING payment are listed", n)
	}
}

func seenUnknown(c *suite.Check) {
	for _, id := range []string{"evt_00000000000000000000000000", "evt_1", "x"} {
		c.Refused(c.Get(eventPath(id)), http.StatusNotFound, "not_found")
		c.Refused(c.Post(eventPath(id)+"/resend", nil), http.StatusNotFound, "not_found")
	}
}

// acknowledged waits until the event of a transaction is delivered, and returns it with all fields.
func acknowledged(c *suite.Check, tx string) suite.Object {
	id := suite.TextOf(seen(c, tx), "id")
	var event suite.Object
	c.Eventually(func() string {
		event = c.Expect(c.Get(eventPath(id)), http.StatusOK)
		if event["state"] != "delivered" {
			return "the event is " + suite.TextOf(event, "state") + ", want delivered"
		}
		return ""
	})
	return event
}

func seenDetail(c *suite.Check) {
	d := told(c, nil)
	event := acknowledged(c, suite.TextOf(d.Event, "tx_id"))
	c.Fields("the event", event, suite.Object{
		"id":           d.Header.Get("X-Service-Delivery"),
		"event":        "payment.completed",
		"txId":         d.Event["tx_id"],
		"status":       "SUCCESS",
		"attemptCount": 1,
		"body": string(
			d.Body,
		),
		"nextAttemptAt":      nil,
		"deliveredAt":        suite.Timestamp,
		"lastResponseStatus": http.StatusNoContent,
		"lastError":          nil,
	})
	signature, _ := event["signature"].(suite.Object)
	headers, _ := signature["headers"].([]any)
	if len(headers) < 6 {
		c.Fail("the signature has %d headers", len(headers))
	}
	for _, one := range headers {
		h, _ := one.(suite.Object)
		if name := suite.TextOf(h, "name"); d.Header.Get(name) != suite.TextOf(h, "value") {
			c.Problem("the header %s is shown as %v, and came as %s", name, h["value"], d.Header.Get(name))
		}
	}
	compared := c.Expect(c.Post(eventPath(suite.TextOf(event, "id"))+"/compare", suite.Object{"body": string(d.Body)}), http.StatusOK)
	c.Fields("the comparison with itself", compared, suite.Object{"attempt": 1, "same": true, "sentBytes": len(d.Body), "yourBytes": len(d.Body)})
	attempts, _ := event["attempts"].([]any)
	if len(attempts) != 1 {
		c.Fail("%d attempts are shown, want 1", len(attempts))
	}
	first, _ := attempts[0].(suite.Object)
	c.Fields("the attempt", first, suite.Object{
		"number":         1,
		"startedAt":      suite.Timestamp,
		"realStartedAt":  suite.Timestamp,
		"durationMs":     suite.AnyInteger,
		"responseStatus": http.StatusNoContent,
		"error":          nil,
		"responseBody":   "",
	})
}

func seenAttempts(c *suite.Check) {
	d := told(c, suite.Object{"reference": c.Reference() + suite.FailsOnce})
	attempts, _ := acknowledged(c, suite.TextOf(d.Event, "tx_id"))["attempts"].([]any)
	if len(attempts) != 2 {
		c.Fail("%d attempts are shown, want 2", len(attempts))
	}
	first, _ := attempts[0].(suite.Object)
	second, _ := attempts[1].(suite.Object)
	c.Fields("the first attempt", first, suite.Object{"number": 1, "responseStatus": http.StatusInternalServerError, "error": suite.AnyText})
	c.Fields("the second attempt", second, suite.Object{"number": 2, "responseStatus": http.StatusNoContent, "error": nil})
}

func seenResend(c *suite.Check) {
	first := told(c, nil)
	tx := suite.TextOf(first.Event, "tx_id")
	id := suite.TextOf(acknowledged(c, tx), "id")
	answer := c.Expect(c.Post(eventPath(id)+"/resend", nil), http.StatusAccepted)
	c.Fields(
		"the answer",
		answer,
		suite.Object{"id": id, "txId": tx, "state": suite.OneOf("queued", "delivered"), "attemptCount": suite.AnyInteger},
	)
	c.Eventually(func() string {
		if len(c.Receiver.Of(tx)) < 2 {
			return "the event did not come again"
		}
		return ""
	})
	second := c.Receiver.Of(tx)[1]
	if !bytes.Equal(first.Body, second.Body) || second.Header.Get("X-Service-Delivery") != id || first.Header.Get("X-Service-Delivery") != id {
		c.Problem("%s came as %s with the id %q, and before as %s", id, second.Body, second.Header.Get("X-Service-Delivery"), first.Body)
	}
}
