package rules

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func disbursementRules() []suite.Rule {
	return []suite.Rule{
		{ID: "disbursements/answer", Check: disbursementsAnswer,
			Text: "a disbursement is answered with 200 and an object in snake_case with its id, type, status, amount and balances"},
		{ID: "disbursements/success", Check: disbursementsSuccess,
			Text: "a disbursement to an active test client ends SUCCESS at once, with every operator"},
		{ID: "disbursements/blocked", Check: disbursementsBlocked,
			Text: "a disbursement to a blocked test client ends ACCOUNT_BLOCKED"},
		{ID: "disbursements/unknown", Check: disbursementsUnknown,
			Text: "if unknown numbers are rejected, a disbursement to one ends UNKNOWN_MSISDN"},
		{ID: "disbursements/passthrough", Check: disbursementsPassthrough,
			Text: "if unknown numbers are passed through, a disbursement to one ends SUCCESS, and recipient_balance_after is null"},
		{ID: "disbursements/insufficient", Check: disbursementsInsufficient,
			Text: "a disbursement above the merchant's balance ends INSUFFICIENT_FUNDS"},
		{ID: "disbursements/recipient-first", Check: disbursementsRecipientFirst,
			Text: "the recipient is checked before the merchant's balance"},
		{ID: "disbursements/other-currency", Check: disbursementsOtherCurrency,
			Text: "a test client counts as unknown in an environment of another currency"},
		{ID: "disbursements/no-limit", Check: disbursementsNoLimit,
			Text: "the operator's limit applies only to collections"},
		{ID: "disbursements/no-scenario", Check: disbursementsNoScenario,
			Text: "a disbursement has no scenario: the field is ignored"},
		{ID: "disbursements/retrieved", Check: disbursementsRetrieved,
			Text: "a disbursement can be retrieved as a transaction of type disbursement, without a commission"},
		{ID: "disbursements/failed-retrieved", Check: disbursementsFailedRetrieved,
			Text: "a disbursement that failed can be retrieved with its status"},
		{ID: "disbursements/listed", Check: disbursementsListed,
			Text: "a disbursement is listed among the transactions of type disbursement"},
		{ID: "disbursements/as-sent", Check: disbursementsAsSent,
			Text: "a disbursement keeps the fields of the request, and inherits nothing"},
		{ID: "disbursements/replay", Check: disbursementsReplay,
			Text: "the same disbursement again is answered with 200, idempotent true and the header, and moves nothing"},
		{ID: "disbursements/conflict", Check: disbursementsConflict,
			Text: "a disbursement's reference with anything else in the request is 409 duplicate_reference"},
		{ID: "disbursements/concurrent", Check: disbursementsConcurrent,
			Text: "of 32 concurrent disbursements with one reference one is made, and all answers show it"},
		{ID: "disbursements/generated-reference", Check: disbursementsGeneratedReference,
			Text: "a generated reference is CAURI-DIS-TS-CODE and unique, and order_ref falls back to it"},
		{ID: "disbursements/environment-not-found", Check: disbursementsEnvironmentNotFound,
			Text: "an operator and a country without an enabled environment are 404 env_not_found"},
		{ID: "disbursements/unknown-store", Check: disbursementsUnknownStore,
			Text: "an application that is not a store is 404 not_found, with a message that names it"},
		{ID: "disbursements/currency", Check: disbursementsCurrency,
			Text: "the currency must be the environment's, and FCFA and CFA mean XOF"},
		{ID: "disbursements/no-detection", Check: disbursementsNoDetection,
			Text: "a disbursement must name its operator and its country: they are not detected"},
	}
}

func disbursementsAnswer(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	c.Fields("the answer", c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "amount": 321}), suite.Object{
		"tx_id": suite.Matching(transactionID), "type": "disbursement", "status": "SUCCESS", "amount": 321,
		"merchant_balance_after": suite.AnyInteger, "recipient_balance_after": suite.AnyInteger,
		"idempotent": suite.AbsentOr(suite.Expecting("false", func(v any) bool { return v == false })),
	})
}

func disbursementsSuccess(c *suite.Check) {
	for _, card := range []suite.SimCard{suite.Payer, suite.AirtelPayer, suite.OrangePayer, suite.MoovPayer} {
		c.NeedsSIM(card)
		c.Fields(
			"a disbursement by "+card.Home.String(),
			c.Disburse(card.Home, suite.Object{"msisdn": card.MSISDN}),
			suite.Object{"status": "SUCCESS"},
		)
	}
}

func disbursementsBlocked(c *suite.Check) {
	for _, card := range []suite.SimCard{suite.Blocked, suite.AirtelBlocked, suite.OrangeBlocked, suite.MoovBlocked} {
		c.NeedsSIM(card)
		made := c.Disburse(card.Home, suite.Object{"msisdn": card.MSISDN})
		c.Fields("a disbursement by "+card.Home.String(), made, suite.Object{"status": "ACCOUNT_BLOCKED", "amount": 1000, "type": "disbursement"})
	}
}

