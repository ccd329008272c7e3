package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

func idempotencyRules() []rule {
	return []rule{
		{id: "idempotency/replay", check: idempotencyReplay,
			text: "the same request again is answered with 200, Idempotent-Replayed: true and the same payment"},
		{id: "idempotency/first", check: idempotencyFirst,
			text: "the first answer to a request is no replay"},
		{id: "idempotency/failed-too", check: idempotencyFailedToo,
			text: "a payment that failed is replayed as it failed, and not tried again"},
		{id: "idempotency/as-it-stands", check: idempotencyAsItStands,
			text: "a replay shows the payment as it stands now"},
		{id: "idempotency/spelling", check: idempotencySpelling,
			text: "white space and the order of the fields do not make another request"},
		{id: "idempotency/conflict", check: idempotencyConflict,
			text: "the same reference with anything else in the request is 409 duplicate_reference"},
		{id: "idempotency/before-defaults", check: idempotencyBeforeDefaults,
			text: "requests are compared as sent: a field that is spelled out is not the same as one that is detected"},
		{id: "idempotency/conflict-records-nothing", check: idempotencyConflictRecordsNothing,
			text: "a conflict records nothing and changes nothing"},
		{id: "idempotency/across-types", check: idempotencyAcrossTypes,
			text: "a reference is unique over collections, refunds and disbursements"},
		{id: "idempotency/refused-is-free", check: idempotencyRefusedIsFree,
			text: "a request that was refused does not use up its reference"},
		{id: "idempotency/before-store", check: idempotencyBeforeStore,
			text: "a reference that is taken is a conflict even if the store or the environment does not exist"},
		{id: "idempotency/exact", check: idempotencyExact,
			text: "references that differ in case or in spaces are different references"},
		{id: "idempotency/concurrent", check: idempotencyConcurrent,
			text: "32 requests with one reference at the same time make one payment, and all get it"},
		{id: "idempotency/concurrent-different", check: idempotencyConcurrentDifferent,
			text: "of different requests with one reference at the same time one makes a payment, and the others are conflicts"},
	}
}

// replayed notes a problem unless an answer is the replay of a transaction.
func (c *check) replayed(a answer, first object) object {
	again := c.expect(a, http.StatusOK)
	if got := a.header.Get("Idempotent-Replayed"); got != "true" {
		c.problem("%s with Idempotent-Replayed %q, want true", a, got)
	}
	c.fields("the replay", again, object{"id": first["id"]})
	return again
}

// conflicts notes a problem unless an answer is that of a reference that is taken.
func (c *check) conflicts(a answer) { c.refused(a, http.StatusConflict, "duplicate_reference") }

// recorded are the transactions that have a reference.
func (c *check) recorded(reference any) []object {
	return c.items(c.list(url.Values{"reference": {fmt.Sprint(reference)}}))
}

func idempotencyReplay(c *check) {
	c.needs(mtnRW)
	body := c.collection(mtnRW, object{"scenario": "success", "description": "once"})
	first := c.expect(c.post("/payments", body), http.StatusCreated)
	for range 3 {
		c.fields("the replay", c.replayed(c.post("/payments", body), first), first)
	}
}

func idempotencyFirst(c *check) {
	c.needs(mtnRW)
	a := c.post("/payments", c.collection(mtnRW, object{"scenario": "success"}))
	c.expect(a, http.StatusCreated)
	if got := a.header.Get("Idempotent-Replayed"); got == "true" {
		c.problem("%s with Idempotent-Replayed %q", a, got)
	}
}

func idempotencyFailedToo(c *check) {
	c.needs(mtnRW)
	for _, changes := range []object{{}, {"scenario": "timeout"}, {"scenario": "duplicate"}} {
		body := c.collection(mtnRW, changes)
		first := c.expect(c.post("/payments", body), http.StatusCreated)
		c.fields("the replay", c.replayed(c.post("/payments", body), first), object{"status": first["status"], "latencyMs": first["latencyMs"]})
	}
}

