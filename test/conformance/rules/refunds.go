package rules

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func refundRules() []suite.Rule {
	return []suite.Rule{
		{ID: "refunds/representation", Check: refundsRepresentation,
			Text: "a refund is answered with 201 and its representation, which names its parent"},
		{ID: "refunds/full", Check: refundsFull,
			Text: "a refund without an amount, with or without a body, refunds the whole rest"},
		{ID: "refunds/partial", Check: refundsPartial,
			Text: "a refund with an amount refunds that amount, and several refunds add up"},
		{ID: "refunds/no-commission", Check: refundsNoCommission,
			Text: "a refund has no commission: net amount and customer's total are its amount, and the mode is merchant"},
		{ID: "refunds/parents-data", Check: refundsParentsData,
			Text: "a refund has its parent's store, environment, operator, country, currency and number"},
		{ID: "refunds/parents-order", Check: refundsParentsOrder,
			Text: "a refund inherits order_ref, order_url and is_url_protected"},
		{ID: "refunds/parent-after", Check: refundsParentAfter,
			Text: "the parent keeps its status, and shows the refunded and the refundable amount"},
		{ID: "refunds/replay", Check: refundsReplay,
			Text: "the same refund again is answered with 200, Idempotent-Replayed: true and the existing refund"},
		{ID: "refunds/conflict", Check: refundsConflict,
			Text: "a refund's reference with another amount or another parent is 409 duplicate_reference"},
		{ID: "refunds/without-reference", Check: refundsWithoutReference,
			Text: "refunds without a reference are separate refunds"},
		{ID: "refunds/generated-reference", Check: refundsGeneratedReference,
			Text: "a generated reference is ORIGIN-REF-TS-CODE with the origin of the parent's reference, and unique"},
		{ID: "refunds/generated-origin", Check: refundsGeneratedOrigin,
			Text: "if the parent's reference has no origin, a generated one begins with CAURI"},
		{ID: "refunds/retrieved", Check: refundsRetrieved,
			Text: "a refund can be retrieved and listed like any transaction"},
		{ID: "refunds/in-the-order", Check: refundsInTheOrder,
			Text: "a payment and its refunds are listed under one order"},
		{ID: "refunds/blocked-customer", Check: refundsBlockedCustomer,
			Text: "a blocked customer still gets a refund"},
		{ID: "refunds/settled-payment", Check: refundsSettledPayment,
			Text: "a payment that became SUCCESS later can be refunded like one with an immediate success"},
		{ID: "refunds/concurrent", Check: refundsConcurrent,
			Text: "of 30 concurrent refunds of a tenth ten succeed, and the others exceed the refundable amount"},
		{ID: "refunds/concurrent-replay", Check: refundsConcurrentReplay,
			Text: "of many concurrent copies of one refund one is made"},
		{ID: "refunds/concurrent-full", Check: refundsConcurrentFull,
			Text: "of several concurrent full refunds one succeeds"},
	}
}

func refundsRepresentation(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	reference := c.Reference()
	r := c.Refund(parent, suite.Object{"amount": 400, "reference": reference})
	c.Fields("the refund", r, suite.Changed(payoutRepresentation("refund", 400), suite.Object{
		"status": "SUCCESS", "parentTxId": parent["id"], "reference": reference, "id": suite.OtherThan(suite.TextOf(parent, "id")),
		"raw": suite.Object{"_simulated": true}, "latencyMs": latencyOf("SUCCESS"),
	}))
}

func refundsFull(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.OrangeCI)
	for _, body := range []any{nil, suite.Object{}, suite.Object{"reference": c.Reference()}, suite.Text(" {} ")} {
		parent := c.Paid(suite.MtnRW, suite.Object{"amount": 777})
		r := c.Refund(parent, body)
		c.Fields(fmt.Sprintf("the refund with the body %v", body), r, suite.Object{"amount": 777, "status": "SUCCESS"})
	}
	onTop := c.Refund(c.Paid(suite.OrangeCI, suite.Object{"amount": 10_000}), nil)
	c.Fields("the refund of a payment with the commission on top", onTop, suite.Object{"amount": 10_000})
}

func refundsPartial(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	for _, amount := range []int{1, 299, 300} {
		c.Fields("the partial refund", c.Refund(parent, suite.Object{"amount": amount}), suite.Object{"amount": amount, "status": "SUCCESS"})
	}
	c.Fields("the refund of the rest", c.Refund(parent, nil), suite.Object{"amount": 400, "status": "SUCCESS"})
	exceeds(c, parent, suite.Object{"amount": 1}, 0)
}