func disbursementsUnknown(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.AirtelRW, suite.MoovBJ)
	for _, e := range []suite.Environment{suite.MtnRW, suite.AirtelRW, suite.MoovBJ} {
		c.Fields("a disbursement by "+e.String(), c.Disburse(e, nil), suite.Object{
			"status": "UNKNOWN_MSISDN", "recipient_balance_after": suite.AbsentOr(suite.NullOr(suite.Absent)),
		})
	}
}

func disbursementsPassthrough(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	c.Fields(
		"the answer",
		c.Disburse(suite.OrangeCI, nil),
		suite.Object{"status": "SUCCESS", "recipient_balance_after": nil, "merchant_balance_after": suite.AnyInteger},
	)
}

func disbursementsInsufficient(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	c.Fields("the answer", c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "amount": suite.LargestAmount}), suite.Object{
		"status": "INSUFFICIENT_FUNDS", "amount": suite.LargestAmount, "type": "disbursement", "tx_id": suite.Matching(transactionID),
	})
}

func disbursementsRecipientFirst(c *suite.Check) {
	c.NeedsSIM(suite.Blocked)
	c.Fields(
		"to a blocked SIM",
		c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Blocked.MSISDN, "amount": suite.LargestAmount}),
		suite.Object{"status": "ACCOUNT_BLOCKED"},
	)
	c.Fields(
		"to an unknown number",
		c.Disburse(suite.MtnRW, suite.Object{"amount": suite.LargestAmount}),
		suite.Object{"status": "UNKNOWN_MSISDN"},
	)
}

func disbursementsOtherCurrency(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	c.Needs(suite.MoovBJ)
	c.Fields("to a SIM in RWF", c.Disburse(suite.MoovBJ, suite.Object{"msisdn": suite.Payer.MSISDN}), suite.Object{"status": "UNKNOWN_MSISDN"})
}

func disbursementsNoLimit(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	c.Fields(
		"the answer",
		c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "amount": suite.MtnRW.MaxAmount + 1}),
		suite.Object{"status": "SUCCESS"},
	)
}

func disbursementsNoScenario(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	for _, scenario := range []any{"timeout", "nonsense", 5} {
		made := c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "scenario": scenario})
		c.Fields("the answer", made, suite.Object{"status": "SUCCESS"})
		c.Fields("the transaction", c.Fetch(suite.TextOf(made, "tx_id")), suite.Object{"scenario": nil})
	}
}

func disbursementsRetrieved(c *suite.Check) {
	for _, card := range []suite.SimCard{suite.Payer, suite.AirtelPayer, suite.OrangePayer, suite.MoovPayer} {
		c.NeedsSIM(card)
		c.NeedsTerms(card.Home)
		made := c.Disburse(card.Home, suite.Object{"msisdn": card.MSISDN})
		c.Fields("the transaction", c.Fetch(suite.TextOf(made, "tx_id")), suite.Changed(payoutRepresentation("disbursement", 1000), suite.Object{
			"id": made["tx_id"], "status": "SUCCESS", "parentTxId": nil, "merchantAbsorptionPct": card.Home.AbsorptionPct,
			"raw": suite.Object{"_simulated": true}, "latencyMs": latencyOf("SUCCESS"), "msisdn": card.MSISDN,
		}))
	}
}

func disbursementsFailedRetrieved(c *suite.Check) {
	c.NeedsSIM(suite.Payer, suite.Blocked)
	for status, changes := range map[string]suite.Object{
		"ACCOUNT_BLOCKED": {"msisdn": suite.Blocked.MSISDN}, "UNKNOWN_MSISDN": {}, "INSUFFICIENT_FUNDS": {"msisdn": suite.Payer.MSISDN, "amount": suite.LargestAmount},
	} {
		made := c.Disburse(suite.MtnRW, changes)
		amount, _ := suite.IntegerOf(made["amount"])
		c.Fields(
			"the transaction",
			c.Fetch(suite.TextOf(made, "tx_id")),
			suite.Changed(payoutRepresentation("disbursement", amount), suite.Object{
				"id": made["tx_id"], "status": status, "latencyMs": latencyOf(status), "raw": suite.Object{"_simulated": true},
			}),
		)
	}
}

func disbursementsListed(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	reference := c.Reference()
	made := c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "reference": reference})
	lists(c, url.Values{"type": {"disbursement"}, "reference": {reference}}, []suite.Object{{"id": made["tx_id"]}})
	lists(c, url.Values{"type": {"collection"}, "reference": {reference}}, nil)
}

