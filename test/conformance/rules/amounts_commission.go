package rules

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func amountRules() []suite.Rule {
	var rules []suite.Rule
	for _, e := range suite.Environments {
		name := strings.ToLower(e.Operator + "-" + e.Country)
		terms := fmt.Sprintf("at %d basis points, with the merchant paying %d %%", e.CommissionBPS, e.AbsorptionPct)
		rules = append(rules, suite.Rule{ID: "amounts/split-" + name, Check: func(c *suite.Check) { splits(c, e, oddAmounts()) },
			Text: "commission and shares are right for odd amounts " + terms})
		if halves := halfAmounts(e); len(halves) > 0 {
			rules = append(rules, suite.Rule{ID: "amounts/halves-" + name, Check: func(c *suite.Check) { splits(c, e, halves) },
				Text: "half a unit of the commission or of the merchant's share rounds up " + terms})
		}
	}
	return append(rules,
		suite.Rule{ID: "amounts/configured", Check: amountsConfigured,
			Text: "each environment has the rate and the absorption of sandbox.yaml"},
		suite.Rule{ID: "amounts/merchant-absorbs", Check: amountsMerchantAbsorbs,
			Text: "if the merchant pays the whole commission, the customer pays the amount and the merchant gets the amount less the commission"},
		suite.Rule{ID: "amounts/customer-bears", Check: amountsCustomerBears,
			Text: "if the customer pays the whole commission, the merchant gets the amount and the customer pays the amount plus the commission"},
		suite.Rule{ID: "amounts/mode-tie", Check: amountsModeTie,
			Text: "commissionMode is merchant if both pay the same share"},
		suite.Rule{ID: "amounts/every-outcome", Check: amountsEveryOutcome,
			Text: "a payment's split does not depend on its outcome"},
		suite.Rule{ID: "amounts/largest", Check: amountsLargest,
			Text: "amounts go from 1 to 10^12"})
}

// split is the commission of an amount and its shares, as the specification defines them.
type split struct{ commission, merchantShare, customerShare, net, total *big.Int }

// splitOf uses integers of any size, so that it cannot overflow like an implementation.
func splitOf(e suite.Environment, amount int64) split {
	gross := big.NewInt(amount)
	commission := halfUp(new(big.Int).Mul(gross, big.NewInt(e.CommissionBPS)), 10_000)
	merchant := halfUp(new(big.Int).Mul(commission, big.NewInt(e.AbsorptionPct)), 100)
	net := new(big.Int).Sub(gross, merchant)
	return split{
		commission:    commission,
		merchantShare: merchant,
		customerShare: new(big.Int).Sub(commission, merchant),
		net:           net,
		total:         new(big.Int).Add(net, commission),
	}
}

