package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

func refundRules() []rule {
	return []rule{
		{id: "refunds/representation", check: refundsRepresentation,
			text: "a refund is answered with 201 and its representation, which names its parent"},
		{id: "refunds/full", check: refundsFull,
			text: "a refund without an amount, with or without a body, gives back all that is left"},
		{id: "refunds/partial", check: refundsPartial,
			text: "a refund with an amount gives back that amount, and several add up"},
		{id: "refunds/no-commission", check: refundsNoCommission,
			text: "a refund has no commission: net amount and customer's total are its amount, and the mode is merchant"},
		{id: "refunds/parents-data", check: refundsParentsData,
			text: "a refund has its parent's store, environment, operator, country, currency and number"},
		{id: "refunds/parents-order", check: refundsParentsOrder,
			text: "a refund inherits order_ref, order_url and is_url_protected"},
		{id: "refunds/parent-after", check: refundsParentAfter,
			text: "the parent keeps its status, and shows what was refunded and what still can be"},
		{id: "refunds/replay", check: refundsReplay,
			text: "the same refund again is answered with 200, Idempotent-Replayed: true and the refund that there is"},
		{id: "refunds/conflict", check: refundsConflict,
			text: "a refund's reference with another amount or another parent is 409 duplicate_reference"},
		{id: "refunds/without-reference", check: refundsWithoutReference,
			text: "refunds without a reference are refunds of their own"},
		{id: "refunds/generated-reference", check: refundsGeneratedReference,
			text: "a generated reference is ORIGIN-REF-TS-CODE with the origin of the parent's reference, and each is another"},
		{id: "refunds/generated-origin", check: refundsGeneratedOrigin,
			text: "where the parent's reference tells no origin, a generated one begins with CAURI"},
		{id: "refunds/retrieved", check: refundsRetrieved,
			text: "a refund can be retrieved and listed like any transaction"},
		{id: "refunds/in-the-order", check: refundsInTheOrder,
			text: "a payment and its refunds are listed under one order"},
		{id: "refunds/blocked-customer", check: refundsBlockedCustomer,
			text: "a blocked customer still gets a refund"},
		{id: "refunds/settled-payment", check: refundsSettledPayment,
			text: "a payment that became SUCCESS after a while can be refunded like one that was at once"},
		{id: "refunds/concurrent", check: refundsConcurrent,
			text: "of 30 refunds of a tenth at the same time ten succeed, and the others exceed what is left"},
		{id: "refunds/concurrent-replay", check: refundsConcurrentReplay,
			text: "one refund that is sent many times at the same time is made once"},
		{id: "refunds/concurrent-full", check: refundsConcurrentFull,
			text: "of several full refunds at the same time one succeeds"},
	}
}

func refundsRepresentation(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	reference := c.reference()
	r := c.refund(parent, object{"amount": 400, "reference": reference})
	c.fields("the refund", r, changed(payoutRepresentation("refund", 400), object{
		"status": "SUCCESS", "parentTxId": parent["id"], "reference": reference, "id": otherThan(textOf(parent, "id")),
		"raw": object{"_simulated": true}, "latencyMs": latencyOf("SUCCESS"),
	}))
}

func refundsFull(c *check) {
	c.needs(mtnRW, orangeCI)
	for _, body := range []any{nil, object{}, object{"reference": c.reference()}, text(" {} ")} {
		parent := c.paid(mtnRW, object{"amount": 777})
		r := c.refund(parent, body)
		c.fields(fmt.Sprintf("the refund with the body %v", body), r, object{"amount": 777, "status": "SUCCESS"})
	}
	onTop := c.refund(c.paid(orangeCI, object{"amount": 10_000}), nil)
	c.fields("the refund of a payment with the commission on top", onTop, object{"amount": 10_000})
}

func refundsPartial(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	for _, amount := range []int{1, 299, 300} {
		c.fields("the partial refund", c.refund(parent, object{"amount": amount}), object{"amount": amount, "status": "SUCCESS"})
	}
	c.fields("the refund of the rest", c.refund(parent, nil), object{"amount": 400, "status": "SUCCESS"})
	c.exceeds(parent, object{"amount": 1}, 0)
}

