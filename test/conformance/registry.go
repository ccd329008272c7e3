package main

import (
	"net/http"
	"time"
)

func registryRules() []rule {
	return []rule{
		{id: "registry/unknown", check: registryUnknown,
			text: "where unknown numbers are rejected, a payment of one ends UNKNOWN_MSISDN"},
		{id: "registry/blocked", check: func(c *check) { ends(c, blocked, 1000, "ACCOUNT_BLOCKED") },
			text: "a payment of a blocked test client ends ACCOUNT_BLOCKED"},
		{id: "registry/low-balance", check: func(c *check) { ends(c, poor, poorsLimit, "INSUFFICIENT_FUNDS") },
			text: "a payment above the test client's balance ends INSUFFICIENT_FUNDS"},
		{id: "registry/pending", check: registryPending,
			text: "a payment that the test client can make waits for the customer: it is PENDING, with the latency of a success"},
		{id: "registry/settles", check: registrySettles,
			text: "a PENDING payment of a customer who approves becomes SUCCESS"},
		{id: "registry/cancels", check: func(c *check) { settles(c, cancels, "USER_CANCELLED") },
			text: "a PENDING payment of a customer who declines becomes USER_CANCELLED"},
		{id: "registry/wrong-pin", check: func(c *check) { settles(c, wrongPIN, "PIN_INVALID") },
			text: "a PENDING payment of a customer who mistypes becomes PIN_INVALID"},
		{id: "registry/ignores", check: registryIgnores,
			text: "a PENDING payment of a customer who does not answer stays PENDING"},
		{id: "registry/passthrough", check: registryPassthrough,
			text: "where unknown numbers are passed through, a payment of one is PENDING and becomes SUCCESS"},
		{id: "registry/limit", check: registryLimit,
			text: "a payment above the operator's limit ends LIMIT_EXCEEDED, one of exactly the limit does not"},
		{id: "registry/limit-first", check: registryLimitFirst,
			text: "the operator's limit is looked at before the registry"},
		{id: "registry/other-currency", check: registryOtherCurrency,
			text: "a test client counts as unknown in an environment of another currency"},
		{id: "registry/other-operator", check: registryOtherOperator,
			text: "a test client is found by its number alone, also at another operator of its currency"},
		{id: "registry/total", alone: true, check: registryTotal,
			text: "the balance has to cover what the customer pays in total, not the amount alone"},
	}
}

// ends makes a payment that has its final status at once.
func ends(c *check, card simCard, amount int64, status string) {
	c.needsSIM(card)
	p := c.pay(card.home, object{"msisdn": card.msisdn, "amount": amount})
	c.fields("the payment", p, object{"status": status, "scenario": nil, "latencyMs": latencyOf(status), "completedAt": timestamp})
}

// settles makes a payment that has its final status after a while.
func settles(c *check, card simCard, status string) {
	c.needsSIM(card)
	p := c.pay(card.home, object{"msisdn": card.msisdn})
	c.fields("the new payment", p, object{"status": "PENDING"})
	c.fields("the settled payment", c.settled(p), object{"status": status, "id": p["id"], "completedAt": timestamp})
}

func registryUnknown(c *check) {
	c.needs(mtnRW, airtelRW, moovBJ)
	for _, e := range []environment{mtnRW, airtelRW, moovBJ} {
		p := c.pay(e, nil)
		c.fields("the payment", p, object{"status": "UNKNOWN_MSISDN", "scenario": nil, "latencyMs": latencyOf("UNKNOWN_MSISDN")})
	}
}

func registryPending(c *check) {
	c.needsSIM(payer, airtelPayer, orangePayer, moovPayer)
	for _, card := range []simCard{payer, airtelPayer, orangePayer, moovPayer} {
		p := c.pay(card.home, object{"msisdn": card.msisdn})
		c.fields("the payment", p, object{"status": "PENDING", "scenario": nil, "completedAt": nil, "latencyMs": latencyOf("PENDING"), "raw": object{"_simulated": true}})
	}
}