func idempotencyAsItStands(c *check) {
	c.needsSIM(payer)
	body := c.collection(mtnRW, object{"msisdn": payer.msisdn})
	first := c.expect(c.post("/payments", body), http.StatusCreated)
	c.fields("the payment", first, object{"status": "PENDING"})
	settled := c.settled(first)
	c.fields("the replay", c.replayed(c.post("/payments", body), first), settled)
}

func idempotencySpelling(c *check) {
	c.needs(mtnRW)
	reference, msisdn := c.reference(), c.stranger(mtnRW)
	spelling := func(format string) text {
		return text(fmt.Sprintf(format, reference, msisdn))
	}
	first := c.expect(c.post("/payments", spelling(
		`{"reference":%q,"msisdn":%q,"amount":500,"currency":"RWF","application":"shop","scenario":"success"}`)), http.StatusCreated)
	c.replayed(c.post("/payments", spelling(
		"{\n  \"scenario\": \"\\u0073uccess\",\r\n\t\"reference\": %q, \"msisdn\": %q, \"application\":\"shop\", \"currency\":\"RWF\", \"amount\": 500 }\n")), first)
}

func idempotencyConflict(c *check) {
	c.needs(mtnRW, airtelRW)
	body := c.collection(mtnRW, object{"scenario": "success"})
	c.expect(c.post("/payments", body), http.StatusCreated)
	for field, value := range map[string]any{
		"amount": 1001, "msisdn": "+250788999998", "operator": "airtel", "application": kiosk, "order_ref": "another",
		"order_url": "https://shop.example", "is_url_protected": true, "description": "another", "scenario": "timeout",
	} {
		c.conflicts(c.post("/payments", changed(body, object{field: value})))
	}
	c.conflicts(c.post("/payments", changed(body, object{"scenario": leftOut{}})))
}

func idempotencyBeforeDefaults(c *check) {
	c.needs(orangeCI)
	reference := c.reference()
	body := c.collection(orangeCI, object{"reference": reference, "operator": leftOut{}, "country": leftOut{}, "scenario": "success"})
	c.expect(c.post("/payments", body), http.StatusCreated)
	for _, changes := range []object{{"operator": "orange"}, {"country": "CI"}, {"currency": "FCFA"}, {"order_ref": reference}} {
		c.conflicts(c.post("/payments", changed(body, changes)))
	}
}

func idempotencyConflictRecordsNothing(c *check) {
	c.needs(mtnRW)
	body := c.collection(mtnRW, object{"scenario": "success"})
	first := c.expect(c.post("/payments", body), http.StatusCreated)
	c.conflicts(c.post("/payments", changed(body, object{"amount": 2})))
	c.fields("the payment after the conflict", c.fetch(textOf(first, "id")), first)
	if found := c.recorded(body["reference"]); len(found) != 1 {
		c.problem("%d transactions have the reference, want 1", len(found))
	}
}

func idempotencyAcrossTypes(c *check) {
	c.needsSIM(payer)
	parent := c.paid(mtnRW, nil)
	taken := textOf(parent, "reference")
	c.conflicts(c.post("/disbursements", c.disbursement(mtnRW, object{"reference": taken, "msisdn": payer.msisdn})))
	c.conflicts(c.post(refundPath(parent), object{"reference": taken}))

	payout := c.disbursement(mtnRW, object{"msisdn": payer.msisdn, "amount": 1})
	c.expect(c.post("/disbursements", payout), http.StatusOK)
	c.conflicts(c.post("/payments", payout))
	c.conflicts(c.post(refundPath(parent), object{"reference": payout["reference"]}))

	refund := c.refund(parent, object{"amount": 1, "reference": c.reference()})
	c.conflicts(c.post("/payments", c.collection(mtnRW, object{"reference": refund["reference"]})))
	c.conflicts(c.post("/disbursements", c.disbursement(mtnRW, object{"reference": refund["reference"]})))
}

