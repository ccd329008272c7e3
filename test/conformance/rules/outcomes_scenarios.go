package rules

import (
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// scenario is an outcome that a request can force, with its range of latencies in milliseconds.
type scenario struct {
	name, status string
	from, to     int64
}

var scenarios = []scenario{
	{"success", "SUCCESS", 800, 1800},
	{"pin_invalid", "PIN_INVALID", 600, 1400},
	{"low_balance", "INSUFFICIENT_FUNDS", 600, 1400},
	{"timeout", "TIMEOUT", 25_000, 35_000},
	{"blocked", "ACCOUNT_BLOCKED", 500, 1000},
	{"cancelled", "USER_CANCELLED", 3000, 8000},
	{"unknown_msisdn", "UNKNOWN_MSISDN", 400, 900},
	{"limit_exceeded", "LIMIT_EXCEEDED", 500, 1000},
	{"maintenance", "SERVICE_UNAVAILABLE", 200, 600},
	{"duplicate", "DUPLICATE_REFERENCE", 200, 500},
}

// latencyOf is the range of latencies of a status.
func latencyOf(status string) suite.Matcher {
	if status == "PENDING" {
		status = "SUCCESS" // the possible later status
	}
	for _, s := range scenarios {
		if s.status == status {
			return suite.Between(s.from, s.to)
		}
	}
	return suite.AnyInteger
}

func scenarioRules() []suite.Rule {
	var rules []suite.Rule
	for _, s := range scenarios {
		rules = append(rules, suite.Rule{
			ID:    "scenarios/" + strings.ReplaceAll(s.name, "_", "-"),
			Text:  "the scenario " + s.name + " ends at once with " + s.status + ", and with a latency within its range",
			Check: func(c *suite.Check) { forces(c, s) },
		})
	}
	return append(rules,
		suite.Rule{ID: "scenarios/latency-drawn", Check: scenariosLatencyDrawn,
			Text: "each payment has a new random latency"},
		suite.Rule{ID: "scenarios/before-registry", Check: scenariosBeforeRegistry,
			Text: "a scenario takes precedence over the test client"},
		suite.Rule{ID: "scenarios/before-limit", Check: scenariosBeforeLimit,
			Text: "a scenario takes precedence over the operator's limit"},
		suite.Rule{ID: "scenarios/refused", Check: scenariosRefused,
			Text: "an unknown scenario is 400 invalid_body, and names scenario as the wrong field"})
}

func forces(c *suite.Check, s scenario) {
	for _, e := range c.Available(suite.Environments) {
		p := c.Pay(e, suite.Object{"scenario": s.name})
		want := suite.Object{"status": s.status, "scenario": s.name, "latencyMs": suite.Between(s.from, s.to), "completedAt": suite.Timestamp}
		c.Fields("a payment of "+e.String(), p, want)
		c.Fields("the same, retrieved", c.Fetch(suite.TextOf(p, "id")), suite.Changed(want, suite.Object{"latencyMs": p["latencyMs"]}))
	}
}

func scenariosLatencyDrawn(c *suite.Check) {
	c.Needs(suite.MtnRW)
	seen := map[any]bool{}
	for range 20 {
		seen[c.Pay(suite.MtnRW, suite.Object{"scenario": "cancelled"})["latencyMs"]] = true
	}
	if len(seen) < 3 {
		c.Problem("20 payments had %d different latencies", len(seen))
	}
}

func scenariosBeforeRegistry(c *suite.Check) {
	c.NeedsSIM(suite.Payer, suite.Blocked, suite.Poor)
	for _, msisdn := range []string{suite.Payer.MSISDN, suite.Blocked.MSISDN, c.Stranger(suite.MtnRW)} {
		for _, s := range scenarios {
			c.Fields(s.name+" for "+msisdn, c.Pay(suite.MtnRW, suite.Object{"msisdn": msisdn, "scenario": s.name}), suite.Object{"status": s.status})
		}
	}
	c.Fields(
		"success for one who cannot pay",
		c.Paid(suite.MtnRW, suite.Object{"msisdn": suite.Poor.MSISDN, "amount": suite.PoorsLimit}),
		suite.Object{"status": "SUCCESS"},
	)
}

func scenariosBeforeLimit(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, s := range []scenario{scenarios[0], scenarios[1], scenarios[5]} {
		c.Fields(
			s.name,
			c.Pay(suite.MtnRW, suite.Object{"amount": suite.MtnRW.MaxAmount + 1, "scenario": s.name}),
			suite.Object{"status": s.status},
		)
	}
}

func scenariosRefused(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, name := range []any{"", "SUCCESS", "Success", "success ", "pending", "fail", 1, true, suite.Object{}} {
		a := c.Post("/payments", c.Collection(suite.MtnRW, suite.Object{"scenario": name}))
		if a.Status != http.StatusBadRequest {
			c.Problem("%s for the scenario %v", a, name)
			continue
		}
		c.FieldsRefused(a, "scenario")
	}
}