func refundsNoCommission(c *suite.Check) {
	for _, e := range c.Available(suite.Environments) {
		parent := c.Paid(e, suite.Object{"amount": 999})
		r := c.Refund(parent, suite.Object{"amount": 333})
		c.Fields(
			"a refund of "+e.String(),
			r,
			suite.Changed(payoutRepresentation("refund", 333), suite.Object{"merchantAbsorptionPct": parent["merchantAbsorptionPct"]}),
		)
	}
}

func refundsParentsData(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	c.NeedsStore(suite.Kiosk)
	parent := c.Paid(suite.OrangeCI, suite.Object{"application": suite.Kiosk, "currency": "FCFA", "description": "two tickets"})
	r := c.Refund(parent, nil)
	for _, field := range []string{"application", "environmentId", "operator", "country", "currency", "msisdn"} {
		c.Fields("the refund", r, suite.Object{field: parent[field]})
	}
}

func refundsParentsOrder(c *suite.Check) {
	c.Needs(suite.MtnRW)
	linked := c.Paid(
		suite.MtnRW,
		suite.Object{"order_ref": "order-" + c.Unique(), "order_url": "https://shop.example/7", "is_url_protected": true},
	)
	for _, parent := range []suite.Object{linked, c.Paid(suite.MtnRW, nil)} {
		c.Fields("the refund", c.Refund(parent, suite.Object{"reference": c.Reference()}), suite.Object{
			"orderRef": parent["orderRef"], "orderUrl": parent["orderUrl"], "isUrlProtected": parent["isUrlProtected"],
		})
	}
}

func refundsParentAfter(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	c.Fields("the parent before", parent, suite.Object{"refundedAmount": 0, "refundableAmount": 1000})
	c.Refund(parent, suite.Object{"amount": 300})
	c.Fields("the parent after a partial refund", c.Fetch(suite.TextOf(parent, "id")),
		suite.Changed(parent, suite.Object{"refundedAmount": 300, "refundableAmount": 700}))
	c.Refund(parent, nil)
	c.Fields("the parent after the rest", c.Fetch(suite.TextOf(parent, "id")),
		suite.Changed(parent, suite.Object{"refundedAmount": 1000, "refundableAmount": 0}))
}

func refundsReplay(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, body := range []suite.Object{{"amount": 1000}, {"amount": 300}, {}} {
		parent := c.Paid(suite.MtnRW, nil)
		body["reference"] = c.Reference()
		first := c.Refund(parent, body)
		for range 2 {
			c.Fields("the replay", replayed(c, c.Post(suite.RefundPath(parent), body), first), first)
		}
		c.Fields("the parent", c.Fetch(suite.TextOf(parent, "id")), suite.Object{"refundedAmount": first["amount"]})
	}
}

func refundsConflict(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent, another := c.Paid(suite.MtnRW, nil), c.Paid(suite.MtnRW, nil)
	reference := c.Reference()
	c.Refund(parent, suite.Object{"amount": 300, "reference": reference})
	conflicts(c, c.Post(suite.RefundPath(parent), suite.Object{"amount": 301, "reference": reference}))
	conflicts(c, c.Post(suite.RefundPath(parent), suite.Object{"reference": reference}))
	conflicts(c, c.Post(suite.RefundPath(another), suite.Object{"amount": 300, "reference": reference}))
	c.Fields("the parent", c.Fetch(suite.TextOf(parent, "id")), suite.Object{"refundedAmount": 300})
	c.Fields("the other payment", c.Fetch(suite.TextOf(another, "id")), suite.Object{"refundedAmount": 0})
}

func refundsWithoutReference(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	first, second := c.Refund(parent, suite.Object{"amount": 100}), c.Refund(parent, suite.Object{"amount": 100})
	if first["id"] == second["id"] || first["reference"] == second["reference"] {
		c.Problem("two refunds are %v %v and %v %v", first["id"], first["reference"], second["id"], second["reference"])
	}
	c.Fields("the parent", c.Fetch(suite.TextOf(parent, "id")), suite.Object{"refundedAmount": 200})
}

// generatedReference is the form of generated references.
var generatedReference = regexp.MustCompile(`^([A-Z0-9]{2,12})-(REF|DIS)-(\d{14})-([0-9A-F]{12})$`)

// generated records a problem unless a reference has the form, with an origin, an operation and a recent time.
func generated(c *suite.Check, transaction suite.Object, origin, operation string) {
	parts := generatedReference.FindStringSubmatch(suite.TextOf(transaction, "reference"))
	if parts == nil || parts[1] != origin || parts[2] != operation {
		c.Problem("the generated reference is %v, want %s-%s-YYYYMMDDHHMMSS-<12 hex>", transaction["reference"], origin, operation)
		return
	}
	created, _ := suite.TimeOf(transaction["createdAt"])
	if at, err := time.Parse("20060102150405", parts[3]); err != nil || at.Sub(created).Abs() > time.Minute {
		c.Problem("the generated reference %v does not contain the time of creation, %v in UTC", transaction["reference"], created.UTC())
	}
}

