package main

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strings"
)

func refundRefusalRules() []rule {
	return []rule{
		{id: "refunds/ceiling", check: refundsCeiling,
			text: "refunds of a collection never add up to more than its gross amount: beyond it is 422 exceeds_refundable, with what is left in detail.refundable"},
		{id: "refunds/nothing-left", check: refundsNothingLeft,
			text: "when nothing is left every refund is 422 exceeds_refundable, one without an amount too"},
		{id: "refunds/failed-parent", check: refundsFailedParent,
			text: "a payment that did not succeed is 422 not_refundable, whatever its status"},
		{id: "refunds/pending-parent", check: refundsPendingParent,
			text: "a payment that is still PENDING is 422 not_refundable"},
		{id: "refunds/of-a-refund", check: refundsOfARefund,
			text: "a refund is 422 not_refundable"},
		{id: "refunds/of-a-disbursement", check: refundsOfADisbursement,
			text: "a disbursement is 422 not_refundable"},
		{id: "refunds/unknown-parent", check: refundsUnknownParent,
			text: "a refund of an unknown id is 404 not_found"},
		{id: "refunds/amount-refused", check: refundsAmountRefused,
			text: "a refund's amount that is no positive integer is 400 invalid_body, and amount is the wrong field"},
		{id: "refunds/reference-refused", check: refundsReferenceRefused,
			text: "a refund's reference that is no text of 1 to 80 characters is 400 invalid_body"},
		{id: "refunds/body-refused", check: refundsBodyRefused,
			text: "a refund's body that is not one JSON object is 400, and one of another content type 415"},
		{id: "refunds/unknown-fields", check: refundsUnknownFields,
			text: "fields of a refund that the API does not know are ignored"},
	}
}

// hash makes twelve hexadecimal digits of a text.
func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64() & 0xFFFF_FFFF_FFFF
}

// exceeds notes a problem unless a refund is refused because no more than an amount is left.
func (c *check) exceeds(parent object, body any, left int64) {
	a := c.post(refundPath(parent), body)
	if detail := c.refused(a, http.StatusUnprocessableEntity, "exceeds_refundable"); detail != nil {
		c.fields("the detail", detail, object{"refundable": left})
	} else if a.status == http.StatusUnprocessableEntity {
		c.problem("%s, which has no detail", a)
	}
}

func refundsCeiling(c *check) {
	c.needs(mtnRW, orangeCI)
	for _, e := range []environment{mtnRW, orangeCI} {
		parent := c.paid(e, nil)
		c.exceeds(parent, object{"amount": 1001}, 1000)
		c.exceeds(parent, object{"amount": largestAmount}, 1000)
		c.refund(parent, object{"amount": 600})
		c.exceeds(parent, object{"amount": 401}, 400)
		c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": 600, "refundableAmount": 400})
		c.refund(parent, object{"amount": 400})
	}
}

func refundsNothingLeft(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	c.refund(parent, nil)
	for _, body := range []any{nil, object{}, object{"amount": 1}} {
		c.exceeds(parent, body, 0)
	}
}

func (c *check) notRefundable(transaction object) {
	for _, body := range []any{nil, object{"amount": 1}, object{"amount": largestAmount}} {
		c.refused(c.post(refundPath(transaction), body), http.StatusUnprocessableEntity, "not_refundable")
	}
}

func refundsFailedParent(c *check) {
	c.needs(mtnRW)
	for _, s := range scenarios[1:] {
		c.notRefundable(c.pay(mtnRW, object{"scenario": s.name}))
	}
}

func refundsPendingParent(c *check) {
	c.needsSIM(ignores)
	parent := c.pay(mtnRW, object{"msisdn": ignores.msisdn})
	c.fields("the payment", parent, object{"status": "PENDING"})
	c.notRefundable(parent)
}

func refundsOfARefund(c *check) {
	c.needs(mtnRW)
	c.notRefundable(c.refund(c.paid(mtnRW, nil), object{"amount": 500}))
}

func refundsOfADisbursement(c *check) {
	c.needsSIM(payer)
	made := c.payout(mtnRW, object{"msisdn": payer.msisdn})
	c.notRefundable(object{"id": made["tx_id"]})
}

func refundsUnknownParent(c *check) {
	for _, id := range c.unknownIDs() {
		c.refused(c.post(paymentPath(id)+"/refund", object{"amount": 1, "reference": c.reference()}), http.StatusNotFound, "not_found")
	}
}

func refundsAmountRefused(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	for _, amount := range append(badAmounts(), json.RawMessage("1000000000001")) {
		c.fieldsRefused(c.post(refundPath(parent), object{"amount": amount}), "amount")
	}
	c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": 0})
}

func refundsReferenceRefused(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	for _, reference := range []any{"", strings.Repeat("r", 81), 1, true, object{}, "a\x00b"} {
		c.fieldsRefused(c.post(refundPath(parent), object{"reference": reference}), "reference")
	}
	c.fieldsRefused(c.post(refundPath(parent), object{"amount": "1", "reference": ""}), "amount", "reference")
	c.fields("a reference of 80 characters", c.refund(parent, object{"reference": c.padded(80)}), object{"status": "SUCCESS"})
}

func refundsBodyRefused(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	for _, body := range []text{"{", "[]", "null", "1", `"amount"`, "{}{}", `{"amount": 1,}`, "amount=1"} {
		c.refused(c.post(refundPath(parent), body), http.StatusBadRequest, "invalid_body")
	}
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded"} {
		a := c.send(request{method: "POST", path: refundPath(parent), body: object{"amount": 1}, header: map[string]string{"Content-Type": media}})
		c.refused(a, http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
	c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": 0})
}

func refundsUnknownFields(c *check) {
	c.needs(mtnRW)
	parent := c.paid(mtnRW, nil)
	c.fields("the refund", c.refund(parent, object{"amount": 5, "reason": "late", "currency": "USD", "order_ref": "mine"}), object{
		"amount": 5, "currency": parent["currency"], "orderRef": parent["orderRef"],
	})
}
