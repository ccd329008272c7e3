package main

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strings"
)

func amountRules() []rule {
	var rules []rule
	for _, e := range environments {
		name := strings.ToLower(e.operator + "-" + e.country)
		terms := fmt.Sprintf("at %d basis points, of which the merchant bears %d %%", e.commissionBPS, e.absorptionPct)
		rules = append(rules, rule{id: "amounts/split-" + name, check: func(c *check) { c.splits(e, oddAmounts()) },
			text: "commission and shares are right for odd amounts " + terms})
		if halves := halfAmounts(e); len(halves) > 0 {
			rules = append(rules, rule{id: "amounts/halves-" + name, check: func(c *check) { c.splits(e, halves) },
				text: "a half of the commission or of the merchant's share rounds up " + terms})
		}
	}
	return append(rules,
		rule{id: "amounts/configured", check: amountsConfigured,
			text: "each environment has the rate and the absorption that sandbox.yaml gives it"},
		rule{id: "amounts/merchant-absorbs", check: amountsMerchantAbsorbs,
			text: "where the merchant bears all, the customer pays the amount and the merchant gets it less the commission"},
		rule{id: "amounts/customer-bears", check: amountsCustomerBears,
			text: "where the customer bears all, the merchant gets the amount and the customer pays the commission on top"},
		rule{id: "amounts/mode-tie", check: amountsModeTie,
			text: "commissionMode is merchant where both bear the same"},
		rule{id: "amounts/every-outcome", check: amountsEveryOutcome,
			text: "a payment's split is the same whatever its outcome"},
		rule{id: "amounts/largest", check: amountsLargest,
			text: "amounts go from 1 to 10^12"})
}

// split is an amount's commission and who bears it, as the specification defines them.
type split struct{ commission, merchantShare, customerShare, net, total *big.Int }

// splitOf computes with integers of any size, so that it cannot have an overflow in common with an implementation.
func splitOf(e environment, amount int64) split {
	gross := big.NewInt(amount)
	commission := halfUp(new(big.Int).Mul(gross, big.NewInt(e.commissionBPS)), 10_000)
	merchant := halfUp(new(big.Int).Mul(commission, big.NewInt(e.absorptionPct)), 100)
	net := new(big.Int).Sub(gross, merchant)
	return split{
		commission:    commission,
		merchantShare: merchant,
		customerShare: new(big.Int).Sub(commission, merchant),
		net:           net,
		total:         new(big.Int).Add(net, commission),
	}
}

// halfUp divides and rounds to the nearest integer, and a half up.
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

func (s split) fields() object {
	return object{
		"commission": s.commission.Int64(), "merchantShare": s.merchantShare.Int64(), "customerShare": s.customerShare.Int64(),
		"netAmount": s.net.Int64(), "customerTotal": s.total.Int64(), "commissionMode": s.mode(),
	}
}

// oddAmounts are small, large, round and crooked ones, and some that no one has chosen.
func oddAmounts() []int64 {
	amounts := []int64{
		1, 2, 3, 7, 11, 13, 29, 33, 34, 49, 50, 51, 66, 67, 97, 99, 100, 101, 149, 150, 151, 199, 333, 334, 499, 500, 501, 997, 999, 1001,
		9_999, 10_001, 12_345, 99_999, 123_457, 1_999_999, 2_000_001, 987_654_321, 123_456_789_011, 999_999_999_999, largestAmount,
	}
	for range 10 {
		amounts = append(amounts, 1+rand.Int64N(1_000_000))
	}
	return amounts
}

// halfAmounts are the smallest amounts at which the commission, and those at which the merchant's share of it, is exactly a
// half above an integer. Not every rate has such amounts.
func halfAmounts(e environment) []int64 {
	var ofCommission, ofShare []int64
	for amount := int64(1); amount <= 100_000; amount++ {
		if len(ofCommission) < 8 && amount*e.commissionBPS%10_000 == 5_000 {
			ofCommission = append(ofCommission, amount)
		}
		commission := splitOf(e, amount).commission.Int64()
		if len(ofShare) < 8 && commission*e.absorptionPct%100 == 50 {
			ofShare = append(ofShare, amount)
		}
	}
	return append(ofCommission, ofShare...)
}

// splits compares the splits of payments that move no money.
func (c *check) splits(e environment, amounts []int64) {
	c.needsTerms(e)
	for _, amount := range amounts {
		p := c.pay(e, object{"amount": amount, "scenario": "maintenance"})
		want := changed(splitOf(e, amount).fields(), object{"amount": amount, "merchantAbsorptionPct": e.absorptionPct})
		c.fields(fmt.Sprintf("a payment of %d", amount), p, want)
	}
}

func amountsConfigured(c *check) {
	for _, e := range c.available(environments) {
		p := c.pay(e, object{"amount": roundAmount, "scenario": "maintenance"})
		c.fields(fmt.Sprintf("a payment of %d by %s", roundAmount, e), p, object{"commission": e.commissionBPS, "merchantAbsorptionPct": e.absorptionPct})
	}
}

func amountsMerchantAbsorbs(c *check) {
	c.needsTerms(mtnRW)
	c.fields("the payment", c.paid(mtnRW, object{"amount": 10_000}), object{
		"commission": 150, "customerTotal": 10_000, "netAmount": 9_850, "merchantShare": 150, "customerShare": 0, "commissionMode": "merchant",
	})
}

func amountsCustomerBears(c *check) {
	c.needsTerms(orangeCI)
	c.fields("the payment", c.paid(orangeCI, object{"amount": 10_000}), object{
		"commission": 275, "customerTotal": 10_275, "netAmount": 10_000, "merchantShare": 0, "customerShare": 275, "commissionMode": "customer",
	})
}

func amountsModeTie(c *check) {
	c.needsTerms(airtelRW, moovTG)
	c.fields("a commission of 333", c.pay(airtelRW, object{"amount": 10_000, "scenario": "maintenance"}), object{
		"commission": 333, "merchantShare": 167, "customerShare": 166, "commissionMode": "merchant",
	})
	c.fields("a commission of 332", c.pay(airtelRW, object{"amount": 9_970, "scenario": "maintenance"}), object{
		"commission": 332, "merchantShare": 166, "customerShare": 166, "commissionMode": "merchant",
	})
	c.fields("no commission", c.pay(moovTG, object{"amount": 1, "scenario": "maintenance"}), object{
		"commission": 0, "merchantShare": 0, "customerShare": 0, "commissionMode": "merchant",
	})
}

func amountsEveryOutcome(c *check) {
	c.needsTerms(airtelRW)
	for _, scenario := range scenarios {
		p := c.pay(airtelRW, object{"amount": 777, "scenario": scenario.name})
		c.fields("a payment with the scenario "+scenario.name, p, splitOf(airtelRW, 777).fields())
	}
}

func amountsLargest(c *check) {
	c.needs(mtnRW)
	for _, amount := range []int64{1, largestAmount} {
		c.fields("the payment", c.pay(mtnRW, object{"amount": amount, "scenario": "maintenance"}), object{"amount": amount})
	}
	for _, amount := range []int64{0, largestAmount + 1} {
		body := c.collection(mtnRW, object{"amount": amount, "scenario": "maintenance"})
		if a := c.post("/payments", body); a.status != http.StatusBadRequest {
			c.problem("%s, want 400 for the amount %d", a, amount)
		}
	}
}
