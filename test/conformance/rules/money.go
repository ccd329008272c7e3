package rules

import (
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// moneyRules measure balances. They run alone, on SIMs that no other rule uses.
func moneyRules() []suite.Rule {
	return []suite.Rule{
		{ID: "money/disbursement", Alone: true, Check: moneyDisbursement,
			Text: "a disbursement takes its amount from the merchant and gives it to the recipient"},
		{ID: "money/collection", Alone: true, Check: moneyCollection,
			Text: "a settled payment takes the customer's total from the payer and gives the net amount to the merchant"},
		{ID: "money/forced-success", Alone: true, Check: moneyForcedSuccess,
			Text: "a forced success moves the same money as an approved payment"},
		{ID: "money/unregistered-payer", Alone: true, Check: moneyUnregisteredPayer,
			Text: "a forced success of an unknown number gives the merchant the net amount"},
		{ID: "money/payer-who-cannot", Alone: true, Check: moneyPayerWhoCannot,
			Text: "a forced success above the payer's balance gives the merchant the net amount and does not change the payer's balance"},
		{ID: "money/refund", Alone: true, Check: moneyRefund,
			Text: "a refund takes its amount from the merchant and gives it to the customer, without the commission"},
		{ID: "money/failures", Alone: true, Check: moneyFailures,
			Text: "a failed transaction moves no money"},
		{ID: "money/pending", Alone: true, Check: moneyPending,
			Text: "a PENDING payment moves no money and reserves none"},
		{ID: "money/replay", Alone: true, Check: moneyReplay,
			Text: "a replay moves no money"},
	}
}

// balances are the balances of the merchant, in a SIM's currency, and of the SIM.
type balances struct{ merchant, sim int64 }

func (b balances) less(a balances) balances { return balances{b.merchant - a.merchant, b.sim - a.sim} }

// probe is the amount of the disbursements that measure balances: only their answers contain balances.
const probe = 1

// measure returns the balances after the measurement.
func measure(c *suite.Check, card suite.SimCard) balances {
	made := c.Disburse(card.Home, suite.Object{"msisdn": card.MSISDN, "amount": probe})
	c.Fields("the disbursement that measures", made, suite.Object{"status": "SUCCESS"})
	merchant, known := suite.IntegerOf(made["merchant_balance_after"])
	sim, alsoKnown := suite.IntegerOf(made["recipient_balance_after"])
	if !known || !alsoKnown {
		c.Fail("a disbursement was answered without both balances: %s", suite.Show(made, true))
	}
	return balances{merchant, sim}
}

// attempts is the number of measurements of a movement. A payment of an earlier rule may settle during a measurement.
const attempts = 3

// moves records a problem unless an action moves the money.
func moves(c *suite.Check, card suite.SimCard, want balances, do func()) {
	c.NeedsTerms(card.Home)
	var got balances
	for range attempts {
		before := measure(c, card)
		do()
		got = measure(c, card).less(before)
		got.merchant += probe
		got.sim -= probe
		if got == want {
			return
		}
		c.Pause(2 * time.Second)
	}
	c.Problem("the merchant's balance changed by %d and the SIM's by %d, want %d and %d", got.merchant, got.sim, want.merchant, want.sim)
}

// At Airtel, the commission of 1001 is 33. The merchant pays 17 and the customer 16.
const (
	moneyAmount = 1001
	moneyNet    = 984
	moneyTotal  = 1017
)

func moneyDisbursement(c *suite.Check) {
	c.NeedsSIM(suite.AirtelPurse)
	moves(c, suite.AirtelPurse, balances{-500, 500}, func() {
		c.Fields(
			"the disbursement",
			c.Disburse(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": 500}),
			suite.Object{"status": "SUCCESS"},
		)
	})
}

func moneyCollection(c *suite.Check) {
	c.NeedsSIM(suite.AirtelPurse)
	moves(c, suite.AirtelPurse, balances{moneyNet, -moneyTotal}, func() {
		p := c.Settled(c.Pay(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": moneyAmount}))
		c.Fields("the payment", p, suite.Object{"status": "SUCCESS"})
	})
}

func moneyForcedSuccess(c *suite.Check) {
	c.NeedsSIM(suite.AirtelPurse)
	moves(c, suite.AirtelPurse, balances{moneyNet, -moneyTotal}, func() {
		c.Paid(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": moneyAmount})
	})
}

func moneyUnregisteredPayer(c *suite.Check) {
	c.NeedsSIM(suite.AirtelPurse)
	moves(c, suite.AirtelPurse, balances{moneyNet, 0}, func() { c.Paid(suite.AirtelRW, suite.Object{"amount": moneyAmount}) })
}

func moneyPayerWhoCannot(c *suite.Check) {
	c.NeedsSIM(suite.Poor)
	moves(
		c,
		suite.Poor,
		balances{985_000, 0},
		func() { c.Paid(suite.MtnRW, suite.Object{"msisdn": suite.Poor.MSISDN, "amount": suite.PoorsLimit}) },
	)
}

func moneyRefund(c *suite.Check) {
	c.NeedsSIM(suite.AirtelPurse)
	moves(c, suite.AirtelPurse, balances{moneyNet - moneyAmount, moneyAmount - moneyTotal}, func() {
		p := c.Paid(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": moneyAmount})
		c.Fields("the refund", c.Refund(p, nil), suite.Object{"status": "SUCCESS"})
	})
}

func moneyFailures(c *suite.Check) {
	c.NeedsSIM(suite.AirtelPurse, suite.AirtelBlocked)
	moves(c, suite.AirtelPurse, balances{}, func() {
		for _, s := range scenarios[1:] {
			c.Pay(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "scenario": s.name})
		}
		c.Disburse(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "amount": suite.LargestAmount})
		c.Disburse(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelBlocked.MSISDN})
		c.Disburse(suite.AirtelRW, nil)
	})
}

func moneyPending(c *suite.Check) {
	c.NeedsSIM(suite.Ignores)
	moves(c, suite.Ignores, balances{}, func() {
		p := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Ignores.MSISDN})
		c.Fields("the payment", p, suite.Object{"status": "PENDING"})
	})
}

func moneyReplay(c *suite.Check) {
	c.NeedsSIM(suite.AirtelPurse)
	payment := c.Collection(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN, "scenario": "success"})
	parent := c.Expect(c.Post("/payments", payment), http.StatusCreated)
	payout := c.Disbursement(suite.AirtelRW, suite.Object{"msisdn": suite.AirtelPurse.MSISDN})
	refund := suite.Object{"amount": 10, "reference": c.Reference()}
	payoutOf(c, payout)
	c.Refund(parent, refund)
	moves(c, suite.AirtelPurse, balances{}, func() {
		replayed(c, c.Post("/payments", payment), parent)
		payoutOf(c, payout)
		c.Expect(c.Post(suite.RefundPath(parent), refund), http.StatusOK)
	})
}

// payoutOf sends the body of a disbursement.
func payoutOf(c *suite.Check, body suite.Object) suite.Object {
	return c.Expect(c.Post("/disbursements", body), http.StatusOK)
}