// halfUp divides and rounds half up.
func halfUp(dividend *big.Int, divisor int64) *big.Int {
	quotient, rest := new(big.Int).DivMod(dividend, big.NewInt(divisor), new(big.Int))
	if rest.Lsh(rest, 1).Cmp(big.NewInt(divisor)) >= 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

func (s split) mode() string {
	if s.merchantShare.Cmp(s.customerShare) >= 0 {
		return "merchant"
	}
	return "customer"
}

func (s split) fields() suite.Object {
	return suite.Object{
		"commission": s.commission.Int64(), "merchantShare": s.merchantShare.Int64(), "customerShare": s.customerShare.Int64(),
		"netAmount": s.net.Int64(), "customerTotal": s.total.Int64(), "commissionMode": s.mode(),
	}
}

// oddAmounts are small, large, round, uneven and random amounts.
func oddAmounts() []int64 {
	amounts := []int64{
		1, 2, 3, 7, 11, 13, 29, 33, 34, 49, 50, 51, 66, 67, 97, 99, 100, 101, 149, 150, 151, 199, 333, 334, 499, 500, 501, 997, 999, 1001,
		9_999, 10_001, 12_345, 99_999, 123_457, 1_999_999, 2_000_001, 987_654_321, 123_456_789_011, 999_999_999_999, suite.LargestAmount,
	}
	for range 10 {
		amounts = append(amounts, 1+rand.Int64N(1_000_000))
	}
	return amounts
}

// halfAmounts are the smallest amounts for which the commission is exactly half a unit above an integer, and those for
// which the merchant's share is. Not every rate has such amounts.
func halfAmounts(e suite.Environment) []int64 {
	var ofCommission, ofShare []int64
	for amount := int64(1); amount <= 100_000; amount++ {
		if len(ofCommission) < 8 && amount*e.CommissionBPS%10_000 == 5_000 {
			ofCommission = append(ofCommission, amount)
		}
		commission := splitOf(e, amount).commission.Int64()
		if len(ofShare) < 8 && commission*e.AbsorptionPct%100 == 50 {
			ofShare = append(ofShare, amount)
		}
	}
	return append(ofCommission, ofShare...)
}

// splits compares the splits of payments that move no money.
func splits(c *suite.Check, e suite.Environment, amounts []int64) {
	c.NeedsTerms(e)
	for _, amount := range amounts {
		p := c.Pay(e, suite.Object{"amount": amount, "scenario": "maintenance"})
		want := suite.Changed(splitOf(e, amount).fields(), suite.Object{"amount": amount, "merchantAbsorptionPct": e.AbsorptionPct})
		c.Fields(fmt.Sprintf("a payment of %d", amount), p, want)
	}
}

func amountsConfigured(c *suite.Check) {
	for _, e := range c.Available(suite.Environments) {
		p := c.Pay(e, suite.Object{"amount": suite.RoundAmount, "scenario": "maintenance"})
		c.Fields(
			fmt.Sprintf("a payment of %d by %s", suite.RoundAmount, e),
			p,
			suite.Object{"commission": e.CommissionBPS, "merchantAbsorptionPct": e.AbsorptionPct},
		)
	}
}

func amountsMerchantAbsorbs(c *suite.Check) {
	c.NeedsTerms(suite.MtnRW)
	c.Fields("the payment", c.Paid(suite.MtnRW, suite.Object{"amount": 10_000}), suite.Object{
		"commission": 150, "customerTotal": 10_000, "netAmount": 9_850, "merchantShare": 150, "customerShare": 0, "commissionMode": "merchant",
	})
}

func amountsCustomerBears(c *suite.Check) {
	c.NeedsTerms(suite.OrangeCI)
	c.Fields("the payment", c.Paid(suite.OrangeCI, suite.Object{"amount": 10_000}), suite.Object{
		"commission": 275, "customerTotal": 10_275, "netAmount": 10_000, "merchantShare": 0, "customerShare": 275, "commissionMode": "customer",
	})
}

func amountsModeTie(c *suite.Check) {
	c.NeedsTerms(suite.AirtelRW, suite.MoovTG)
	c.Fields("a commission of 333", c.Pay(suite.AirtelRW, suite.Object{"amount": 10_000, "scenario": "maintenance"}), suite.Object{
		"commission": 333, "merchantShare": 167, "customerShare": 166, "commissionMode": "merchant",
	})
	c.Fields("a commission of 332", c.Pay(suite.AirtelRW, suite.Object{"amount": 9_970, "scenario": "maintenance"}), suite.Object{
		"commission": 332, "merchantShare": 166, "customerShare": 166, "commissionMode": "merchant",
	})
	c.Fields("no commission", c.Pay(suite.MoovTG, suite.Object{"amount": 1, "scenario": "maintenance"}), suite.Object{
		"commission": 0, "merchantShare": 0, "customerShare": 0, "commissionMode": "merchant",
	})
}

func amountsEveryOutcome(c *suite.Check) {
	c.NeedsTerms(suite.AirtelRW)
	for _, scenario := range scenarios {
		p := c.Pay(suite.AirtelRW, suite.Object{"amount": 777, "scenario": scenario.name})
		c.Fields("a payment with the scenario "+scenario.name, p, splitOf(suite.AirtelRW, 777).fields())
	}
}

func amountsLargest(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, amount := range []int64{1, suite.LargestAmount} {
		c.Fields("the payment", c.Pay(suite.MtnRW, suite.Object{"amount": amount, "scenario": "maintenance"}), suite.Object{"amount": amount})
	}
	for _, amount := range []int64{0, suite.LargestAmount + 1} {
		body := c.Collection(suite.MtnRW, suite.Object{"amount": amount, "scenario": "maintenance"})
		if a := c.Post("/payments", body); a.Status != http.StatusBadRequest {
			c.Problem("%s, want 400 for the amount %d", a, amount)
		}
	}
}
