package rules

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func idempotencyRules() []suite.Rule {
	return []suite.Rule{
		{ID: "idempotency/replay", Check: idempotencyReplay,
			Text: "the same request again is answered with 200, Idempotent-Replayed: true and the same payment"},
		{ID: "idempotency/first", Check: idempotencyFirst,
			Text: "the first answer to a request is not a replay"},
		{ID: "idempotency/failed-too", Check: idempotencyFailedToo,
			Text: "a failed payment is replayed with its failure and not retried"},
		{ID: "idempotency/as-it-stands", Check: idempotencyAsItStands,
			Text: "a replay shows the current state of the payment"},
		{ID: "idempotency/spelling", Check: idempotencySpelling,
			Text: "white space and the order of the fields do not change a request"},
		{ID: "idempotency/conflict", Check: idempotencyConflict,
			Text: "the same reference with any difference in the request is 409 duplicate_reference"},
		{ID: "idempotency/conflict-names", Check: idempotencyConflictNames,
			Text: "a conflict names the transaction that has the reference, and what its request sent in each field that differs"},
		{ID: "idempotency/before-defaults", Check: idempotencyBeforeDefaults,
			Text: "requests are compared as sent: an explicit field differs from a detected one"},
		{ID: "idempotency/conflict-records-nothing", Check: idempotencyConflictRecordsNothing,
			Text: "a conflict records nothing and changes nothing"},
		{ID: "idempotency/across-types", Check: idempotencyAcrossTypes,
			Text: "a reference is unique across collections, refunds and disbursements"},
		{ID: "idempotency/refused-is-free", Check: idempotencyRefusedIsFree,
			Text: "a refused request does not use its reference"},
		{ID: "idempotency/before-store", Check: idempotencyBeforeStore,
			Text: "a used reference is a conflict even if the store or the environment does not exist"},
		{ID: "idempotency/exact", Check: idempotencyExact,
			Text: "references that differ in case or in spaces are different references"},
		{ID: "idempotency/concurrent", Check: idempotencyConcurrent,
			Text: "of 32 concurrent requests with one reference one makes a payment, and all answers show it"},
		{ID: "idempotency/concurrent-different", Check: idempotencyConcurrentDifferent,
			Text: "of different concurrent requests with one reference one makes a payment, and the others are conflicts"},
	}
}

// replayed records a problem unless an answer is the replay of a transaction.
func replayed(c *suite.Check, a suite.Answer, first suite.Object) suite.Object {
	again := c.Expect(a, http.StatusOK)
	if got := a.Header.Get("Idempotent-Replayed"); got != "true" {
		c.Problem("%s with Idempotent-Replayed %q, want true", a, got)
	}
	c.Fields("the replay", again, suite.Object{"id": first["id"]})
	return again
}

// conflicts records a problem unless an answer is the conflict of a used reference.
func conflicts(c *suite.Check, a suite.Answer) {
	c.Refused(a, http.StatusConflict, "duplicate_reference")
}

// recorded are the transactions that have a reference.
func recorded(c *suite.Check, reference any) []suite.Object {
	return c.Items(c.List(url.Values{"reference": {fmt.Sprint(reference)}}))
}

func idempotencyReplay(c *suite.Check) {
	c.Needs(suite.MtnRW)
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success", "description": "once"})
	first := c.Expect(c.Post("/payments", body), http.StatusCreated)
	for range 3 {
		c.Fields("the replay", replayed(c, c.Post("/payments", body), first), first)
	}
}

func idempotencyFirst(c *suite.Check) {
	c.Needs(suite.MtnRW)
	a := c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"scenario": "success"}))
	c.Expect(a, http.StatusCreated)
	if got := a.Header.Get("Idempotent-Replayed"); got == "true" {
		c.Problem("%s with Idempotent-Replayed %q", a, got)
	}
}

func idempotencyFailedToo(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, changes := range []suite.Object{{}, {"scenario": "timeout"}, {"scenario": "duplicate"}} {
		body := c.Collection(suite.MtnRW, changes)
		first := c.Expect(c.Post("/payments", body), http.StatusCreated)
		c.Fields(
			"the replay",
			replayed(c, c.Post("/payments", body), first),
			suite.Object{"status": first["status"], "latencyMs": first["latencyMs"]},
		)
	}
}

func idempotencyAsItStands(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	body := c.Collection(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN})
	first := c.Expect(c.Post("/payments", body), http.StatusCreated)
	c.Fields("the payment", first, suite.Object{"status": "PENDING"})
	settled := c.Settled(first)
	c.Fields("the replay", replayed(c, c.Post("/payments", body), first), settled)
}

