package rules

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func paymentRules() []suite.Rule {
	return []suite.Rule{
		{ID: "payments/representation", Check: paymentsRepresentation,
			Text: "a new payment is answered with its representation, with every documented field"},
		{ID: "payments/as-sent", Check: paymentsAsSent,
			Text: "a payment shows the fields of the request unchanged"},
		{ID: "payments/optional", Check: paymentsOptional,
			Text: "missing fields are null, except that orderRef falls back to the reference and isUrlProtected to false"},
		{ID: "payments/created", Check: paymentsCreated,
			Text: "a new payment is answered with 201 and a Location"},
		{ID: "payments/ids", Check: paymentsIDs,
			Text: "a payment's id is TX_ and a unique code of letters and digits, and sorts by time"},
		{ID: "payments/environment-id", Check: paymentsEnvironmentID,
			Text: "environmentId is the same for all payments of an environment, and different for other environments"},
		{ID: "payments/stores", Check: paymentsStores,
			Text: "each store of the sandbox accepts payments"},
		{ID: "payments/unknown-store", Check: paymentsUnknownStore,
			Text: "an application that is not a store is 404 not_found, with a message that names it"},
		{ID: "payments/environment-not-found", Check: paymentsEnvironmentNotFound,
			Text: "an operator and a country without an environment are 404 env_not_found"},
		{ID: "payments/environment-disabled", Check: paymentsEnvironmentDisabled,
			Text: "a disabled environment is 404 env_not_found"},
		{ID: "payments/order-of-checks", Check: paymentsOrderOfChecks,
			Text: "the body is checked before the store, and the store before the environment"},
		{ID: "payments/currency-alias", Check: paymentsCurrencyAlias,
			Text: "FCFA and CFA mean XOF, and are returned as sent"},
		{ID: "payments/wrong-currency", Check: paymentsWrongCurrency,
			Text: "a currency that is not the environment's is 400 invalid_body, and names currency as the wrong field"},
		{ID: "payments/unknown-fields", Check: paymentsUnknownFields,
			Text: "unknown fields are ignored, and named in X-Cauri-Ignored"},
		{ID: "payments/description", Check: paymentsDescription,
			Text: "the description does not change the outcome"},
		{ID: "payments/many-operators", Check: paymentsManyOperators,
			Text: "a payment works in every enabled environment, with that environment's operator and country"},
	}
}

func paymentsRepresentation(c *suite.Check) {
	c.Needs(suite.MtnRW)
	p := c.Paid(suite.MtnRW, suite.Object{"order_ref": "o-1", "order_url": "https://shop.example/o/1", "description": "two tickets"})
	c.Fields("the payment", p, suite.Changed(collectionRepresentation(), suite.Object{
		"status": "SUCCESS", "type": "collection", "raw": suite.Object{"_simulated": true}, "completedAt": suite.Timestamp,
	}))
}

func paymentsAsSent(c *suite.Check) {
	c.Needs(suite.MtnRW)
	sent := c.Collection(suite.MtnRW, suite.Object{
		"amount": 98765, "order_ref": "Bestellung 7/ü " + c.Unique(), "order_url": "https://shop.example/o/1?a=b%20c#d",
		"is_url_protected": true, "description": "Zwei Karten: « été », 日本, 🎫, \"quoted\" \\ & <b>", "scenario": "success",
	})
	p := c.Expect(c.Post("/payments", sent), http.StatusCreated)
	c.Fields("the payment", p, suite.Object{
		"amount": sent["amount"], "currency": sent["currency"], "operator": sent["operator"], "country": sent["country"],
		"msisdn": sent["msisdn"], "reference": sent["reference"], "application": sent["application"],
		"orderRef": sent["order_ref"], "orderUrl": sent["order_url"], "isUrlProtected": true,
		"description": sent["description"], "scenario": sent["scenario"],
	})
}

func paymentsOptional(c *suite.Check) {
	c.NeedsSIM(suite.Payer)
	p := c.Pay(suite.MtnRW, suite.Object{"msisdn": suite.Payer.MSISDN})
	c.Fields("the payment", p, suite.Object{
		"orderRef": p["reference"], "orderUrl": nil, "isUrlProtected": false, "description": nil, "scenario": nil, "parentTxId": nil,
	})
}

func paymentsCreated(c *suite.Check) {
	c.Needs(suite.MtnRW)
	a := c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"scenario": "maintenance"}))
	made := c.Expect(a, http.StatusCreated)
	if location := a.Header.Get("Location"); !strings.HasSuffix(location, "/payments/"+suite.TextOf(made, "id")) {
		c.Problem("%s with the Location %q", a, location)
	}
}

func paymentsIDs(c *suite.Check) {
	c.Needs(suite.MtnRW)
	last := ""
	for range 5 {
		p := c.Pay(suite.MtnRW, suite.Object{"scenario": "maintenance"})
		c.Fields(
			"the payment",
			p,
			suite.Object{
				"id":            suite.Matching(transactionID),
				"environmentId": suite.Matching(environmentID),
				"providerTxId":  suite.Matching(providerID),
			},
		)
		id := suite.TextOf(p, "id")
		if id <= last {
			c.Problem("%s was made after %s and sorts before it", id, last)
		}
		last = id
		c.Pause(20 * time.Millisecond)
	}
}

