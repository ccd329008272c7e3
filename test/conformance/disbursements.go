package main

import (
	"net/http"
	"net/url"
	"strings"
)

func disbursementRules() []rule {
	return []rule{
		{id: "disbursements/answer", check: disbursementsAnswer,
			text: "a disbursement is answered with 200 and an object in snake_case with its id, type, status, amount and balances"},
		{id: "disbursements/success", check: disbursementsSuccess,
			text: "a disbursement to an active test client ends SUCCESS at once, with every operator"},
		{id: "disbursements/blocked", check: disbursementsBlocked,
			text: "a disbursement to a blocked test client ends ACCOUNT_BLOCKED"},
		{id: "disbursements/unknown", check: disbursementsUnknown,
			text: "where unknown numbers are rejected, a disbursement to one ends UNKNOWN_MSISDN"},
		{id: "disbursements/passthrough", check: disbursementsPassthrough,
			text: "where unknown numbers are passed through, a disbursement to one ends SUCCESS, and recipient_balance_after is null"},
		{id: "disbursements/insufficient", check: disbursementsInsufficient,
			text: "a disbursement above the merchant's balance ends INSUFFICIENT_FUNDS"},
		{id: "disbursements/recipient-first", check: disbursementsRecipientFirst,
			text: "the recipient is looked at before the merchant's balance"},
		{id: "disbursements/other-currency", check: disbursementsOtherCurrency,
			text: "a test client counts as unknown in an environment of another currency"},
		{id: "disbursements/no-limit", check: disbursementsNoLimit,
			text: "the operator's limit is for collections only"},
		{id: "disbursements/no-scenario", check: disbursementsNoScenario,
			text: "a disbursement has no scenario: such a field is unknown, and ignored"},
		{id: "disbursements/retrieved", check: disbursementsRetrieved,
			text: "a disbursement can be retrieved as a transaction of type disbursement, without a commission"},
		{id: "disbursements/failed-retrieved", check: disbursementsFailedRetrieved,
			text: "a disbursement that failed can be retrieved with its status"},
		{id: "disbursements/listed", check: disbursementsListed,
			text: "a disbursement is listed among the transactions of type disbursement"},
		{id: "disbursements/as-sent", check: disbursementsAsSent,
			text: "a disbursement keeps what was sent, and inherits nothing"},
		{id: "disbursements/replay", check: disbursementsReplay,
			text: "the same disbursement again is answered with 200, idempotent true and the header, and moves nothing"},
		{id: "disbursements/conflict", check: disbursementsConflict,
			text: "a disbursement's reference with anything else in the request is 409 duplicate_reference"},
		{id: "disbursements/concurrent", check: disbursementsConcurrent,
			text: "32 disbursements with one reference at the same time make one, and all get it"},
		{id: "disbursements/generated-reference", check: disbursementsGeneratedReference,
			text: "a generated reference is CAURI-DIS-TS-CODE, each is another, and order_ref falls back to it"},
		{id: "disbursements/environment-not-found", check: disbursementsEnvironmentNotFound,
			text: "an operator and a country without an enabled environment are 404 env_not_found"},
		{id: "disbursements/unknown-store", check: disbursementsUnknownStore,
			text: "an application that is no store is 404 not_found, with a message that names it"},
		{id: "disbursements/currency", check: disbursementsCurrency,
			text: "the currency has to be the environment's, FCFA and CFA taken for XOF"},
		{id: "disbursements/no-detection", check: disbursementsNoDetection,
			text: "a disbursement has to say its operator and its country: they are not detected"},
	}
}

func disbursementsAnswer(c *check) {
	c.needsSIM(payer)
	c.fields("the answer", c.payout(mtnRW, object{"msisdn": payer.msisdn, "amount": 321}), object{
		"tx_id": matching(transactionID), "type": "disbursement", "status": "SUCCESS", "amount": 321,
		"merchant_balance_after": anyInteger, "recipient_balance_after": anyInteger,
		"idempotent": absentOr(expecting("false", func(v any) bool { return v == false })),
	})
}

func disbursementsSuccess(c *check) {
	for _, card := range []simCard{payer, airtelPayer, orangePayer, moovPayer} {
		c.needsSIM(card)
		c.fields("a disbursement by "+card.home.String(), c.payout(card.home, object{"msisdn": card.msisdn}), object{"status": "SUCCESS"})
	}
}

func disbursementsBlocked(c *check) {
	for _, card := range []simCard{blocked, airtelBlocked, orangeBlocked, moovBlocked} {
		c.needsSIM(card)
		made := c.payout(card.home, object{"msisdn": card.msisdn})
		c.fields("a disbursement by "+card.home.String(), made, object{"status": "ACCOUNT_BLOCKED", "amount": 1000, "type": "disbursement"})
	}
}