func refundsNoCommission(c *check) {
	for _, e := range c.available(environments) {
		parent := c.paid(e, object{"amount": 999})
		r := c.refund(parent, object{"amount": 333})
		c.fields("a refund of "+e.String(), r, changed(payoutRepresentation("refund", 333), object{"merchantAbsorptionPct": parent["merchantAbsorptionPct"]}))
	}
}

func refundsParentsData(c *check) {
	c.needs(orangeCI)
	c.needsStore(kiosk)
	parent := c.paid(orangeCI, object{"application": kiosk, "currency": "FCFA", "description": "two tickets"})
	r := c.refund(parent, nil)
	for _, field := range []string{"application", "environmentId", "operator", "country", "currency", "msisdn"} {
		c.fields("the refund", r, object{field: parent[field]})
	}
}

func refundsParentsOrder(c *check) {
	c.needs(mtnRW)
	linked := c.paid(mtnRW, object{"order_ref": "order-" + c.unique(), "order_url": "https://shop.example/7", "is_url_protected": true})
	for _, parent := range []object{linked, c.paid(mtnRW, nil)} {
		c.fields("the refund", c.refund(parent, object{"reference": c.reference()}), object{
			"orderRef": parent["orderRef"], "orderUrl": parent["orderUrl"], "isUrlProtected": parent["isUrlProtected"],
		})
	}
}

func refundsParentAfter(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	c.fields("the parent before", parent, object{"refundedAmount": 0, "refundableAmount": 1000})
	c.refund(parent, object{"amount": 300})
	c.fields("the parent after a partial refund", c.fetch(textOf(parent, "id")),
		changed(parent, object{"refundedAmount": 300, "refundableAmount": 700}))
	c.refund(parent, nil)
	c.fields("the parent after the rest", c.fetch(textOf(parent, "id")),
		changed(parent, object{"refundedAmount": 1000, "refundableAmount": 0}))
}

func refundsReplay(c *check) {
	c.needs(mtnRW)
	for _, body := range []object{{"amount": 1000}, {"amount": 300}, {}} {
		parent := c.paid(mtnRW, nil)
		body["reference"] = c.reference()
		first := c.refund(parent, body)
		for range 2 {
			c.fields("the replay", c.replayed(c.post(refundPath(parent), body), first), first)
		}
		c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": first["amount"]})
	}
}

func refundsConflict(c *check) {
	c.needs(mtnRW)
	parent, another := c.paid(mtnRW, nil), c.paid(mtnRW, nil)
	reference := c.reference()
	c.refund(parent, object{"amount": 300, "reference": reference})
	c.conflicts(c.post(refundPath(parent), object{"amount": 301, "reference": reference}))
	c.conflicts(c.post(refundPath(parent), object{"reference": reference}))
	c.conflicts(c.post(refundPath(another), object{"amount": 300, "reference": reference}))
	c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": 300})
	c.fields("the other payment", c.fetch(textOf(another, "id")), object{"refundedAmount": 0})
}

func refundsWithoutReference(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	first, second := c.refund(parent, object{"amount": 100}), c.refund(parent, object{"amount": 100})
	if first["id"] == second["id"] || first["reference"] == second["reference"] {
		c.problem("two refunds are %v %v and %v %v", first["id"], first["reference"], second["id"], second["reference"])
	}
	c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": 200})
}

// generatedReference is the form of references that the service makes.
var generatedReference = regexp.MustCompile(`^([A-Z0-9]{2,12})-(REF|DIS)-(\d{14})-([0-9A-F]{12})$`)

// generated notes a problem unless a reference has the form, with an origin, an operation and a time that was not long ago.
func (c *check) generated(transaction object, origin, operation string) {
	parts := generatedReference.FindStringSubmatch(textOf(transaction, "reference"))
	if parts == nil || parts[1] != origin || parts[2] != operation {
		c.problem("the generated reference is %v, want %s-%s-YYYYMMDDHHMMSS-<12 hex>", transaction["reference"], origin, operation)
		return
	}
	created, _ := timeOf(transaction["createdAt"])
	if at, err := time.Parse("20060102150405", parts[3]); err != nil || at.Sub(created).Abs() > time.Minute {
		c.problem("the generated reference %v does not tell the time of creation, %v in UTC", transaction["reference"], created.UTC())
	}
}