func paymentsEnvironmentID(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.AirtelRW)
	mtn := c.Pay(suite.MtnRW, suite.Object{"scenario": "maintenance"})
	again := c.Pay(suite.MtnRW, suite.Object{"scenario": "blocked"})
	airtel := c.Pay(suite.AirtelRW, suite.Object{"scenario": "maintenance"})
	c.Fields("another payment of mtn RW", again, suite.Object{"environmentId": mtn["environmentId"]})
	c.Fields("a payment of airtel RW", airtel, suite.Object{"environmentId": suite.OtherThan(suite.TextOf(mtn, "environmentId"))})
}

func paymentsStores(c *suite.Check) {
	for _, slug := range []string{suite.Shop, suite.Kiosk} {
		c.NeedsStore(slug)
		c.Fields(
			"the payment",
			c.Pay(suite.MtnRW, suite.Object{"application": slug, "scenario": "maintenance"}),
			suite.Object{"application": slug},
		)
	}
}

func paymentsUnknownStore(c *suite.Check) {
	c.Needs(suite.MtnRW)
	slug := "no-" + strings.ToLower(c.Unique())
	a := c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"application": slug}))
	c.Refused(a, http.StatusNotFound, "not_found")
	if o := c.ObjectOf(a); !strings.Contains(suite.TextOf(o, "message"), slug) {
		c.Problem("%s, whose message does not name %s", a, slug)
	}
}

func paymentsEnvironmentNotFound(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, pair := range [][2]string{{"orange", "RW"}, {"moov", "RW"}, {"moov", "CI"}, {"mtn", "TG"}, {"airtel", "CI"}, {"orange", "BJ"}} {
		body := c.Collection(suite.MtnRW, suite.Object{"operator": pair[0], "country": pair[1], "scenario": "success"})
		c.Refused(c.Post("/payments", body), http.StatusNotFound, "env_not_found")
	}
}

func paymentsEnvironmentDisabled(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	body := c.Collection(suite.OrangeCI, suite.Object{"operator": "mtn", "msisdn": "+2250500000001", "scenario": "success"})
	c.Refused(c.Post("/payments", body), http.StatusNotFound, "env_not_found")
}

func paymentsOrderOfChecks(c *suite.Check) {
	c.Needs(suite.MtnRW)
	nowhere := suite.Object{"application": "no-such-store", "operator": "orange", "country": "RW"}
	c.FieldsRefused(c.Post("/payments", c.Collection(suite.MtnRW, suite.Changed(nowhere, suite.Object{"amount": 0}))), "amount")
	c.Refused(c.Post("/payments", c.Collection(suite.MtnRW, nowhere)), http.StatusNotFound, "not_found")
}

func paymentsCurrencyAlias(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	for _, alias := range []string{"XOF", "FCFA", "CFA"} {
		p := c.Paid(suite.OrangeCI, suite.Object{"currency": alias})
		c.Fields("a payment in "+alias, p, suite.Object{"currency": alias, "status": "SUCCESS"})
		c.Fields("the same, retrieved", c.Fetch(suite.TextOf(p, "id")), suite.Object{"currency": alias})
	}
}

func paymentsWrongCurrency(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.OrangeCI)
	for _, wrong := range []struct {
		in       suite.Environment
		currency string
	}{{suite.MtnRW, "XOF"}, {suite.MtnRW, "FCFA"}, {suite.MtnRW, "USD"}, {suite.MtnRW, "XAF"},
		{suite.OrangeCI, "RWF"}, {suite.OrangeCI, "EUR"}, {suite.OrangeCI, "XAF"}} {
		body := c.Collection(wrong.in, suite.Object{"currency": wrong.currency, "scenario": "success"})
		c.FieldsRefused(c.Post("/payments", body), "currency")
	}
}

func paymentsUnknownFields(c *suite.Check) {
	c.Needs(suite.MtnRW)
	p := c.Paid(suite.MtnRW, suite.Object{
		"colour":   "blue",
		"metadata": suite.Object{"a": []int{1, 2}},
		"status":   "TIMEOUT",
		"id":       "TX_mine",
		"":         nil,
	})
	c.Fields("the payment", p, suite.Object{"amount": 1000, "orderRef": p["reference"], "status": "SUCCESS", "id": suite.OtherThan("TX_mine")})
	again := c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"colour": "blue", "tab": 1}))
	if ignored := again.Header.Get("X-Cauri-Ignored"); ignored != "colour, tab" {
		c.Problem("%s, which names %q as ignored", again, ignored)
	}
}

func paymentsDescription(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, scenario := range scenarios[:3] {
		p := c.Pay(suite.MtnRW, suite.Object{"scenario": scenario.name, "description": "scenario=timeout TIMEOUT fail"})
		c.Fields("the payment", p, suite.Object{"status": scenario.status})
	}
}

func paymentsManyOperators(c *suite.Check) {
	for _, e := range c.Available(suite.Environments) {
		c.Fields(fmt.Sprintf("a payment of %s", e), c.Paid(e, nil), suite.Object{
			"status": "SUCCESS", "operator": e.Operator, "country": e.Country, "currency": e.Currency,
		})
	}
}