func idempotencySpelling(c *suite.Check) {
	c.Needs(suite.MtnRW)
	reference, msisdn := c.Reference(), c.Stranger(suite.MtnRW)
	spelling := func(format string) suite.Text {
		return suite.Text(fmt.Sprintf(format, reference, msisdn))
	}
	first := c.Expect(c.Post("/payments", spelling(
		`{"reference":%q,"msisdn":%q,"amount":500,"currency":"RWF","application":"shop","scenario":"success"}`)), http.StatusCreated)
	replayed(c, c.Post("/payments", spelling(
		"{\n  \"scenario\": \"\\u0073uccess\",\r\n\t\"reference\": %q, \"msisdn\": %q, \"application\":\"shop\", \"currency\":\"RWF\", \"amount\": 500 }\n",
	)), first)
}

func idempotencyConflict(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.AirtelRW)
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})
	c.Expect(c.Post("/payments", body), http.StatusCreated)
	for field, value := range map[string]any{
		"amount": 1001, "msisdn": "+250788999998", "operator": "airtel", "application": suite.Kiosk, "order_ref": "another",
		"order_url": "https://shop.example", "is_url_protected": true, "description": "another", "scenario": "timeout",
	} {
		conflicts(c, c.Post("/payments", suite.Changed(body, suite.Object{field: value})))
	}
	conflicts(c, c.Post("/payments", suite.Changed(body, suite.Object{"scenario": suite.LeftOut{}})))
}

func idempotencyConflictNames(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	body := c.Collection(suite.MtnRW, suite.Object{"description": "once", "msisdn": suite.Payer.MSISDN})
	first := c.Expect(c.Post("/payments", body), http.StatusCreated)
	named := func(path string, changes, recorded suite.Object) {
		detail := c.Refused(c.Post(path, suite.Changed(body, changes)), http.StatusConflict, "duplicate_reference")
		holder, _ := detail["transaction"].(suite.Object)
		c.Fields("detail.transaction", holder, suite.Object{"id": first["id"], "type": "collection"})
		got, _ := detail["recorded"].(suite.Object)
		c.Fields("detail.recorded", got, recorded)
		if len(got) != len(recorded) {
			c.Problem("detail.recorded is %s, want %s", describe(got), describe(recorded))
		}
	}
	named("/payments", suite.Object{"description": "twice", "order_ref": "o", "amount": 7},
		suite.Object{"description": "once", "order_ref": nil, "amount": body["amount"]})
	named("/payments", suite.Object{"operator": suite.LeftOut{}, "description": suite.LeftOut{}}, suite.Object{"description": "once", "operator": "mtn"})
	named("/disbursements", suite.Object{"operator": "mtn", "country": "RW"}, suite.Object{"type": "collection"})
}

func idempotencyBeforeDefaults(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	reference := c.Reference()
	body := c.Collection(
		suite.OrangeCI,
		suite.Object{"reference": reference, "operator": suite.LeftOut{}, "country": suite.LeftOut{}, "scenario": "success"},
	)
	c.Expect(c.Post("/payments", body), http.StatusCreated)
	for _, changes := range []suite.Object{{"operator": "orange"}, {"country": "CI"}, {"currency": "FCFA"}, {"order_ref": reference}} {
		conflicts(c, c.Post("/payments", suite.Changed(body, changes)))
	}
}

func idempotencyConflictRecordsNothing(c *suite.Check) {
	c.Needs(suite.MtnRW)
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})
	first := c.Expect(c.Post("/payments", body), http.StatusCreated)
	conflicts(c, c.Post("/payments", suite.Changed(body, suite.Object{"amount": 2})))
	c.Fields("the payment after the conflict", c.Fetch(suite.TextOf(first, "id")), first)
	if found := recorded(c, body["reference"]); len(found) != 1 {
		c.Problem("%d transactions have the reference, want 1", len(found))
	}
}