func idempotencyRefusedIsFree(c *check) {
	c.needs(mtnRW)
	body := c.collection(mtnRW, object{"scenario": "success"})
	for _, wrong := range []object{{"amount": 0}, {"application": "no-such-store"}, {"operator": "orange"}, {"currency": "XOF"}} {
		if a := c.post("/payments", changed(body, wrong)); a.status < 400 || a.status >= 500 {
			c.problem("%s, want it refused", a)
		}
	}
	if found := c.recorded(body["reference"]); len(found) > 0 {
		c.problem("%d transactions have the reference of refused requests", len(found))
	}
	c.expect(c.post("/payments", body), http.StatusCreated)
}

func idempotencyBeforeStore(c *check) {
	c.needs(mtnRW)
	body := c.collection(mtnRW, object{"scenario": "success"})
	c.expect(c.post("/payments", body), http.StatusCreated)
	c.conflicts(c.post("/payments", changed(body, object{"application": "no-such-store"})))
	c.conflicts(c.post("/payments", changed(body, object{"operator": "orange"})))
}

func idempotencyExact(c *check) {
	c.needs(mtnRW)
	reference := c.reference() + "a"
	ids := map[any]bool{}
	spellings := []string{reference, strings.ToLower(reference), reference + " ", " " + reference, reference + "\u0301", reference + "\u00e1"}
	for _, spelling := range spellings {
		p := c.pay(mtnRW, object{"reference": spelling, "scenario": "maintenance"})
		c.fields("the payment", p, object{"reference": spelling})
		ids[p["id"]] = true
	}
	if len(ids) != len(spellings) {
		c.problem("%d references made %d payments", len(spellings), len(ids))
	}
}

func idempotencyConcurrent(c *check) {
	c.needsSIM(payer)
	c.oneTransaction("/payments", c.collection(mtnRW, object{"msisdn": payer.msisdn}), "id", http.StatusCreated)
	c.oneTransaction("/payments", c.collection(mtnRW, object{"scenario": "success"}), "id", http.StatusCreated)
}

// oneTransaction sends one request many times at once.
func (c *check) oneTransaction(path string, body object, idField string, created int) {
	const times = 32
	ids, made := map[string]int{}, 0
	for _, a := range c.burst(times, func(int) request { return request{method: "POST", path: path, body: body} }) {
		o, err := a.object()
		if err != nil || (a.status != created && a.status != http.StatusOK) {
			c.problem("%s, want %d or 200", a, created)
			continue
		}
		ids[textOf(o, idField)]++
		if a.header.Get("Idempotent-Replayed") != "true" {
			made++
		}
	}
	if len(ids) != 1 || made != 1 {
		c.problem("%d requests were answered with the transactions %s; %d of the answers were no replays, want 1", times, describe(ids), made)
	}
	if found := c.recorded(body["reference"]); len(found) != 1 {
		c.problem("%d transactions have the reference, want 1", len(found))
	}
}

func describe(value any) string {
	written, _ := json.Marshal(value)
	return string(written)
}

func idempotencyConcurrentDifferent(c *check) {
	c.needs(mtnRW)
	body := c.collection(mtnRW, object{"scenario": "success"})
	byStatus := map[int]int{}
	const times = 16
	for _, a := range c.burst(times, func(i int) request {
		return request{method: "POST", path: "/payments", body: changed(body, object{"amount": 100 + i})}
	}) {
		byStatus[a.status]++
	}
	if byStatus[http.StatusCreated] != 1 || byStatus[http.StatusConflict] != times-1 {
		c.problem("the answers' statuses were %s, want one 201 and %d times 409", describe(byStatus), times-1)
	}
	if found := c.recorded(body["reference"]); len(found) != 1 {
		c.problem("%d transactions have the reference, want 1", len(found))
	}
}
