package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

func paymentRules() []rule {
	return []rule{
		{id: "payments/representation", check: paymentsRepresentation,
			text: "a new payment is answered by its representation, with every documented field"},
		{id: "payments/as-sent", check: paymentsAsSent,
			text: "a payment shows what was sent as it was sent"},
		{id: "payments/optional", check: paymentsOptional,
			text: "what was left out is null, except that orderRef falls back to the reference and isUrlProtected to false"},
		{id: "payments/created", check: paymentsCreated,
			text: "a new payment is answered with 201 and a Location"},
		{id: "payments/ids", check: paymentsIDs,
			text: "a payment's id is TX_ and a code of letters and digits, different each time, and sorts by time"},
		{id: "payments/environment-id", check: paymentsEnvironmentID,
			text: "environmentId is the same for all payments of an environment, and another for another environment"},
		{id: "payments/stores", check: paymentsStores,
			text: "each store of the sandbox can take payments"},
		{id: "payments/unknown-store", check: paymentsUnknownStore,
			text: "an application that is no store is 404 not_found, with a message that names it"},
		{id: "payments/environment-not-found", check: paymentsEnvironmentNotFound,
			text: "an operator and a country without an environment are 404 env_not_found"},
		{id: "payments/environment-disabled", check: paymentsEnvironmentDisabled,
			text: "a disabled environment is 404 env_not_found"},
		{id: "payments/order-of-checks", check: paymentsOrderOfChecks,
			text: "the body is checked before the store, and the store before the environment"},
		{id: "payments/currency-alias", check: paymentsCurrencyAlias,
			text: "FCFA and CFA are taken for XOF, and echoed as sent"},
		{id: "payments/wrong-currency", check: paymentsWrongCurrency,
			text: "a currency that is not the environment's is 400 invalid_body, and currency is the wrong field"},
		{id: "payments/unknown-fields", check: paymentsUnknownFields,
			text: "fields that the API does not know are ignored"},
		{id: "payments/description", check: paymentsDescription,
			text: "the description has no influence on the outcome"},
		{id: "payments/many-operators", check: paymentsManyOperators,
			text: "a payment works in every enabled environment, with that environment's operator and country"},
	}
}

func paymentsRepresentation(c *check) {
	c.needs(mtnRW)
	p := c.paid(mtnRW, object{"order_ref": "o-1", "order_url": "https://shop.example/o/1", "description": "two tickets"})
	c.fields("the payment", p, changed(collectionRepresentation(), object{
		"status": "SUCCESS", "type": "collection", "raw": object{"_simulated": true}, "completedAt": timestamp,
	}))
}

func paymentsAsSent(c *check) {
	c.needs(mtnRW)
	sent := c.collection(mtnRW, object{
		"amount": 98765, "order_ref": "Bestellung 7/ü " + c.unique(), "order_url": "https://shop.example/o/1?a=b%20c#d",
		"is_url_protected": true, "description": "Zwei Karten: « été », 日本, 🎫, \"quoted\" \\ & <b>", "scenario": "success",
	})
	p := c.expect(c.post("/payments", sent), http.StatusCreated)
	c.fields("the payment", p, object{
		"amount": sent["amount"], "currency": sent["currency"], "operator": sent["operator"], "country": sent["country"],
		"msisdn": sent["msisdn"], "reference": sent["reference"], "application": sent["application"],
		"orderRef": sent["order_ref"], "orderUrl": sent["order_url"], "isUrlProtected": true,
		"description": sent["description"], "scenario": sent["scenario"],
	})
}

func paymentsOptional(c *check) {
	c.needsSIM(payer)
	p := c.pay(mtnRW, object{"msisdn": payer.msisdn})
	c.fields("the payment", p, object{
		"orderRef": p["reference"], "orderUrl": nil, "isUrlProtected": false, "description": nil, "scenario": nil, "parentTxId": nil,
	})
}

func paymentsCreated(c *check) {
	c.needs(mtnRW)
	a := c.post("/payments", c.collection(mtnRW, object{"scenario": "maintenance"}))
	made := c.expect(a, http.StatusCreated)
	if location := a.header.Get("Location"); !strings.HasSuffix(location, "/payments/"+textOf(made, "id")) {
		c.problem("%s with the Location %q", a, location)
	}
}

func paymentsIDs(c *check) {
	c.needs(mtnRW)
	last := ""
	for range 5 {
		p := c.pay(mtnRW, object{"scenario": "maintenance"})
		c.fields("the payment", p, object{"id": matching(transactionID), "environmentId": matching(environmentID), "providerTxId": matching(providerID)})
		id := textOf(p, "id")
		if id <= last {
			c.problem("%s was made after %s and sorts before it", id, last)
		}
		last = id
		c.pause(20 * time.Millisecond)
	}
}

