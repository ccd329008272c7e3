package main

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// seenEventRules are about seeing events and sending them again.
func seenEventRules() []rule {
	return []rule{
		{id: "seen/list", alone: true, check: seenList,
			text: "GET /events shows the events in the order of their transactions, newest first, in the envelope of the list of payments"},
		{id: "seen/filters", check: seenFilters,
			text: "the list of events is filtered by event, state, tx_id, created_after and created_before"},
		{id: "seen/bad-parameters", check: seenBadParameters,
			text: "a parameter of the list of events with a value that it cannot have is 400 invalid_params"},
		{id: "seen/pending", check: seenPending,
			text: "a PENDING payment has no event"},
		{id: "seen/unknown", check: seenUnknown,
			text: "an event that is not there is 404 not_found, to read and to send again"},
		{id: "seen/detail", check: seenDetail,
			text: "an event shows the bytes that were sent and the attempts to deliver them"},
		{id: "seen/attempts", check: seenAttempts,
			text: "an attempt that was not acknowledged is shown with its status and its error, the one that was beside it"},
		{id: "seen/resend", check: seenResend,
			text: "POST /events/{id}/resend delivers the event once more, with the same id and the same bytes"},
	}
}

func eventPath(id string) string { return "/events/" + id }

// seen is the one event of a transaction in the list.
func (c *check) seen(tx string) object {
	page := c.expect(c.get("/events?"+url.Values{"tx_id": {tx}}.Encode()), http.StatusOK)
	items := c.items(page)
	if len(items) != 1 {
		c.fail("%d events of %s are listed, want 1", len(items), tx)
	}
	return items[0]
}

func seenList(c *check) {
	c.needs(mtnRW)
	older, newer := c.paid(mtnRW, nil), c.paid(mtnRW, nil)
	page := c.expect(c.get("/events?limit=100"), http.StatusOK)
	c.fields("the page", page, object{"nextCursor": nullOr(anyText), "hasMore": anyBoolean})
	var order []string
	for _, item := range c.items(page) {
		c.fields("an event", item, object{
			"id": anyText, "event": oneOf("payment.completed", "payment.refunded", "disbursement.completed"), "txId": anyText, "status": anyText,
			"state": oneOf("recorded", "queued", "delivered", "failed"), "attemptCount": anyInteger, "createdAt": timestamp,
			"nextAttemptAt": nullOr(timestamp), "deliveredAt": nullOr(timestamp), "lastResponseStatus": nullOr(anyInteger), "lastError": nullOr(anyText),
		})
		if tx := textOf(item, "txId"); tx == older["id"] || tx == newer["id"] {
			order = append(order, tx)
		}
	}
	if want := []string{textOf(newer, "id"), textOf(older, "id")}; !slices.Equal(order, want) {
		c.problem("two payments' events are listed as %v, want %v", order, want)
	}
}

func seenFilters(c *check) {
	c.needs(mtnRW)
	paid := c.paid(mtnRW, nil)
	tx, at := textOf(paid, "id"), textOf(paid, "createdAt")
	state := textOf(c.seen(tx), "state")
	for query, want := range map[string]int{
		"event=payment.completed": 1, "event=payment.refunded": 0, "event=disbursement.completed": 0,
		"created_after=2001-01-01T00:00:00Z": 1, "created_before=2001-01-01T00:00:00Z": 0, "created_after=2999-01-01T00:00:00Z": 0,
	} {
		page := c.expect(c.get("/events?tx_id="+tx+"&"+query), http.StatusOK)
		if n := len(c.items(page)); n != want {
			c.problem("%s lists %d events of a payment made %s, want %d", query, n, at, want)
		}
	}
	for _, item := range c.items(c.expect(c.get("/events?limit=100&state="+state), http.StatusOK)) {
		if textOf(item, "state") == "" {
			c.problem("an event without a state is listed: %v", item)
		}
	}
}