// registrySettles checks also what a settlement must not change.
func registrySettles(c *check) {
	c.needsSIM(payer, airtelPayer, orangePayer, moovPayer)
	for _, card := range []simCard{payer, airtelPayer, orangePayer, moovPayer} {
		p := c.pay(card.home, object{"msisdn": card.msisdn})
		want := changed(p, object{"status": "SUCCESS", "completedAt": timestamp, "raw": anyObject, "refundableAmount": p["amount"]})
		c.fields("the settled payment", c.settled(p), want)
	}
}

func registryIgnores(c *check) {
	c.needsSIM(ignores)
	p := c.pay(mtnRW, object{"msisdn": ignores.msisdn})
	c.fields("the new payment", p, object{"status": "PENDING"})
	c.pause(3 * time.Second)
	c.fields("the payment 3 s later", c.fetch(textOf(p, "id")), object{"status": "PENDING", "completedAt": nil})
}

func registryPassthrough(c *check) {
	c.needs(orangeCI)
	p := c.pay(orangeCI, nil)
	c.fields("the new payment", p, object{"status": "PENDING"})
	c.fields("the settled payment", c.settled(p), object{"status": "SUCCESS", "raw": object{"_simulated": true}})
}

func registryLimit(c *check) {
	c.needsSIM(rich)
	ends(c, rich, mtnRW.maxAmount+1, "LIMIT_EXCEEDED")
	p := c.pay(mtnRW, object{"msisdn": rich.msisdn, "amount": mtnRW.maxAmount})
	if p["status"] == "LIMIT_EXCEEDED" {
		c.problem("a payment of exactly the limit ended LIMIT_EXCEEDED")
	}
}

func registryLimitFirst(c *check) {
	c.needsSIM(blocked, poor)
	for _, msisdn := range []string{blocked.msisdn, poor.msisdn, c.stranger(mtnRW)} {
		p := c.pay(mtnRW, object{"msisdn": msisdn, "amount": mtnRW.maxAmount + 1})
		c.fields("a payment of "+msisdn, p, object{"status": "LIMIT_EXCEEDED"})
	}
}

func registryOtherCurrency(c *check) {
	c.needsSIM(payer)
	c.needs(moovBJ)
	p := c.pay(moovBJ, object{"msisdn": payer.msisdn})
	c.fields("a payment in XOF of a SIM in RWF", p, object{"status": "UNKNOWN_MSISDN"})
}

func registryOtherOperator(c *check) {
	c.needsSIM(payer, blocked)
	c.needs(airtelRW)
	c.fields("a payment at airtel of a SIM of mtn", c.pay(airtelRW, object{"msisdn": payer.msisdn}), object{"status": "PENDING", "operator": "airtel"})
	c.fields("a payment at airtel of a blocked SIM of mtn", c.pay(airtelRW, object{"msisdn": blocked.msisdn}), object{"status": "ACCOUNT_BLOCKED"})
}

func registryTotal(c *check) {
	c.needsSIM(airtelPurse)
	c.needsTerms(airtelRW)
	balance := c.measure(airtelPurse).sim
	covered := largestCovered(airtelRW, balance)
	p := c.pay(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": covered + 1})
	if total, _ := integerOf(p["customerTotal"]); total <= balance {
		c.problem("the customer's total of %d is %d, want more than %d", covered+1, total, balance)
	}
	c.fields("a payment whose total is above the balance and whose amount is not", p, object{"status": "INSUFFICIENT_FUNDS"})
	p = c.pay(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": covered})
	c.fields("a payment whose total the balance just covers", p, object{"status": "PENDING"})
	c.fields("the same, settled", c.settled(p), object{"status": "SUCCESS"})
	a := c.post("/disbursements", c.disbursement(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": covered}))
	c.expect(a, http.StatusOK) // give it back
}

// largestCovered is the largest amount whose total a balance covers.
func largestCovered(e environment, balance int64) int64 {
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
