package rules

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// streamRules are the rules about the stream, which is an optional part of the service.
func streamRules() []suite.Rule {
	return []suite.Rule{
		{ID: "stream/told", Check: streamTold,
			Text: "a stream begins with ready, and tells a payment as GET gives it, and its event as the list does"},
		{ID: "stream/resumed", Check: streamResumed,
			Text: "a stream with Last-Event-ID tells what has changed since that entry"},
		{ID: "stream/types", Check: streamTypes,
			Text: "types selects what is told, and an unknown type is 400 invalid_params"},
		{ID: "stream/faults", Check: streamFaults,
			Text: "the faults are told as the list has them when one is set, and when it is removed"},
		{ID: "stream/reset", Check: streamReset,
			Text: "an id of which nothing is known is answered by reset and then ready, and what is no id is 400 invalid_params"},
	}
}

// needsStream ends the check if the service has no stream.
func needsStream(c *suite.Check) {
	list, _ := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any("stream")) {
		c.NotChecked("the service has no capability stream")
	}
}

// streamedPayment makes a payment that succeeds at once, and returns its id.
func streamedPayment(c *suite.Check) string {
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})
	return suite.TextOf(c.Expect(c.Post("/payments", body), http.StatusCreated), "id")
}

// about is a condition: that an entry of a type is about a transaction.
func about(event, id string) func(suite.StreamEntry) bool {
	return func(e suite.StreamEntry) bool {
		thing, _ := e.Data[event].(suite.Object)
		return e.Event == event && (thing["id"] == id || thing["txId"] == id)
	}
}

func streamTold(c *suite.Check) {
	needsStream(c)
	l := c.Listen("?types=transaction,event", "")
	defer l.Close()
	if first := l.Next(); first.Event != "ready" || first.Data["type"] != "ready" || first.ID == "" {
		c.Problem("the first entry is %v, want ready with an id", first)
	}
	id := streamedPayment(c)
	found := map[string]suite.StreamEntry{}
	for len(found) < 2 {
		entry := l.Until(func(e suite.StreamEntry) bool { return about("transaction", id)(e) || about("event", id)(e) })
		found[entry.Event] = entry
	}
	for _, told := range found {
		if told.Data["type"] != told.Event || told.ID == "" {
			c.Problem("%v has another type than its data, or no id", told)
		}
		if transaction, is := told.Data["transaction"].(suite.Object); is {
			c.Fields("what is told", transaction, c.Expect(c.Get("/payments/"+id), http.StatusOK))
		}
		if event, is := told.Data["event"].(suite.Object); is {
			c.Fields("what is told", event, suite.Object{"txId": id, "event": "payment.completed", "status": "SUCCESS"})
		}
	}
}

func streamResumed(c *suite.Check) {
	needsStream(c)
	l := c.Listen("?types=transaction", "")
	l.Next() // ready: what was made before is not told
	first := streamedPayment(c)
	last := l.Until(about("transaction", first)).ID
	l.Close()
	missed := []string{streamedPayment(c), streamedPayment(c)}
	again := c.Listen("?types=transaction", last)
	defer again.Close()
	if begin := again.Next(); begin.Event != "ready" {
		c.Fail("the first entry after the id %s is %v, want ready", last, begin)
	}
	later := streamedPayment(c)
	for _, id := range append(missed, later) {
		again.Until(about("transaction", id))
	}
}

func streamTypes(c *suite.Check) {
	needsStream(c)
	l := c.Listen("?types=balance", "")
	defer l.Close()
	l.Next()
	streamedPayment(c)
	if told := l.Next(); told.Event != "balance" {
		c.Problem("a stream of balances tells %v", told)
	}
	for _, query := range []string{"payments", "transaction,", ""} {
		c.Refused(c.Get("/stream?types="+query), http.StatusBadRequest, "invalid_params")
	}
}

func streamFaults(c *suite.Check) {
	needsStream(c)
	needsFaultChanges(c)
	l := c.Listen("?types=faults", "")
	defer l.Close()
	l.Next()
	name := "told-" + strings.ToLower(c.Unique())
	listed := func(e suite.StreamEntry) bool {
		list, _ := e.Data["faults"].(suite.Object)
		data, _ := list["data"].([]any)
		return slices.ContainsFunc(data, func(f any) bool { o, _ := f.(suite.Object); return o["name"] == name && o["source"] == "api" })
	}
	c.Expect(setFault(c, name, suite.Object{"when": suite.Object{"reference": name}, "webhook": suite.Object{"drop": true}, "for": "5m"}), http.StatusOK)
	l.Until(listed)
	if a := removeFault(c, name); a.Status != http.StatusNoContent {
		c.Problem("%s, want 204", a)
	}
	l.Until(func(e suite.StreamEntry) bool { return !listed(e) })
}

func streamReset(c *suite.Check) {
	needsStream(c)
	l := c.Listen("", "1-1")
	defer l.Close()
	if told := fmt.Sprint(l.Next().Event, " ", l.Next().Event); told != "reset ready" {
		c.Problem("the first entries are %s, want reset ready", told)
	}
	c.Refused(c.Send(suite.Request{Method: "GET", Path: "/stream", Header: map[string]string{"Last-Event-ID": "yesterday"}}),
		http.StatusBadRequest, "invalid_params")
}
