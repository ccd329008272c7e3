package rules

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// expectationRules are the rules about expectations, which are an optional part of the service.
func expectationRules() []suite.Rule {
	return []suite.Rule{
		{ID: "expectations/evaluated", Check: expectationsEvaluated,
			Text: "a line says whether it is met, what was observed, and whether it cannot be met any more"},
		{ID: "expectations/since", Check: expectationsSince,
			Text: "with since, only transactions after that one count"},
		{ID: "expectations/epoch", Check: expectationsEpoch, Alone: true,
			Text: "epoch stays the same with payments, and changes with a reset"},
		{ID: "expectations/refused", Check: expectationsRefused,
			Text: "a line with an unknown field or a wrong value is 400 invalid_body, which names the line"},
	}
}

// needsExpectations ends the check if the service has no expectations.
func needsExpectations(c *suite.Check) {
	list, _ := c.Expect(c.Get("/meta"), http.StatusOK)["capabilities"].([]any)
	if !slices.Contains(list, any("expectations")) {
		c.NotChecked("the service has no capability expectations")
	}
}

// evaluated returns the answer to lines.
func evaluated(c *suite.Check, body suite.Object) suite.Object {
	return c.Expect(c.Post("/expectations/evaluate", body), http.StatusOK)
}

// ofOrder is a line about the transactions of an order.
func ofOrder(order string, count any) suite.Object {
	return suite.Object{"transactions": suite.Object{"where": suite.Object{"orderRef": order}, "count": count}}
}

func expectationsEvaluated(c *suite.Check) {
	needsExpectations(c)
	order := "expected-" + c.Unique()
	c.Expect(c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"scenario": "success", "order_ref": order})), http.StatusCreated)
	answer := evaluated(c, suite.Object{"expect": []any{
		ofOrder(order, 1), ofOrder(order, "2..3"), ofOrder(order, 0), suite.Object{"refunds": suite.Object{"of": order, "total": 0}},
	}})
	if answer["met"] != false {
		c.Problem("met is %v, want false", answer["met"])
	}
	results, _ := answer["results"].([]any)
	said := ""
	for _, result := range results {
		r, _ := result.(suite.Object)
		said += fmt.Sprintf("%v %v %v; ", r["met"], r["exceeded"], r["observed"])
	}
	const want = "true false 1 transaction; false false 1 transaction; false true 1 transaction; true false 0; "
	if said != want {
		c.Problem("the results are %q, want %q", said, want)
	}
}

func expectationsSince(c *suite.Check) {
	needsExpectations(c)
	order := "expected-" + c.Unique()
	made := c.Expect(c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"scenario": "success", "order_ref": order})), http.StatusCreated)
	body := suite.Object{"expect": []any{ofOrder(order, 0)}, "since": suite.TextOf(made, "id")}
	if answer := evaluated(c, body); answer["met"] != true {
		c.Problem("the transaction itself counts: %v", answer)
	}
}

func expectationsEpoch(c *suite.Check) {
	needsExpectations(c)
	epoch := func() string {
		return suite.TextOf(evaluated(c, suite.Object{"expect": []any{suite.Object{"nothingElse": true}}}), "epoch")
	}
	first := epoch()
	c.Paid(suite.MtnRW, nil)
	if second := epoch(); second != first || first == "" {
		c.Problem("before a payment the epoch is %q, after it %q", first, second)
	}
	needsRegistry(c, "reset", suite.Request{Method: "POST", Path: "/reset"})
	reset(c)
	if second := epoch(); second == first {
		c.Problem("before and after a reset the epoch is %q", first)
	}
}

func expectationsRefused(c *suite.Check) {
	needsExpectations(c)
	for field, line := range map[string]suite.Object{
		"expect[0]":                    {"transactions": suite.Object{"order": "a", "count": 1}},
		"expect[0].transactions.count": {"transactions": suite.Object{}},
		"expect[0].float.currency":     {"float": suite.Object{"currency": "EUR", "equals": 1}},
		"expect[0].merchant":           {"merchant": suite.Object{"get": "http://localhost"}},
	} {
		c.FieldsRefused(c.Post("/expectations/evaluate", suite.Object{"expect": []any{line}}), field)
	}
}
