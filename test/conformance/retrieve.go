package main

import (
	"net/http"
	"strings"
)

func retrieveRules() []rule {
	return []rule{
		{id: "retrieve/same", check: retrieveSame,
			text: "a payment is retrieved as it was answered when it was made"},
		{id: "retrieve/stable", check: retrieveStable,
			text: "a terminal payment is the same each time it is retrieved"},
		{id: "retrieve/unknown", check: retrieveUnknown,
			text: "an id that no transaction has is 404 not_found"},
		{id: "retrieve/indistinguishable", check: retrieveIndistinguishable,
			text: "all unknown ids get the same answer, whatever they look like"},
		{id: "retrieve/exact", check: retrieveExact,
			text: "an id is found only as it is written"},
		{id: "retrieve/malformed", check: retrieveMalformed,
			text: "an id of any shape is refused as unknown or as bad, and never breaks anything"},
	}
}

func retrieveSame(c *check) {
	for _, e := range c.available(environments) {
		made := c.paid(e, object{"order_url": "https://shop.example/1", "description": "as it was"})
		c.fields("the payment, retrieved", c.fetch(textOf(made, "id")), made)
	}
}

func retrieveStable(c *check) {
	for _, e := range c.available(environments) {
		id := textOf(c.pay(e, object{"scenario": "timeout"}), "id")
		first := c.get(paymentPath(id))
		for range 3 {
			if again := c.get(paymentPath(id)); string(again.body) != string(first.body) {
				c.problem("%s, and before %s", again, first)
			}
		}
	}
}

// unknownIDs are well formed or nearly so.
func (c *check) unknownIDs() []string {
	return []string{
		"TX_" + strings.Repeat("0", 20), "TX_" + strings.ToUpper(c.unique()), "TX_" + strings.Repeat("Z", 26), "TX_1", "TX_", "tx_1", "1", "payment",
	}
}

func retrieveUnknown(c *check) {
	for _, id := range c.unknownIDs() {
		c.refused(c.get(paymentPath(id)), http.StatusNotFound, "not_found")
		c.refused(c.post(paymentPath(id)+"/refund", nil), http.StatusNotFound, "not_found")
	}
}

func retrieveIndistinguishable(c *check) {
	generic := func(id string) string {
		return strings.ReplaceAll(string(c.get(paymentPath(id)).body), id, "<id>")
	}
	ids := c.unknownIDs()[:5]
	first := generic(ids[0])
	for _, id := range ids[1:] {
		if got := generic(id); got != first {
			c.problem("%s is answered with %s, and %s with %s", id, got, ids[0], first)
		}
	}
}

func retrieveExact(c *check) {
	c.needs(mtnRW)
	id := textOf(c.paid(mtnRW, nil), "id")
	for _, other := range []string{strings.ToLower(id), strings.TrimPrefix(id, "TX_"), id + "A", id[:len(id)-1], id + " ", " " + id} {
		c.refused(c.get(paymentPath(other)), http.StatusNotFound, "not_found")
	}
}

func retrieveMalformed(c *check) {
	for _, id := range []string{
		"%00", "TX_%00", "TX_%ff%fe", "TX_%F0%9F%8E%AB", "TX_'", "TX_%22%3B--", "TX_%2e%2e", "TX_%2F", strings.Repeat("A", 5000),
	} {
		if a := c.get("/payments/" + id); a.status != http.StatusNotFound && a.status != http.StatusBadRequest {
			c.problem("%s, want 404 or 400", a)
		}
	}
}