func disbursementsAsSent(c *suite.Check) {
	c.NeedsSIM(suite.OrangePayer)
	c.NeedsStore(suite.Kiosk)
	sent := c.Disbursement(suite.OrangeCI, suite.Object{
		"msisdn": suite.OrangePayer.MSISDN, "currency": "CFA", "application": suite.Kiosk, "order_ref": "order-" + c.Unique(),
		"order_url": "https://shop.example/9", "is_url_protected": true, "description": "prize",
	})
	made := c.Expect(c.Post("/disbursements", sent), http.StatusOK)
	c.Fields("the transaction", c.Fetch(suite.TextOf(made, "tx_id")), suite.Object{
		"reference":      sent["reference"],
		"currency":       "CFA",
		"operator":       "orange",
		"country":        "CI",
		"application":    suite.Kiosk,
		"orderRef":       sent["order_ref"],
		"orderUrl":       sent["order_url"],
		"isUrlProtected": true,
		"description":    "prize",
		"parentTxId":     nil,
	})
	plain := c.Fetch(suite.TextOf(c.Disburse(suite.OrangeCI, suite.Object{"msisdn": suite.OrangePayer.MSISDN}), "tx_id"))
	c.Fields(
		"one without all that",
		plain,
		suite.Object{"orderRef": plain["reference"], "orderUrl": nil, "isUrlProtected": false, "description": nil},
	)
}

func disbursementsReplay(c *suite.Check) {
	c.NeedsSIM(suite.Payer, suite.Blocked)
	for _, changes := range []suite.Object{{"msisdn": suite.Payer.MSISDN}, {"msisdn": suite.Blocked.MSISDN}, {}} {
		body := c.Disbursement(suite.MtnRW, changes)
		first := c.Expect(c.Post("/disbursements", body), http.StatusOK)
		a := c.Post("/disbursements", body)
		c.Fields("the replay", c.Expect(a, http.StatusOK), suite.Object{
			"tx_id": first["tx_id"], "status": first["status"], "amount": first["amount"], "type": "disbursement", "idempotent": true,
		})
		if got := a.Header.Get("Idempotent-Replayed"); got != "true" {
			c.Problem("%s with Idempotent-Replayed %q, want true", a, got)
		}
		if found := recorded(c, body["reference"]); len(found) != 1 {
			c.Problem("%d transactions have the reference, want 1", len(found))
		}
	}
}

func disbursementsConflict(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	body := c.Disbursement(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN})
	c.Expect(c.Post("/disbursements", body), http.StatusOK)
	for field, value := range map[string]any{
		"amount": 1001, "msisdn": "+250788999998", "application": suite.Kiosk, "order_ref": "another", "order_url": "https://shop.example",
		"is_url_protected": true, "description": "another",
	} {
		conflicts(c, c.Post("/disbursements", suite.Changed(body, suite.Object{field: value})))
	}
}

func disbursementsConcurrent(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	body := c.Disbursement(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN})
	oneTransaction(c, "/disbursements", body, "tx_id", http.StatusOK)
}

func disbursementsGeneratedReference(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	seen := map[any]bool{}
	for range 3 {
		made := c.Disburse(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "reference": suite.LeftOut{}})
		transaction := c.Fetch(suite.TextOf(made, "tx_id"))
		generated(c, transaction, "CAURI", "DIS")
		c.Fields("the transaction", transaction, suite.Object{"orderRef": transaction["reference"]})
		if seen[transaction["reference"]] {
			c.Problem("the reference %v was generated twice", transaction["reference"])
		}
		seen[transaction["reference"]] = true
	}
}

func disbursementsEnvironmentNotFound(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.OrangeCI)
	for _, changes := range []suite.Object{{"operator": "orange"}, {"operator": "moov"}, {"country": "TG", "currency": "XOF"}, {"operator": "mtn", "country": "CI", "currency": "XOF"}} {
		c.Refused(c.Post("/disbursements", c.Disbursement(suite.MtnRW, changes)), http.StatusNotFound, "env_not_found")
	}
}

func disbursementsUnknownStore(c *suite.Check) {
	c.Needs(suite.MtnRW)
	slug := "no-" + strings.ToLower(c.Unique())
	a := c.Post("/disbursements", c.Disbursement(suite.MtnRW, suite.Object{"application": slug}))
	c.Refused(a, http.StatusNotFound, "not_found")
	if o := c.ObjectOf(a); !strings.Contains(suite.TextOf(o, "message"), slug) {
		c.Problem("%s, whose message does not name %s", a, slug)
	}
}

func disbursementsCurrency(c *suite.Check) {
	c.NeedsSIM(suite.Payer, suite.OrangePayer)
	for _, alias := range []string{"XOF", "FCFA", "CFA"} {
		c.Fields(
			"in "+alias,
			c.Disburse(suite.OrangeCI, suite.Object{"msisdn": suite.OrangePayer.MSISDN, "currency": alias}),
			suite.Object{"status": "SUCCESS"},
		)
	}
	for _, wrong := range []string{"XOF", "CFA", "USD"} {
		c.FieldsRefused(
			c.Post("/disbursements", c.Disbursement(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "currency": wrong})),
			"currency",
		)
	}
}

func disbursementsNoDetection(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	a := c.Post(
		"/disbursements",
		c.Disbursement(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN, "operator": suite.LeftOut{}, "country": suite.LeftOut{}}),
	)
	c.FieldsRefused(a, "operator", "country")
}
