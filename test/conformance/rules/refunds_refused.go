package rules

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func refundRefusalRules() []suite.Rule {
	return []suite.Rule{
		{
			ID:    "refunds/ceiling",
			Check: refundsCeiling,
			Text:  "refunds of a collection never add up to more than its gross amount: beyond it is 422 exceeds_refundable, with what is left in detail.refundable",
		},
		{ID: "refunds/nothing-left", Check: refundsNothingLeft,
			Text: "when nothing is left every refund is 422 exceeds_refundable, even without an amount"},
		{ID: "refunds/failed-parent", Check: refundsFailedParent,
			Text: "a payment that did not succeed is 422 not_refundable, whatever its status"},
		{ID: "refunds/pending-parent", Check: refundsPendingParent,
			Text: "a payment that is still PENDING is 422 not_refundable"},
		{ID: "refunds/of-a-refund", Check: refundsOfARefund,
			Text: "a refund is 422 not_refundable"},
		{ID: "refunds/of-a-disbursement", Check: refundsOfADisbursement,
			Text: "a disbursement is 422 not_refundable"},
		{ID: "refunds/unknown-parent", Check: refundsUnknownParent,
			Text: "a refund of an unknown id is 404 not_found"},
		{ID: "refunds/amount-refused", Check: refundsAmountRefused,
			Text: "a refund's amount that is not a positive integer, null too, is 400 invalid_body, and names amount as the wrong field"},
		{ID: "refunds/reference-refused", Check: refundsReferenceRefused,
			Text: "a refund's reference that is not a text of 1 to 80 characters is 400 invalid_body"},
		{ID: "refunds/body-refused", Check: refundsBodyRefused,
			Text: "a refund's body that is not one JSON object is 400, and one of another content type 415"},
		{ID: "refunds/unknown-fields", Check: refundsUnknownFields,
			Text: "unknown fields of a refund are ignored"},
	}
}

// hash makes twelve hexadecimal digits of a text.
func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64() & 0xFFFF_FFFF_FFFF
}

// exceeds records a problem unless a refund is refused because only the given amount is refundable.
func exceeds(c *suite.Check, parent suite.Object, body any, left int64) {
	a := c.Post(suite.RefundPath(parent), body)
	if detail := c.Refused(a, http.StatusUnprocessableEntity, "exceeds_refundable"); detail != nil {
		c.Fields("the detail", detail, suite.Object{"refundable": left})
	} else if a.Status == http.StatusUnprocessableEntity {
		c.Problem("%s, which has no detail", a)
	}
}

func refundsCeiling(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.OrangeCI)
	for _, e := range []suite.Environment{suite.MtnRW, suite.OrangeCI} {
		parent := c.Paid(e, nil)
		exceeds(c, parent, suite.Object{"amount": 1001}, 1000)
		exceeds(c, parent, suite.Object{"amount": suite.LargestAmount}, 1000)
		c.Refund(parent, suite.Object{"amount": 600})
		exceeds(c, parent, suite.Object{"amount": 401}, 400)
		c.Fields("the parent", c.Fetch(suite.TextOf(parent, "id")), suite.Object{"refundedAmount": 600, "refundableAmount": 400})
		c.Refund(parent, suite.Object{"amount": 400})
	}
}

func refundsNothingLeft(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	c.Refund(parent, nil)
	for _, body := range []any{nil, suite.Object{}, suite.Object{"amount": 1}} {
		exceeds(c, parent, body, 0)
	}
}

func notRefundable(c *suite.Check, transaction suite.Object) {
	for _, body := range []any{nil, suite.Object{"amount": 1}, suite.Object{"amount": suite.LargestAmount}} {
		c.Refused(c.Post(suite.RefundPath(transaction), body), http.StatusUnprocessableEntity, "not_refundable")
	}
}

func refundsFailedParent(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, s := range scenarios[1:] {
		notRefundable(c, c.Pay(suite.MtnRW, suite.Object{"scenario": s.name}))
	}
}

func refundsPendingParent(c *suite.Check) {
	c.NeedsSIM(suite.Ignores)
	parent := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Ignores.MSISDN})
	c.Fields("the payment", parent, suite.Object{"status": "PENDING"})
	notRefundable(c, parent)
}

func refundsOfARefund(c *suite.Check) {
	c.Needs(suite.MtnRW)
	notRefundable(c, c.Refund(c.Paid(suite.MtnRW, nil), suite.Object{"amount": 500}))
}

func refundsOfADisbursement(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	made := c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN})
	notRefundable(c, suite.Object{"id": made["tx_id"]})
}

func refundsUnknownParent(c *suite.Check) {
	for _, id := range unknownIDs(c) {
		c.Refused(
			c.Post(suite.PaymentPath(id)+"/refund", suite.Object{"amount": 1, "reference": c.Reference()}),
			http.StatusNotFound,
			"not_found",
		)
	}
}

func refundsAmountRefused(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	for _, amount := range append(badAmounts(), json.RawMessage("1000000000001"), nil) {
		c.FieldsRefused(c.Post(suite.RefundPath(parent), suite.Object{"amount": amount}), "amount")
	}
	c.Fields("the parent", c.Fetch(suite.TextOf(parent, "id")), suite.Object{"refundedAmount": 0})
}

func refundsReferenceRefused(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	for _, reference := range []any{"", strings.Repeat("r", 81), 1, true, suite.Object{}, "a\x00b"} {
		c.FieldsRefused(c.Post(suite.RefundPath(parent), suite.Object{"reference": reference}), "reference")
	}
	c.FieldsRefused(c.Post(suite.RefundPath(parent), suite.Object{"amount": "1", "reference": ""}), "amount", "reference")
	c.Fields("a reference of 80 characters", c.Refund(parent, suite.Object{"reference": padded(c, 80)}), suite.Object{"status": "SUCCESS"})
}

func refundsBodyRefused(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	for _, body := range []suite.Text{"{", "[]", "null", "1", `"amount"`, "{}{}", `{"amount": 1,}`, "amount=1"} {
		c.Refused(c.Post(suite.RefundPath(parent), body), http.StatusBadRequest, "invalid_body")
	}
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded"} {
		a := c.Send(
			suite.Request{
				Method: "POST",
				Path:   suite.RefundPath(parent),
				Body:   suite.Object{"amount": 1},
				Header: map[string]string{"Content-Type": media},
			},
		)
		c.Refused(a, http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
	c.Fields("the parent", c.Fetch(suite.TextOf(parent, "id")), suite.Object{"refundedAmount": 0})
}

func refundsUnknownFields(c *suite.Check) {
	c.Needs(suite.MtnRW)
	parent := c.Paid(suite.MtnRW, nil)
	c.Fields("the refund", c.Refund(parent, suite.Object{"amount": 5, "reason": "late", "currency": "USD", "order_ref": "mine"}), suite.Object{
		"amount": 5, "currency": parent["currency"], "orderRef": parent["orderRef"],
	})
}
