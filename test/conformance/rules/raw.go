package rules

import (
	"fmt"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// shape describes the native payload of an operator.
type shape struct {
	operator string
	payer    suite.SimCard
	blocked  suite.SimCard
	rejects  bool // unknown numbers

	// payload has the required fields of a transaction's payload, for its final status.
	payload func(transaction suite.Object) suite.Object
}

// rules returns one rule for each outcome of a collection, and one for each outcome of a payout.
func (s shape) rules() []suite.Rule {
	home := s.payer.Home
	var rules []suite.Rule
	for _, o := range scenarios {
		rules = append(rules, s.rule(o.status, func(c *suite.Check) suite.Object {
			return c.Pay(home, suite.Object{"scenario": o.name, "description": "raw"})
		}))
	}
	rules = append(rules,
		s.rule("PENDING", func(c *suite.Check) suite.Object { return c.Pay(home, suite.Object{"msisdn": s.payer.MSISDN}) }, s.payer),
		s.rule("settled", func(c *suite.Check) suite.Object {
			return c.Settled(c.Pay(home, suite.Object{"msisdn": s.payer.MSISDN}))
		}, s.payer),
		s.rule("refund", func(c *suite.Check) suite.Object { return c.Refund(c.Paid(home, nil), nil) }),
		s.payoutRule("SUCCESS", suite.Object{"msisdn": s.payer.MSISDN}, s.payer),
		s.payoutRule("ACCOUNT_BLOCKED", suite.Object{"msisdn": s.blocked.MSISDN}, s.blocked),
		s.payoutRule("INSUFFICIENT_FUNDS", suite.Object{"msisdn": s.payer.MSISDN, "amount": suite.LargestAmount}, s.payer))
	if s.rejects {
		rules = append(rules, s.payoutRule("UNKNOWN_MSISDN", nil))
	}
	return rules
}

// rule checks the payload of a transaction, in the first answer and when it is retrieved.
func (s shape) rule(outcome string, transact func(*suite.Check) suite.Object, cards ...suite.SimCard) suite.Rule {
	return suite.Rule{
		ID:   "raw/" + s.operator + "-" + strings.ToLower(strings.ReplaceAll(outcome, "_", "-")),
		Text: fmt.Sprintf("raw of %s is in the operator's own shape (%s)", outcome, s.operator),
		Check: func(c *suite.Check) {
			c.Needs(s.payer.Home)
			c.NeedsSIM(cards...)
			made := transact(c)
			for _, t := range []suite.Object{made, c.Fetch(suite.TextOf(made, "id"))} {
				raw, _ := t["raw"].(suite.Object)
				want := suite.Changed(s.payload(t), suite.Object{"_simulated": true})
				c.Fields("raw of a transaction that is "+suite.TextOf(t, "status"), raw, want)
			}
		},
	}
}

func (s shape) payoutRule(status string, changes suite.Object, cards ...suite.SimCard) suite.Rule {
	transact := func(c *suite.Check) suite.Object {
		return c.Fetch(suite.TextOf(c.Disburse(s.payer.Home, changes), "tx_id"))
	}
	return s.rule("payout-"+status, transact, cards...)
}

// isPayout reports whether money goes to the customer.
func isPayout(transaction suite.Object) bool { return transaction["type"] != "collection" }

// nativeNumber is a number in the format of the operators, without the plus sign.
func nativeNumber(transaction suite.Object) string {
	return strings.TrimPrefix(suite.TextOf(transaction, "msisdn"), "+")
}