func idempotencyAcrossTypes(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	parent := c.Paid(suite.MtnRW, nil)
	taken := suite.TextOf(parent, "reference")
	conflicts(c, c.Post("/disbursements", c.Disbursement(suite.MtnRW, suite.Object{"reference": taken, "msisdn": suite.Payer.MSISDN})))
	conflicts(c, c.Post(suite.RefundPath(parent), suite.Object{"reference": taken}))

	payout := c.Disbursement(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "amount": 1})
	c.Expect(c.Post("/disbursements", payout), http.StatusOK)
	conflicts(c, c.Post("/payments", payout))
	conflicts(c, c.Post(suite.RefundPath(parent), suite.Object{"reference": payout["reference"]}))

	refund := c.Refund(parent, suite.Object{"amount": 1, "reference": c.Reference()})
	conflicts(c, c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"reference": refund["reference"]})))
	conflicts(c, c.Post("/disbursements", c.Disbursement(suite.MtnRW, suite.Object{"reference": refund["reference"]})))
}

func idempotencyRefusedIsFree(c *suite.Check) {
	c.Needs(suite.MtnRW)
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})
	for _, wrong := range []suite.Object{{"amount": 0}, {"application": "no-such-store"}, {"operator": "orange"}, {"currency": "XOF"}} {
		if a := c.Post("/payments", suite.Changed(body, wrong)); a.Status < 400 || a.Status >= 500 {
			c.Problem("%s, want it refused", a)
		}
	}
	if found := recorded(c, body["reference"]); len(found) > 0 {
		c.Problem("%d transactions have the reference of refused requests", len(found))
	}
	c.Expect(c.Post("/payments", body), http.StatusCreated)
}

func idempotencyBeforeStore(c *suite.Check) {
	c.Needs(suite.MtnRW)
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})
	c.Expect(c.Post("/payments", body), http.StatusCreated)
	conflicts(c, c.Post("/payments", suite.Changed(body, suite.Object{"application": "no-such-store"})))
	conflicts(c, c.Post("/payments", suite.Changed(body, suite.Object{"operator": "orange"})))
}

func idempotencyExact(c *suite.Check) {
	c.Needs(suite.MtnRW)
	reference := c.Reference() + "a"
	ids := map[any]bool{}
	spellings := []string{reference, strings.ToLower(reference), reference + " ", " " + reference, reference + "\u0301", reference + "\u00e1"}
	for _, spelling := range spellings {
		p := c.Pay(suite.MtnRW, suite.Object{"reference": spelling, "scenario": "maintenance"})
		c.Fields("the payment", p, suite.Object{"reference": spelling})
		ids[p["id"]] = true
	}
	if len(ids) != len(spellings) {
		c.Problem("%d references made %d payments", len(spellings), len(ids))
	}
}

func idempotencyConcurrent(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	oneTransaction(c, "/payments", c.Collection(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN}), "id", http.StatusCreated)
	oneTransaction(c, "/payments", c.Collection(suite.MtnRW, suite.Object{"scenario": "success"}), "id", http.StatusCreated)
}

// oneTransaction sends one request many times concurrently.
func oneTransaction(c *suite.Check, path string, body suite.Object, idField string, created int) {
	const times = 32
	ids, made := map[string]int{}, 0
	for _, a := range c.Burst(times, func(int) suite.Request { return suite.Request{Method: "POST", Path: path, Body: body} }) {
		o, err := a.Object()
		if err != nil || (a.Status != created && a.Status != http.StatusOK) {
			c.Problem("%s, want %d or 200", a, created)
			continue
		}
		ids[suite.TextOf(o, idField)]++
		if a.Header.Get("Idempotent-Replayed") != "true" {
			made++
		}
	}
	if len(ids) != 1 || made != 1 {
		c.Problem("%d requests were answered with the transactions %s; %d of the answers were not replays, want 1", times, describe(ids), made)
	}
	if found := recorded(c, body["reference"]); len(found) != 1 {
		c.Problem("%d transactions have the reference, want 1", len(found))
	}
}

func describe(value any) string {
	written, _ := json.Marshal(value)
	return string(written)
}

func idempotencyConcurrentDifferent(c *suite.Check) {
	c.Needs(suite.MtnRW)
	body := c.Collection(suite.MtnRW, suite.Object{"scenario": "success"})
	byStatus := map[int]int{}
	const times = 16
	for _, a := range c.Burst(times, func(i int) suite.Request {
		return suite.Request{Method: "POST", Path: "/payments", Body: suite.Changed(body, suite.Object{"amount": 100 + i})}
	}) {
		byStatus[a.Status]++
	}
	if byStatus[http.StatusCreated] != 1 || byStatus[http.StatusConflict] != times-1 {
		c.Problem("the answers' statuses were %s, want one 201 and %d times 409", describe(byStatus), times-1)
	}
	if found := recorded(c, body["reference"]); len(found) != 1 {
		c.Problem("%d transactions have the reference, want 1", len(found))
	}
}
