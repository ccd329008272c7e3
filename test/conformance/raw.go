package main

import (
	"fmt"
	"strings"
)

// shape is what an operator's native payload looks like.
type shape struct {
	operator string
	payer    simCard
	blocked  simCard
	rejects  bool // unknown numbers

	// payload is what the payload of a transaction has at least, for the status that it ended with.
	payload func(transaction object) object
}

// rules are one for each outcome of a collection, and one for each of a payout.
func (s shape) rules() []rule {
	home := s.payer.home
	var rules []rule
	for _, o := range scenarios {
		rules = append(rules, s.rule(o.status, func(c *check) object { return c.pay(home, object{"scenario": o.name, "description": "raw"}) }))
	}
	rules = append(rules,
		s.rule("PENDING", func(c *check) object { return c.pay(home, object{"msisdn": s.payer.msisdn}) }, s.payer),
		s.rule("settled", func(c *check) object { return c.settled(c.pay(home, object{"msisdn": s.payer.msisdn})) }, s.payer),
		s.rule("refund", func(c *check) object { return c.refund(c.paid(home, nil), nil) }),
		s.payoutRule("SUCCESS", object{"msisdn": s.payer.msisdn}, s.payer),
		s.payoutRule("ACCOUNT_BLOCKED", object{"msisdn": s.blocked.msisdn}, s.blocked),
		s.payoutRule("INSUFFICIENT_FUNDS", object{"msisdn": s.payer.msisdn, "amount": largestAmount}, s.payer))
	if s.rejects {
		rules = append(rules, s.payoutRule("UNKNOWN_MSISDN", nil))
	}
	return rules
}

// rule checks the payload of a transaction, in the answer that made it and when it is retrieved.
func (s shape) rule(outcome string, transact func(*check) object, cards ...simCard) rule {
	return rule{
		id:   "raw/" + s.operator + "-" + strings.ToLower(strings.ReplaceAll(outcome, "_", "-")),
		text: fmt.Sprintf("raw of %s is in the operator's own shape (%s)", outcome, s.operator),
		check: func(c *check) {
			c.needs(s.payer.home)
			c.needsSIM(cards...)
			made := transact(c)
			for _, t := range []object{made, c.fetch(textOf(made, "id"))} {
				raw, _ := t["raw"].(object)
				want := changed(s.payload(t), object{"_simulated": true})
				c.fields("raw of a transaction that is "+textOf(t, "status"), raw, want)
			}
		},
	}
}

func (s shape) payoutRule(status string, changes object, cards ...simCard) rule {
	transact := func(c *check) object { return c.fetch(textOf(c.payout(s.payer.home, changes), "tx_id")) }
	return s.rule("payout-"+status, transact, cards...)
}

// isPayout tells whether money goes to the customer.
func isPayout(transaction object) bool { return transaction["type"] != "collection" }

// nativeNumber is a number as the operators write it, without the plus sign.
func nativeNumber(transaction object) string {
	return strings.TrimPrefix(textOf(transaction, "msisdn"), "+")
}