// wellFormed is a reference by the recommended convention, which nobody has used.
func (c *check) wellFormed(origin string) string {
	return fmt.Sprintf("%s-PAY-%s-%012X", origin, time.Now().UTC().Format("20060102150405"), hash(c.unique()))
}

func refundsGeneratedReference(c *check) {
	c.needs(mtnRW)
	origin := strings.ToUpper(c.name)[:6]
	code := fmt.Sprintf("%012X", hash(c.unique()))
	for _, reference := range []string{c.wellFormed(origin), origin + "-PAY-" + code, origin + "-ABO-20260531120000-" + code} {
		parent := c.paid(mtnRW, object{"reference": reference})
		first, second := c.refund(parent, object{"amount": 1}), c.refund(parent, object{"amount": 1})
		c.generated(first, origin, "REF")
		c.generated(second, origin, "REF")
		if first["reference"] == second["reference"] {
			c.problem("two refunds got the reference %v", first["reference"])
		}
	}
}

func refundsGeneratedOrigin(c *check) {
	c.needs(mtnRW)
	for _, reference := range []string{c.reference(), "order " + c.unique(), "X-PAY-20260531120000-" + c.unique(), "é-" + c.unique()} {
		c.generated(c.refund(c.paid(mtnRW, object{"reference": reference}), nil), "CAURI", "REF")
	}
}

func refundsRetrieved(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	r := c.refund(parent, object{"amount": 250, "reference": c.reference()})
	c.fields("the refund, retrieved", c.fetch(textOf(r, "id")), r)
	c.lists(url.Values{"reference": {textOf(r, "reference")}, "type": {"refund"}}, []object{r})
}

func refundsInTheOrder(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, object{"order_ref": "order-" + c.unique()})
	first := c.refund(parent, object{"amount": 1})
	second := c.refund(parent, object{"amount": 2})
	c.lists(url.Values{"order_ref": {textOf(parent, "orderRef")}}, []object{parent, first, second})
}

func refundsBlockedCustomer(c *check) {
	c.needsSIM(blocked)
	parent := c.paid(mtnRW, object{"msisdn": blocked.msisdn})
	c.fields("the refund", c.refund(parent, nil), object{"status": "SUCCESS", "amount": 1000})
}

func refundsSettledPayment(c *check) {
	c.needsSIM(payer)
	parent := c.settled(c.pay(mtnRW, object{"msisdn": payer.msisdn}))
	c.fields("the payment", parent, object{"status": "SUCCESS", "refundableAmount": 1000})
	c.fields("the refund", c.refund(parent, nil), object{"status": "SUCCESS", "amount": 1000})
}

func refundsConcurrent(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, object{"amount": 5000})
	succeeded := 0
	for _, a := range c.burst(30, func(int) request {
		return request{method: "POST", path: refundPath(parent), body: object{"amount": 500, "reference": c.reference()}}
	}) {
		if a.status == http.StatusCreated {
			succeeded++
			c.fields("a refund", c.objectOf(a), object{"status": "SUCCESS", "amount": 500})
			continue
		}
		c.refused(a, http.StatusUnprocessableEntity, "exceeds_refundable")
	}
	if succeeded != 10 {
		c.problem("%d refunds of a tenth succeeded, want 10", succeeded)
	}
	c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": 5000, "refundableAmount": 0, "status": "SUCCESS"})
}

func refundsConcurrentReplay(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	c.oneTransaction(refundPath(parent), object{"amount": 600, "reference": c.reference()}, "id", http.StatusCreated)
	c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": 600})
}

func refundsConcurrentFull(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	succeeded := 0
	for _, a := range c.burst(12, func(int) request { return request{method: "POST", path: refundPath(parent)} }) {
		if a.status == http.StatusCreated {
			succeeded++
			continue
		}
		c.refused(a, http.StatusUnprocessableEntity, "exceeds_refundable")
	}
	if succeeded != 1 {
		c.problem("%d full refunds succeeded, want 1", succeeded)
	}
}
