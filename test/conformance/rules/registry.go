package rules

import (
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func registryRules() []suite.Rule {
	return []suite.Rule{
		{ID: "registry/unknown", Check: registryUnknown,
			Text: "if unknown numbers are rejected, a payment from one ends UNKNOWN_MSISDN"},
		{ID: "registry/blocked", Check: func(c *suite.Check) { ends(c, suite.Blocked, 1000, "ACCOUNT_BLOCKED") },
			Text: "a payment from a blocked test client ends ACCOUNT_BLOCKED"},
		{ID: "registry/low-balance", Check: func(c *suite.Check) { ends(c, suite.Poor, suite.PoorsLimit, "INSUFFICIENT_FUNDS") },
			Text: "a payment above the test client's balance ends INSUFFICIENT_FUNDS"},
		{ID: "registry/pending", Check: registryPending,
			Text: "a payment from a test client with enough money waits for the customer: it is PENDING, with the latency of a success"},
		{ID: "registry/settles", Check: registrySettles,
			Text: "a PENDING payment of a customer who approves becomes SUCCESS"},
		{ID: "registry/cancels", Check: func(c *suite.Check) { settles(c, suite.Cancels, "USER_CANCELLED") },
			Text: "a PENDING payment of a customer who declines becomes USER_CANCELLED"},
		{ID: "registry/wrong-pin", Check: func(c *suite.Check) { settles(c, suite.WrongPIN, "PIN_INVALID") },
			Text: "a PENDING payment of a customer who enters a wrong PIN becomes PIN_INVALID"},
		{ID: "registry/ignores", Check: registryIgnores,
			Text: "a PENDING payment of a customer who does not answer stays PENDING"},
		{ID: "registry/passthrough", Check: registryPassthrough,
			Text: "if unknown numbers are passed through, a payment from one is PENDING and becomes SUCCESS"},
		{ID: "registry/limit", Check: registryLimit,
			Text: "a payment above the operator's limit ends LIMIT_EXCEEDED, a payment of exactly the limit does not"},
		{ID: "registry/limit-first", Check: registryLimitFirst,
			Text: "the operator's limit is checked before the test client"},
		{ID: "registry/other-currency", Check: registryOtherCurrency,
			Text: "a test client counts as unknown in an environment of another currency"},
		{ID: "registry/other-operator", Check: registryOtherOperator,
			Text: "a test client is identified only by its number, also at another operator with its currency"},
		{ID: "registry/total", Alone: true, Check: registryTotal,
			Text: "the balance must cover the customer's total, not only the amount"},
	}
}

// ends makes a payment that has its final status at once.
func ends(c *suite.Check, card suite.SimCard, amount int64, status string) {
	c.NeedsSIM(card)
	p := c.Pay(card.Home, suite.Object{"msisdn": card.MSISDN, "amount": amount})
	c.Fields("the payment", p, suite.Object{"status": status, "scenario": nil, "latencyMs": latencyOf(status), "completedAt": suite.Timestamp})
}

// settles makes a payment that has its final status later.
func settles(c *suite.Check, card suite.SimCard, status string) {
	c.NeedsSIM(card)
	p := c.Pay(card.Home, suite.Object{"msisdn": card.MSISDN})
	c.Fields("the new payment", p, suite.Object{"status": "PENDING"})
	c.Fields("the settled payment", c.Settled(p), suite.Object{"status": status, "id": p["id"], "completedAt": suite.Timestamp})
}

func registryUnknown(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.AirtelRW, suite.MoovBJ)
	for _, e := range []suite.Environment{suite.MtnRW, suite.AirtelRW, suite.MoovBJ} {
		p := c.Pay(e, nil)
		c.Fields("the payment", p, suite.Object{"status": "UNKNOWN_MSISDN", "scenario": nil, "latencyMs": latencyOf("UNKNOWN_MSISDN")})
	}
}

func registryPending(c *suite.Check) {
	c.NeedsSIM(suite.Payer, suite.AirtelPayer, suite.OrangePayer, suite.MoovPayer)
	for _, card := range []suite.SimCard{suite.Payer, suite.AirtelPayer, suite.OrangePayer, suite.MoovPayer} {
		p := c.Pay(card.Home, suite.Object{"msisdn": card.MSISDN})
		c.Fields(
			"the payment",
			p,
			suite.Object{
				"status":      "PENDING",
				"scenario":    nil,
				"completedAt": nil,
				"latencyMs":   latencyOf("PENDING"),
				"raw":         suite.Object{"_simulated": true},
			},
		)
	}
}