// wellFormed is an unused reference by the recommended convention.
func wellFormed(c *suite.Check, origin string) string {
	return fmt.Sprintf("%s-PAY-%s-%012X", origin, time.Now().UTC().Format("20060102150405"), hash(c.Unique()))
}

func refundsGeneratedReference(c *suite.Check) {
	c.Needs(suite.MtnRW)
	origin := strings.ToUpper(c.Name)[:6]
	code := fmt.Sprintf("%012X", hash(c.Unique()))
	for _, reference := range []string{wellFormed(c, origin), origin + "-PAY-" + code, origin + "-ABO-20260531120000-" + code} {
		parent := c.Paid(suite.MtnRW, suite.Object{"reference": reference})
		first, second := c.Refund(parent, suite.Object{"amount": 1}), c.Refund(parent, suite.Object{"amount": 1})
		generated(c, first, origin, "REF")
		generated(c, second, origin, "REF")
		if first["reference"] == second["reference"] {
			c.Problem("two refunds got the reference %v", first["reference"])
		}
	}
}

func refundsGeneratedOrigin(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, reference := range []string{c.Reference(), "order " + c.Unique(), "X-PAY-20260531120000-" + c.Unique(), "é-" + c.Unique()} {
		generated(c, c.Refund(c.Paid(suite.MtnRW, suite.Object{"reference": reference}), nil), "CAURI", "REF")
	}
}

func refundsRetrieved(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	r := c.Refund(parent, suite.Object{"amount": 250, "reference": c.Reference()})
	c.Fields("the refund, retrieved", c.Fetch(suite.TextOf(r, "id")), r)
	lists(c, url.Values{"reference": {suite.TextOf(r, "reference")}, "type": {"refund"}}, []suite.Object{r})
}

func refundsInTheOrder(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, suite.Object{"order_ref": "order-" + c.Unique()})
	first := c.Refund(parent, suite.Object{"amount": 1})
	second := c.Refund(parent, suite.Object{"amount": 2})
	lists(c, url.Values{"order_ref": {suite.TextOf(parent, "orderRef")}}, []suite.Object{parent, first, second})
}

func refundsBlockedCustomer(c *suite.Check) {
	c.NeedsSIM(suite.Blocked)
	parent := c.Paid(suite.MtnRW, suite.Object{"msisdn": suite.Blocked.MSISDN})
	c.Fields("the refund", c.Refund(parent, nil), suite.Object{"status": "SUCCESS", "amount": 1000})
}

func refundsSettledPayment(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	parent := c.Settled(c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN}))
	c.Fields("the payment", parent, suite.Object{"status": "SUCCESS", "refundableAmount": 1000})
	c.Fields("the refund", c.Refund(parent, nil), suite.Object{"status": "SUCCESS", "amount": 1000})
}

func refundsConcurrent(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, suite.Object{"amount": 5000})
	succeeded := 0
	for _, a := range c.Burst(30, func(int) suite.Request {
		return suite.Request{Method: "POST", Path: suite.RefundPath(parent), Body: suite.Object{"amount": 500, "reference": c.Reference()}}
	}) {
		if a.Status == http.StatusCreated {
			succeeded++
			c.Fields("a refund", c.ObjectOf(a), suite.Object{"status": "SUCCESS", "amount": 500})
			continue
		}
		c.Refused(a, http.StatusUnprocessableEntity, "exceeds_refundable")
	}
	if succeeded != 10 {
		c.Problem("%d refunds of a tenth succeeded, want 10", succeeded)
	}
	c.Fields(
		"the parent",
		c.Fetch(suite.TextOf(parent, "id")),
		suite.Object{"refundedAmount": 5000, "refundableAmount": 0, "status": "SUCCESS"},
	)
}

func refundsConcurrentReplay(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	oneTransaction(c, suite.RefundPath(parent), suite.Object{"amount": 600, "reference": c.Reference()}, "id", http.StatusCreated)
	c.Fields("the parent", c.Fetch(suite.TextOf(parent, "id")), suite.Object{"refundedAmount": 600})
}

func refundsConcurrentFull(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	succeeded := 0
	for _, a := range c.Burst(12, func(int) suite.Request { return suite.Request{Method: "POST", Path: suite.RefundPath(parent)} }) {
		if a.Status == http.StatusCreated {
			succeeded++
			continue
		}
		c.Refused(a, http.StatusUnprocessableEntity, "exceeds_refundable")
	}
	if succeeded != 1 {
		c.Problem("%d full refunds succeeded, want 1", succeeded)
	}
}