func seenBadParameters(c *check) {
	for _, query := range []string{
		"limit=0", "limit=101", "limit=x", "cursor=x", "state=sent", "state=", "event=payment", "tx_id=TX_1", "created_after=yesterday", "created_before=2026-05-31",
	} {
		name, _, _ := strings.Cut(query, "=")
		detail := c.refused(c.get("/events?"+query), http.StatusBadRequest, "invalid_params")
		messages, _ := detail["fieldErrors"].(object)
		if list, _ := messages[name].([]any); detail != nil && len(list) == 0 {
			c.problem("%s: detail.fieldErrors has no messages for %s", query, name)
		}
	}
}

func seenPending(c *check) {
	c.needsSIM(ignores)
	p := c.pay(mtnRW, object{"msisdn": ignores.msisdn})
	if n := len(c.items(c.expect(c.get("/events?tx_id="+textOf(p, "id")), http.StatusOK))); n != 0 {
		c.problem("%d events of a PENDING payment are listed", n)
	}
}

func seenUnknown(c *check) {
	for _, id := range []string{"evt_00000000000000000000000000", "evt_1", "x"} {
		c.refused(c.get(eventPath(id)), http.StatusNotFound, "not_found")
		c.refused(c.post(eventPath(id)+"/resend", nil), http.StatusNotFound, "not_found")
	}
}

// acknowledged waits until the event of a transaction is delivered, and returns it in full.
func (c *check) acknowledged(tx string) object {
	id := textOf(c.seen(tx), "id")
	var event object
	c.eventually(func() string {
		event = c.expect(c.get(eventPath(id)), http.StatusOK)
		if event["state"] != "delivered" {
			return "the event is " + textOf(event, "state") + ", want delivered"
		}
		return ""
	})
	return event
}

func seenDetail(c *check) {
	d := c.told(nil)
	event := c.acknowledged(textOf(d.event, "tx_id"))
	c.fields("the event", event, object{
		"id": d.header.Get("X-Service-Delivery"), "event": "payment.completed", "txId": d.event["tx_id"], "status": "SUCCESS", "attemptCount": 1,
		"body": string(d.body), "nextAttemptAt": nil, "deliveredAt": timestamp, "lastResponseStatus": http.StatusNoContent, "lastError": nil,
	})
	attempts, _ := event["attempts"].([]any)
	if len(attempts) != 1 {
		c.fail("%d attempts are shown, want 1", len(attempts))
	}
	first, _ := attempts[0].(object)
	c.fields("the attempt", first, object{
		"number": 1, "startedAt": timestamp, "durationMs": anyInteger, "responseStatus": http.StatusNoContent, "error": nil, "responseBody": "",
	})
}

func seenAttempts(c *check) {
	d := c.told(object{"reference": c.reference() + failsOnce})
	attempts, _ := c.acknowledged(textOf(d.event, "tx_id"))["attempts"].([]any)
	if len(attempts) != 2 {
		c.fail("%d attempts are shown, want 2", len(attempts))
	}
	first, _ := attempts[0].(object)
	second, _ := attempts[1].(object)
	c.fields("the first attempt", first, object{"number": 1, "responseStatus": http.StatusInternalServerError, "error": anyText})
	c.fields("the second attempt", second, object{"number": 2, "responseStatus": http.StatusNoContent, "error": nil})
}

func seenResend(c *check) {
	first := c.told(nil)
	tx := textOf(first.event, "tx_id")
	id := textOf(c.acknowledged(tx), "id")
	answer := c.expect(c.post(eventPath(id)+"/resend", nil), http.StatusAccepted)
	c.fields("the answer", answer, object{"id": id, "txId": tx, "state": oneOf("queued", "delivered"), "attemptCount": anyInteger})
	c.eventually(func() string {
		if len(c.receiver.of(tx)) < 2 {
			return "the event did not come again"
		}
		return ""
	})
	second := c.receiver.of(tx)[1]
	if !bytes.Equal(first.body, second.body) || second.header.Get("X-Service-Delivery") != id || first.header.Get("X-Service-Delivery") != id {
		c.problem("%s came as %s with the id %q, and before as %s", id, second.body, second.header.Get("X-Service-Delivery"), first.body)
	}
}
