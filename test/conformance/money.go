package main

import (
	"net/http"
	"time"
)

// moneyRules measure balances. They run alone, on SIMs that no other rule uses.
func moneyRules() []rule {
	return []rule{
		{id: "money/disbursement", alone: true, check: moneyDisbursement,
			text: "a disbursement takes its amount from the merchant and gives it to the recipient"},
		{id: "money/collection", alone: true, check: moneyCollection,
			text: "a settled payment takes the customer's total from the payer and gives the net amount to the merchant"},
		{id: "money/forced-success", alone: true, check: moneyForcedSuccess,
			text: "a forced success moves the same money as a payment that was approved"},
		{id: "money/unregistered-payer", alone: true, check: moneyUnregisteredPayer,
			text: "a forced success of an unknown number gives the merchant the net amount"},
		{id: "money/payer-who-cannot", alone: true, check: moneyPayerWhoCannot,
			text: "a forced success above the payer's balance gives the merchant the net amount and leaves the payer's balance alone"},
		{id: "money/refund", alone: true, check: moneyRefund,
			text: "a refund takes its amount from the merchant and gives it to the customer, and the commission is not given back"},
		{id: "money/failures", alone: true, check: moneyFailures,
			text: "what does not succeed moves no money"},
		{id: "money/pending", alone: true, check: moneyPending,
			text: "a PENDING payment moves no money and reserves none"},
		{id: "money/replay", alone: true, check: moneyReplay,
			text: "a replay moves no money"},
	}
}

// balances are the merchant's, in a SIM's currency, and the SIM's.
type balances struct{ merchant, sim int64 }

func (b balances) less(a balances) balances { return balances{b.merchant - a.merchant, b.sim - a.sim} }

// probe is the amount of the disbursements that balances are measured with: only their answers tell balances.
const probe = 1

// measure returns the balances after the measurement.
func (c *check) measure(card simCard) balances {
	made := c.payout(card.home, object{"msisdn": card.msisdn, "amount": probe})
	c.fields("the disbursement that measures", made, object{"status": "SUCCESS"})
	merchant, known := integerOf(made["merchant_balance_after"])
	sim, alsoKnown := integerOf(made["recipient_balance_after"])
	if !known || !alsoKnown {
		c.fail("a disbursement was answered without both balances: %s", show(made, true))
	}
	return balances{merchant, sim}
}

// attempts is how often a movement is measured. A payment of a rule before may still settle during a measurement.
const attempts = 3

// moves notes a problem unless what is done moves the money.
func (c *check) moves(card simCard, want balances, do func()) {
	c.needsTerms(card.home)
	var got balances
	for range attempts {
		before := c.measure(card)
		do()
		got = c.measure(card).less(before)
		got.merchant += probe
		got.sim -= probe
		if got == want {
			return
		}
		c.pause(2 * time.Second)
	}
	c.problem("the merchant's balance changed by %d and the SIM's by %d, want %d and %d", got.merchant, got.sim, want.merchant, want.sim)
}

// Of an amount of 1001 at Airtel the commission is 33; the merchant bears 17 and the customer 16.
const (
	moneyAmount = 1001
	moneyNet    = 984
	moneyTotal  = 1017
)

func moneyDisbursement(c *check) {
	c.needsSIM(airtelPurse)
	c.moves(airtelPurse, balances{-500, 500}, func() {
		c.fields("the disbursement", c.payout(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": 500}), object{"status": "SUCCESS"})
	})
}

func moneyCollection(c *check) {
	c.needsSIM(airtelPurse)
	c.moves(airtelPurse, balances{moneyNet, -moneyTotal}, func() {
		p := c.settled(c.pay(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": moneyAmount}))
		c.fields("the payment", p, object{"status": "SUCCESS"})
	})
}

func moneyForcedSuccess(c *check) {
	c.needsSIM(airtelPurse)
	c.moves(airtelPurse, balances{moneyNet, -moneyTotal}, func() {
		c.paid(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": moneyAmount})
	})
}

func moneyUnregisteredPayer(c *check) {
	c.needsSIM(airtelPurse)
	c.moves(airtelPurse, balances{moneyNet, 0}, func() { c.paid(airtelRW, object{"amount": moneyAmount}) })
}

func moneyPayerWhoCannot(c *check) {
	c.needsSIM(poor)
	c.moves(poor, balances{985_000, 0}, func() { c.paid(mtnRW, object{"msisdn": poor.msisdn, "amount": poorsLimit}) })
}

func moneyRefund(c *check) {
	c.needsSIM(airtelPurse)
	c.moves(airtelPurse, balances{moneyNet - moneyAmount, moneyAmount - moneyTotal}, func() {
		p := c.paid(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": moneyAmount})
		c.fields("the refund", c.refund(p, nil), object{"status": "SUCCESS"})
	})
}

func moneyFailures(c *check) {
	c.needsSIM(airtelPurse, airtelBlocked)
	c.moves(airtelPurse, balances{}, func() {
		for _, s := range scenarios[1:] {
			c.pay(airtelRW, object{"msisdn": airtelPurse.msisdn, "scenario": s.name})
		}
		c.payout(airtelRW, object{"msisdn": airtelPurse.msisdn, "amount": largestAmount})
		c.payout(airtelRW, object{"msisdn": airtelBlocked.msisdn})
		c.payout(airtelRW, nil)
	})
}

func moneyPending(c *check) {
	c.needsSIM(ignores)
	c.moves(ignores, balances{}, func() {
		p := c.pay(mtnRW, object{"msisdn": ignores.msisdn})
		c.fields("the payment", p, object{"status": "PENDING"})
	})
}

func moneyReplay(c *check) {
	c.needsSIM(airtelPurse)
	payment := c.collection(airtelRW, object{"msisdn": airtelPurse.msisdn, "scenario": "success"})
	parent := c.expect(c.post("/payments", payment), http.StatusCreated)
	payout := c.disbursement(airtelRW, object{"msisdn": airtelPurse.msisdn})
	refund := object{"amount": 10, "reference": c.reference()}
	c.payoutOf(payout)
	c.refund(parent, refund)
	c.moves(airtelPurse, balances{}, func() {
		c.replayed(c.post("/payments", payment), parent)
		c.payoutOf(payout)
		c.expect(c.post(refundPath(parent), refund), http.StatusOK)
	})
}

// payoutOf sends a disbursement's body.
func (c *check) payoutOf(body object) object {
	return c.expect(c.post("/disbursements", body), http.StatusOK)
}
