package rules

import (
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func retrieveRules() []suite.Rule {
	return []suite.Rule{
		{ID: "retrieve/same", Check: retrieveSame,
			Text: "a retrieved payment equals the answer to its creation"},
		{ID: "retrieve/stable", Check: retrieveStable,
			Text: "a terminal payment is the same at each retrieval"},
		{ID: "retrieve/unknown", Check: retrieveUnknown,
			Text: "an unknown id is 404 not_found"},
		{ID: "retrieve/indistinguishable", Check: retrieveIndistinguishable,
			Text: "all unknown ids get the same answer, whatever their form"},
		{ID: "retrieve/exact", Check: retrieveExact,
			Text: "an id is found only in its exact spelling"},
		{ID: "retrieve/malformed", Check: retrieveMalformed,
			Text: "an id of any other form is refused as unknown or as invalid, and breaks nothing"},
	}
}

func retrieveSame(c *suite.Check) {
	for _, e := range c.Available(suite.Environments) {
		made := c.Paid(e, suite.Object{"order_url": "https://shop.example/1", "description": "as it was"})
		c.Fields("the payment, retrieved", c.Fetch(suite.TextOf(made, "id")), made)
	}
}

func retrieveStable(c *suite.Check) {
	for _, e := range c.Available(suite.Environments) {
		id := suite.TextOf(c.Pay(e, suite.Object{"scenario": "timeout"}), "id")
		first := c.Get(suite.PaymentPath(id))
		for range 3 {
			if again := c.Get(suite.PaymentPath(id)); string(again.Body) != string(first.Body) {
				c.Problem("%s, and before %s", again, first)
			}
		}
	}
}

// unknownIDs are well formed or nearly well formed.
func unknownIDs(c *suite.Check) []string {
	return []string{
		"TX_" + strings.Repeat(
			"0",
			20,
		),
		"TX_" + strings.ToUpper(c.Unique()),
		"TX_" + strings.Repeat("Z", 26),
		"TX_1",
		"TX_",
		"tx_1",
		"1",
		"payment",
	}
}

func retrieveUnknown(c *suite.Check) {
	for _, id := range unknownIDs(c) {
		c.Refused(c.Get(suite.PaymentPath(id)), http.StatusNotFound, "not_found")
		c.Refused(c.Post(suite.PaymentPath(id)+"/refund", nil), http.StatusNotFound, "not_found")
	}
}

func retrieveIndistinguishable(c *suite.Check) {
	generic := func(id string) string {
		return strings.ReplaceAll(string(c.Get(suite.PaymentPath(id)).Body), id, "<id>")
	}
	ids := unknownIDs(c)[:5]
	first := generic(ids[0])
	for _, id := range ids[1:] {
		if got := generic(id); got != first {
			c.Problem("%s is answered with %s, and %s with %s", id, got, ids[0], first)
		}
	}
}

func retrieveExact(c *suite.Check) {
	c.Needs(suite.MtnRW)
	id := suite.TextOf(c.Paid(suite.MtnRW, nil), "id")
	for _, other := range []string{strings.ToLower(id), strings.TrimPrefix(id, "TX_"), id + "A", id[:len(id)-1], id + " ", " " + id} {
		c.Refused(c.Get(suite.PaymentPath(other)), http.StatusNotFound, "not_found")
	}
}

func retrieveMalformed(c *suite.Check) {
	for _, id := range []string{
		"%00", "TX_%00", "TX_%ff%fe", "TX_%F0%9F%8E%AB", "TX_'", "TX_%22%3B--", "TX_%2e%2e", "TX_%2F", strings.Repeat("A", 5000),
	} {
		if a := c.Get("/payments/" + id); a.Status != http.StatusNotFound && a.Status != http.StatusBadRequest {
			c.Problem("%s, want 404 or 400", a)
		}
	}
}
