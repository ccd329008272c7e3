package rules

import (
	"net/http"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// floatRules reduce the merchant's balance in XOF to a known amount, and restore it. They run alone.
func floatRules() []suite.Rule {
	return []suite.Rule{
		{ID: "float/refund-insufficient", Alone: true, Check: floatRefundInsufficient,
			Text: "a refund above the merchant's balance is recorded as INSUFFICIENT_FUNDS and does not count against the ceiling"},
		{ID: "float/exact", Alone: true, Check: floatExact,
			Text: "the merchant's balance can be paid out to the last unit, and not beyond"},
		{ID: "float/concurrent", Alone: true, Check: floatConcurrent,
			Text: "of 30 concurrent disbursements of a tenth of the merchant's balance ten succeed"},
		{ID: "float/per-currency", Alone: true, Check: floatPerCurrency,
			Text: "the merchant has one balance for each currency, shared by the environments of that currency"},
	}
}

// drained runs an action while the merchant has an exact balance in XOF, and restores the balance.
func drained(c *suite.Check, to int64, do func()) {
	c.NeedsSIM(suite.OrangePurse)
	c.NeedsTerms(suite.OrangeCI)
	balance := measure(c, suite.OrangePurse).merchant
	for taken := min(balance-to, suite.LargestAmount); balance > to; taken = min(balance-to, suite.LargestAmount) {
		c.Fields("paying out the balance", c.Disburse(suite.OrangeCI, suite.Object{"amount": taken}), suite.Object{"status": "SUCCESS"})
		balance -= taken
		defer c.Paid(suite.OrangeCI, suite.Object{"amount": taken}) // without a deduction: the customer pays the commission
	}
	do()
}

func floatRefundInsufficient(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	parent := c.Paid(suite.OrangeCI, nil)
	drained(c, 999, func() {
		body := suite.Object{"amount": 1000, "reference": c.Reference()}
		r := c.Refund(parent, body)
		c.Fields("the refund", r, suite.Changed(payoutRepresentation("refund", 1000), suite.Object{
			"status": "INSUFFICIENT_FUNDS", "parentTxId": parent["id"], "latencyMs": latencyOf("INSUFFICIENT_FUNDS"),
		}))
		c.Fields("the parent", c.Fetch(suite.TextOf(parent, "id")), suite.Object{"refundedAmount": 0, "refundableAmount": 1000})
		c.Fields("a refund of what there is", c.Refund(parent, suite.Object{"amount": 999}), suite.Object{"status": "SUCCESS"})
		c.Fields(
			"the failed refund, replayed",
			replayed(c, c.Post(suite.RefundPath(parent), body), r),
			suite.Object{"status": "INSUFFICIENT_FUNDS"},
		)
	})
	c.Fields("the rest", c.Refund(parent, nil), suite.Object{"status": "SUCCESS", "amount": 1})
}

func floatExact(c *suite.Check) {
	c.NeedsSIM(suite.OrangePurse)
	drained(c, 1000, func() {
		to := suite.OrangePurse.MSISDN
		c.Fields("one above", c.Disburse(suite.OrangeCI, suite.Object{"msisdn": to, "amount": 1001}), suite.Object{"status": "INSUFFICIENT_FUNDS"})
		c.Fields(
			"all of it",
			c.Disburse(suite.OrangeCI, suite.Object{"msisdn": to, "amount": 1000}),
			suite.Object{"status": "SUCCESS", "merchant_balance_after": 0},
		)
		c.Fields("one more", c.Disburse(suite.OrangeCI, suite.Object{"msisdn": to, "amount": 1}), suite.Object{"status": "INSUFFICIENT_FUNDS"})
	})
}

func floatConcurrent(c *suite.Check) {
	c.NeedsSIM(suite.OrangePurse)
	drained(c, 1000, func() {
		byStatus := map[string]int{}
		for _, a := range c.Burst(30, func(int) suite.Request {
			return suite.Request{Method: "POST", Path: "/disbursements", Body: c.Disbursement(suite.OrangeCI, suite.Object{"msisdn": suite.OrangePurse.MSISDN, "amount": 100})}
		}) {
			byStatus[suite.TextOf(c.Expect(a, http.StatusOK), "status")]++
		}
		if byStatus["SUCCESS"] != 10 || byStatus["INSUFFICIENT_FUNDS"] != 20 {
			c.Problem("30 disbursements of a tenth ended %s, want 10 times SUCCESS and 20 times INSUFFICIENT_FUNDS", describe(byStatus))
		}
	})
}

func floatPerCurrency(c *suite.Check) {
	c.NeedsSIM(suite.OrangePurse, suite.MoovPayer, suite.AirtelPurse)
	drained(c, 500, func() {
		c.Fields(
			"another environment in XOF",
			c.Disburse(suite.MoovBJ, suite.Object{"msisdn": suite.MoovPayer.MSISDN, "amount": 501}),
			suite.Object{"status": "INSUFFICIENT_FUNDS"},
		)
		c.Fields(
			"an environment in RWF",
			c.Disburse(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": 501}),
			suite.Object{"status": "SUCCESS"},
		)
	})
}