func paymentsEnvironmentID(c *check) {
	c.needs(mtnRW, airtelRW)
	mtn := c.pay(mtnRW, object{"scenario": "maintenance"})
	again := c.pay(mtnRW, object{"scenario": "blocked"})
	airtel := c.pay(airtelRW, object{"scenario": "maintenance"})
	c.fields("another payment of mtn RW", again, object{"environmentId": mtn["environmentId"]})
	c.fields("a payment of airtel RW", airtel, object{"environmentId": otherThan(textOf(mtn, "environmentId"))})
}

func paymentsStores(c *check) {
	for _, slug := range []string{shop, kiosk} {
		c.needsStore(slug)
		c.fields("the payment", c.pay(mtnRW, object{"application": slug, "scenario": "maintenance"}), object{"application": slug})
	}
}

func paymentsUnknownStore(c *check) {
	c.needs(mtnRW)
	slug := "no-" + strings.ToLower(c.unique())
	a := c.post("/payments", c.collection(mtnRW, object{"application": slug}))
	c.refused(a, http.StatusNotFound, "not_found")
	if o := c.objectOf(a); !strings.Contains(textOf(o, "message"), slug) {
		c.problem("%s, whose message does not name %s", a, slug)
	}
}

func paymentsEnvironmentNotFound(c *check) {
	c.needs(mtnRW)
	for _, pair := range [][2]string{{"orange", "RW"}, {"moov", "RW"}, {"moov", "CI"}, {"mtn", "TG"}, {"airtel", "CI"}, {"orange", "BJ"}} {
		body := c.collection(mtnRW, object{"operator": pair[0], "country": pair[1], "scenario": "success"})
		c.refused(c.post("/payments", body), http.StatusNotFound, "env_not_found")
	}
}

func paymentsEnvironmentDisabled(c *check) {
	c.needs(orangeCI)
	body := c.collection(orangeCI, object{"operator": "mtn", "msisdn": "+2250500000001", "scenario": "success"})
	c.refused(c.post("/payments", body), http.StatusNotFound, "env_not_found")
}

func paymentsOrderOfChecks(c *check) {
	c.needs(mtnRW)
	nowhere := object{"application": "no-such-store", "operator": "orange", "country": "RW"}
	c.fieldsRefused(c.post("/payments", c.collection(mtnRW, changed(nowhere, object{"amount": 0}))), "amount")
	c.refused(c.post("/payments", c.collection(mtnRW, nowhere)), http.StatusNotFound, "not_found")
}

func paymentsCurrencyAlias(c *check) {
	c.needs(orangeCI)
	for _, alias := range []string{"XOF", "FCFA", "CFA"} {
		p := c.paid(orangeCI, object{"currency": alias})
		c.fields("a payment in "+alias, p, object{"currency": alias, "status": "SUCCESS"})
		c.fields("the same, retrieved", c.fetch(textOf(p, "id")), object{"currency": alias})
	}
}

func paymentsWrongCurrency(c *check) {
	c.needs(mtnRW, orangeCI)
	for _, wrong := range []struct {
		in       environment
		currency string
	}{{mtnRW, "XOF"}, {mtnRW, "FCFA"}, {mtnRW, "USD"}, {mtnRW, "XAF"}, {orangeCI, "RWF"}, {orangeCI, "EUR"}, {orangeCI, "XAF"}} {
		body := c.collection(wrong.in, object{"currency": wrong.currency, "scenario": "success"})
		c.fieldsRefused(c.post("/payments", body), "currency")
	}
}

func paymentsUnknownFields(c *check) {
	c.needs(mtnRW)
	p := c.paid(mtnRW, object{
		"colour": "blue", "metadata": object{"a": []int{1, 2}}, "Amount": 7, "orderRef": "not-this", "status": "TIMEOUT", "id": "TX_mine", "": nil,
	})
	c.fields("the payment", p, object{"amount": 1000, "orderRef": p["reference"], "status": "SUCCESS", "id": otherThan("TX_mine")})
}

func paymentsDescription(c *check) {
	c.needs(mtnRW)
	for _, scenario := range scenarios[:3] {
		p := c.pay(mtnRW, object{"scenario": scenario.name, "description": "scenario=timeout TIMEOUT fail"})
		c.fields("the payment", p, object{"status": scenario.status})
	}
}

func paymentsManyOperators(c *check) {
	for _, e := range c.available(environments) {
		c.fields(fmt.Sprintf("a payment of %s", e), c.paid(e, nil), object{
			"status": "SUCCESS", "operator": e.operator, "country": e.country, "currency": e.currency,
		})
	}
}