func disbursementsUnknown(c *check) {
	c.needs(mtnRW, airtelRW, moovBJ)
	for _, e := range []environment{mtnRW, airtelRW, moovBJ} {
		c.fields("a disbursement by "+e.String(), c.payout(e, nil), object{
			"status": "UNKNOWN_MSISDN", "recipient_balance_after": absentOr(nullOr(absent)),
		})
	}
}

func disbursementsPassthrough(c *check) {
	c.needs(orangeCI)
	c.fields("the answer", c.payout(orangeCI, nil), object{"status": "SUCCESS", "recipient_balance_after": nil, "merchant_balance_after": anyInteger})
}

func disbursementsInsufficient(c *check) {
	c.needsSIM(payer)
	c.fields("the answer", c.payout(mtnRW, object{"msisdn": payer.msisdn, "amount": largestAmount}), object{
		"status": "INSUFFICIENT_FUNDS", "amount": largestAmount, "type": "disbursement", "tx_id": matching(transactionID),
	})
}

func disbursementsRecipientFirst(c *check) {
	c.needsSIM(blocked)
	c.fields("to a blocked SIM", c.payout(mtnRW, object{"msisdn": blocked.msisdn, "amount": largestAmount}), object{"status": "ACCOUNT_BLOCKED"})
	c.fields("to an unknown number", c.payout(mtnRW, object{"amount": largestAmount}), object{"status": "UNKNOWN_MSISDN"})
}

func disbursementsOtherCurrency(c *check) {
	c.needsSIM(payer)
	c.needs(moovBJ)
	c.fields("to a SIM in RWF", c.payout(moovBJ, object{"msisdn": payer.msisdn}), object{"status": "UNKNOWN_MSISDN"})
}

func disbursementsNoLimit(c *check) {
	c.needsSIM(payer)
	c.fields("the answer", c.payout(mtnRW, object{"msisdn": payer.msisdn, "amount": mtnRW.maxAmount + 1}), object{"status": "SUCCESS"})
}

func disbursementsNoScenario(c *check) {
	c.needsSIM(payer)
	for _, scenario := range []any{"timeout", "nonsense", 5} {
		made := c.payout(mtnRW, object{"msisdn": payer.msisdn, "scenario": scenario})
		c.fields("the answer", made, object{"status": "SUCCESS"})
		c.fields("the transaction", c.fetch(textOf(made, "tx_id")), object{"scenario": nil})
	}
}

func disbursementsRetrieved(c *check) {
	for _, card := range []simCard{payer, airtelPayer, orangePayer, moovPayer} {
		c.needsSIM(card)
		c.needsTerms(card.home)
		made := c.payout(card.home, object{"msisdn": card.msisdn})
		c.fields("the transaction", c.fetch(textOf(made, "tx_id")), changed(payoutRepresentation("disbursement", 1000), object{
			"id": made["tx_id"], "status": "SUCCESS", "parentTxId": nil, "merchantAbsorptionPct": card.home.absorptionPct,
			"raw": object{"_simulated": true}, "latencyMs": latencyOf("SUCCESS"), "msisdn": card.msisdn,
		}))
	}
}

func disbursementsFailedRetrieved(c *check) {
	c.needsSIM(payer, blocked)
	for status, changes := range map[string]object{
		"ACCOUNT_BLOCKED": {"msisdn": blocked.msisdn}, "UNKNOWN_MSISDN": {}, "INSUFFICIENT_FUNDS": {"msisdn": payer.msisdn, "amount": largestAmount},
	} {
		made := c.payout(mtnRW, changes)
		amount, _ := integerOf(made["amount"])
		c.fields("the transaction", c.fetch(textOf(made, "tx_id")), changed(payoutRepresentation("disbursement", amount), object{
			"id": made["tx_id"], "status": status, "latencyMs": latencyOf(status), "raw": object{"_simulated": true},
		}))
	}
}

func disbursementsListed(c *check) {
	c.needsSIM(payer)
	reference := c.reference()
	made := c.payout(mtnRW, object{"msisdn": payer.msisdn, "reference": reference})
	c.lists(url.Values{"type": {"disbursement"}, "reference": {reference}}, []object{{"id": made["tx_id"]}})
	c.lists(url.Values{"type": {"collection"}, "reference": {reference}}, nil)
}