// registrySettles also checks the fields that a settlement must not change.
func registrySettles(c *suite.Check) {
	c.NeedsSIM(suite.Payer, suite.AirtelPayer, suite.OrangePayer, suite.MoovPayer)
	for _, card := range []suite.SimCard{suite.Payer, suite.AirtelPayer, suite.OrangePayer, suite.MoovPayer} {
		p := c.Pay(card.Home, suite.Object{"msisdn": card.MSISDN})
		want := suite.Changed(
			p,
			suite.Object{"status": "SUCCESS", "completedAt": suite.Timestamp, "raw": suite.AnyObject, "refundableAmount": p["amount"]},
		)
		c.Fields("the settled payment", c.Settled(p), want)
	}
}

func registryIgnores(c *suite.Check) {
	c.NeedsSIM(suite.Ignores)
	p := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Ignores.MSISDN})
	c.Fields("the new payment", p, suite.Object{"status": "PENDING"})
	c.Pause(3 * time.Second)
	c.Fields("the payment 3 s later", c.Fetch(suite.TextOf(p, "id")), suite.Object{"status": "PENDING", "completedAt": nil})
}

func registryPassthrough(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	p := c.Pay(suite.OrangeCI, nil)
	c.Fields("the new payment", p, suite.Object{"status": "PENDING"})
	c.Fields("the settled payment", c.Settled(p), suite.Object{"status": "SUCCESS", "raw": suite.Object{"_simulated": true}})
}

func registryLimit(c *suite.Check) {
	c.NeedsSIM(suite.Rich)
	ends(c, suite.Rich, suite.MtnRW.MaxAmount+1, "LIMIT_EXCEEDED")
	p := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Rich.MSISDN, "amount": suite.MtnRW.MaxAmount})
	if p["status"] == "LIMIT_EXCEEDED" {
		c.Problem("a payment of exactly the limit ended LIMIT_EXCEEDED")
	}
}

func registryLimitFirst(c *suite.Check) {
	c.NeedsSIM(suite.Blocked, suite.Poor)
	for _, msisdn := range []string{suite.Blocked.MSISDN, suite.Poor.MSISDN, c.Stranger(suite.MtnRW)} {
		p := c.Pay(suite.MtnRW, suite.Object{"msisdn": msisdn, "amount": suite.MtnRW.MaxAmount + 1})
		c.Fields("a payment of "+msisdn, p, suite.Object{"status": "LIMIT_EXCEEDED"})
	}
}

func registryOtherCurrency(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	c.Needs(suite.MoovBJ)
	p := c.Pay(suite.MoovBJ, suite.Object{"msisdn": suite.Payer.MSISDN})
	c.Fields("a payment in XOF of a SIM in RWF", p, suite.Object{"status": "UNKNOWN_MSISDN"})
}

func registryOtherOperator(c *suite.Check) {
	c.NeedsSIM(suite.Payer, suite.Blocked)
	c.Needs(suite.AirtelRW)
	c.Fields(
		"a payment at airtel of a SIM of mtn",
		c.Pay(suite.AirtelRW, suite.Object{"msisdn": suite.Payer.MSISDN}),
		suite.Object{"status": "PENDING", "operator": "airtel"},
	)
	c.Fields(
		"a payment at airtel of a blocked SIM of mtn",
		c.Pay(suite.AirtelRW, suite.Object{"msisdn": suite.Blocked.MSISDN}),
		suite.Object{"status": "ACCOUNT_BLOCKED"},
	)
}

func registryTotal(c *suite.Check) {
	c.NeedsSIM(suite.AirtelPurse)
	c.NeedsTerms(suite.AirtelRW)
	balance := measure(c, suite.AirtelPurse).sim
	covered := largestCovered(suite.AirtelRW, balance)
	p := c.Pay(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": covered + 1})
	if total, _ := suite.IntegerOf(p["customerTotal"]); total <= balance {
		c.Problem("the customer's total of %d is %d, want more than %d", covered+1, total, balance)
	}
	c.Fields("a payment whose total is above the balance and whose amount is not", p, suite.Object{"status": "INSUFFICIENT_FUNDS"})
	p = c.Pay(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": covered})
	c.Fields("a payment whose total the balance just covers", p, suite.Object{"status": "PENDING"})
	c.Fields("the same, settled", c.Settled(p), suite.Object{"status": "SUCCESS"})
	a := c.Post("/disbursements", c.Disbursement(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": covered}))
	c.Expect(a, http.StatusOK) // restore the balance
}

// largestCovered is the largest amount whose total a balance covers.
func largestCovered(e suite.Environment, balance int64) int64 {
	low, high := int64(0), balance
	for low < high {
		middle := (low + high + 1) / 2
		if splitOf(e, middle).total.Int64() <= balance {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
