package main

import "net/http"

// floatRules bring the merchant's balance in XOF down to a known amount, and then back up. They run alone.
func floatRules() []rule {
	return []rule{
		{id: "float/refund-insufficient", alone: true, check: floatRefundInsufficient,
			text: "a refund above the merchant's balance is recorded as INSUFFICIENT_FUNDS and does not count against the ceiling"},
		{id: "float/exact", alone: true, check: floatExact,
			text: "the merchant's balance can be paid out to the last unit, and not beyond"},
		{id: "float/concurrent", alone: true, check: floatConcurrent,
			text: "of 30 disbursements of a tenth of the merchant's balance at the same time ten succeed"},
		{id: "float/per-currency", alone: true, check: floatPerCurrency,
			text: "the merchant has one balance for each currency, shared by the environments of that currency"},
	}
}

// drained does something while the merchant has an exact balance in XOF, and gives back what was taken away.
func (c *check) drained(to int64, do func()) {
	c.needsSIM(orangePurse)
	c.needsTerms(orangeCI)
	balance := c.measure(orangePurse).merchant
	for taken := min(balance-to, largestAmount); balance > to; taken = min(balance-to, largestAmount) {
		c.fields("paying out the balance", c.payout(orangeCI, object{"amount": taken}), object{"status": "SUCCESS"})
		balance -= taken
		defer c.paid(orangeCI, object{"amount": taken}) // nothing is taken off: the customer bears the commission
	}
	do()
}

func floatRefundInsufficient(c *check) {
	c.needs(orangeCI)
	parent := c.paid(orangeCI, nil)
	c.drained(999, func() {
		body := object{"amount": 1000, "reference": c.reference()}
		r := c.refund(parent, body)
		c.fields("the refund", r, changed(payoutRepresentation("refund", 1000), object{
			"status": "INSUFFICIENT_FUNDS", "parentTxId": parent["id"], "latencyMs": latencyOf("INSUFFICIENT_FUNDS"),
		}))
		c.fields("the parent", c.fetch(textOf(parent, "id")), object{"refundedAmount": 0, "refundableAmount": 1000})
		c.fields("a refund of what there is", c.refund(parent, object{"amount": 999}), object{"status": "SUCCESS"})
		c.fields("the failed refund, replayed", c.replayed(c.post(refundPath(parent), body), r), object{"status": "INSUFFICIENT_FUNDS"})
	})
	c.fields("the rest", c.refund(parent, nil), object{"status": "SUCCESS", "amount": 1})
}

func floatExact(c *check) {
	c.needsSIM(orangePurse)
	c.drained(1000, func() {
		to := orangePurse.msisdn
		c.fields("one above", c.payout(orangeCI, object{"msisdn": to, "amount": 1001}), object{"status": "INSUFFICIENT_FUNDS"})
		c.fields("all of it", c.payout(orangeCI, object{"msisdn": to, "amount": 1000}), object{"status": "SUCCESS", "merchant_balance_after": 0})
		c.fields("one more", c.payout(orangeCI, object{"msisdn": to, "amount": 1}), object{"status": "INSUFFICIENT_FUNDS"})
	})
}

func floatConcurrent(c *check) {
	c.needsSIM(orangePurse)
	c.drained(1000, func() {
		byStatus := map[string]int{}
		for _, a := range c.burst(30, func(int) request {
			return request{method: "POST", path: "/disbursements", body: c.disbursement(orangeCI, object{"msisdn": orangePurse.msisdn, "amount": 100})}
		}) {
			byStatus[textOf(c.expect(a, http.StatusOK), "status")]++
		}
		if byStatus["SUCCESS"] != 10 || byStatus["INSUFFICIENT_FUNDS"] != 20 {
			c.problem("30 disbursements of a tenth ended %s, want 10 times SUCCESS and 20 times INSUFFICIENT_FUNDS", describe(byStatus))
		}
	})
}

func floatPerCurrency(c *check) {
	c.needsSIM(orangePurse, moovPayer, airtelPurse)
	c.drained(500, func() {
		c.fields("another environment in XOF", c.payout(moovBJ, object{"msisdn": moovPayer.msisdn, "amount": 501}), object{"status": "INSUFFICIENT_FUNDS"})
		c.fields("an environment in RWF", c.payout(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": 501}), object{"status": "SUCCESS"})
	})
}