func disbursementsAsSent(c *check) {
	c.needsSIM(orangePayer)
	c.needsStore(kiosk)
	sent := c.disbursement(orangeCI, object{
		"msisdn": orangePayer.msisdn, "currency": "CFA", "application": kiosk, "order_ref": "order-" + c.unique(),
		"order_url": "https://shop.example/9", "is_url_protected": true, "description": "prize",
	})
	made := c.expect(c.post("/disbursements", sent), http.StatusOK)
	c.fields("the transaction", c.fetch(textOf(made, "tx_id")), object{
		"reference": sent["reference"], "currency": "CFA", "operator": "orange", "country": "CI", "application": kiosk, "orderRef": sent["order_ref"],
		"orderUrl": sent["order_url"], "isUrlProtected": true, "description": "prize", "parentTxId": nil,
	})
	plain := c.fetch(textOf(c.payout(orangeCI, object{"msisdn": orangePayer.msisdn}), "tx_id"))
	c.fields("one without all that", plain, object{"orderRef": plain["reference"], "orderUrl": nil, "isUrlProtected": false, "description": nil})
}

func disbursementsReplay(c *check) {
	c.needsSIM(payer, blocked)
	for _, changes := range []object{{"msisdn": payer.msisdn}, {"msisdn": blocked.msisdn}, {}} {
		body := c.disbursement(mtnRW, changes)
		first := c.expect(c.post("/disbursements", body), http.StatusOK)
		a := c.post("/disbursements", body)
		c.fields("the replay", c.expect(a, http.StatusOK), object{
			"tx_id": first["tx_id"], "status": first["status"], "amount": first["amount"], "type": "disbursement", "idempotent": true,
		})
		if got := a.header.Get("Idempotent-Replayed"); got != "true" {
			c.problem("%s with Idempotent-Replayed %q, want true", a, got)
		}
		if found := c.recorded(body["reference"]); len(found) != 1 {
			c.problem("%d transactions have the reference, want 1", len(found))
		}
	}
}

func disbursementsConflict(c *check) {
	c.needsSIM(payer)
	body := c.disbursement(mtnRW, object{"msisdn": payer.msisdn})
	c.expect(c.post("/disbursements", body), http.StatusOK)
	for field, value := range map[string]any{
		"amount": 1001, "msisdn": "+250788999998", "application": kiosk, "order_ref": "another", "order_url": "https://shop.example",
		"is_url_protected": true, "description": "another",
	} {
		c.conflicts(c.post("/disbursements", changed(body, object{field: value})))
	}
}

func disbursementsConcurrent(c *check) {
	c.needsSIM(payer)
	body := c.disbursement(mtnRW, object{"msisdn": payer.msisdn})
	c.oneTransaction("/disbursements", body, "tx_id", http.StatusOK)
}

func disbursementsGeneratedReference(c *check) {
	c.needsSIM(payer)
	seen := map[any]bool{}
	for range 3 {
		made := c.payout(mtnRW, object{"msisdn": payer.msisdn, "reference": leftOut{}})
		transaction := c.fetch(textOf(made, "tx_id"))
		c.generated(transaction, "CAURI", "DIS")
		c.fields("the transaction", transaction, object{"orderRef": transaction["reference"]})
		if seen[transaction["reference"]] {
			c.problem("the reference %v was generated twice", transaction["reference"])
		}
		seen[transaction["reference"]] = true
	}
}

func disbursementsEnvironmentNotFound(c *check) {
	c.needs(mtnRW, orangeCI)
	for _, changes := range []object{{"operator": "orange"}, {"operator": "moov"}, {"country": "TG", "currency": "XOF"}, {"operator": "mtn", "country": "CI", "currency": "XOF"}} {
		c.refused(c.post("/disbursements", c.disbursement(mtnRW, changes)), http.StatusNotFound, "env_not_found")
	}
}

func disbursementsUnknownStore(c *check) {
	c.needs(mtnRW)
	slug := "no-" + strings.ToLower(c.unique())
	a := c.post("/disbursements", c.disbursement(mtnRW, object{"application": slug}))
	c.refused(a, http.StatusNotFound, "not_found")
	if o := c.objectOf(a); !strings.Contains(textOf(o, "message"), slug) {
		c.problem("%s, whose message does not name %s", a, slug)
	}
}

func disbursementsCurrency(c *check) {
	c.needsSIM(payer, orangePayer)
	for _, alias := range []string{"XOF", "FCFA", "CFA"} {
		c.fields("in "+alias, c.payout(orangeCI, object{"msisdn": orangePayer.msisdn, "currency": alias}), object{"status": "SUCCESS"})
	}
	for _, wrong := range []string{"XOF", "CFA", "USD"} {
		c.fieldsRefused(c.post("/disbursements", c.disbursement(mtnRW, object{"msisdn": payer.msisdn, "currency": wrong})), "currency")
	}
}

func disbursementsNoDetection(c *check) {
	c.needsSIM(payer)
	a := c.post("/disbursements", c.disbursement(mtnRW, object{"msisdn": payer.msisdn, "operator": leftOut{}, "country": leftOut{}}))
	c.fieldsRefused(a, "operator", "country")
}
