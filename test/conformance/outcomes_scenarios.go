package main

import (
	"net/http"
	"strings"
)

// scenario is an outcome that a caller can force, with the range of the latency in milliseconds.
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

// latencyOf is the range of latencies that belongs to a status.
func latencyOf(status string) matcher {
	if status == "PENDING" {
		status = "SUCCESS" // what it may become
	}
	for _, s := range scenarios {
		if s.status == status {
			return between(s.from, s.to)
		}
	}
	return anyInteger
}

func scenarioRules() []rule {
	var rules []rule
	for _, s := range scenarios {
		rules = append(rules, rule{
			id:    "scenarios/" + strings.ReplaceAll(s.name, "_", "-"),
			text:  "the scenario " + s.name + " ends at once with " + s.status + ", and with a latency within its range",
			check: func(c *check) { forces(c, s) },
		})
	}
	return append(rules,
		rule{id: "scenarios/latency-drawn", check: scenariosLatencyDrawn,
			text: "the latency is drawn anew for each payment"},
		rule{id: "scenarios/before-registry", check: scenariosBeforeRegistry,
			text: "a scenario wins over what the registry says of the number"},
		rule{id: "scenarios/before-limit", check: scenariosBeforeLimit,
			text: "a scenario wins over the operator's limit"},
		rule{id: "scenarios/refused", check: scenariosRefused,
			text: "a scenario that is none of the ten is 400 invalid_body, and scenario is the wrong field"})
}

func forces(c *check, s scenario) {
	for _, e := range c.available(environments) {
		p := c.pay(e, object{"scenario": s.name})
		want := object{"status": s.status, "scenario": s.name, "latencyMs": between(s.from, s.to), "completedAt": timestamp}
		c.fields("a payment of "+e.String(), p, want)
		c.fields("the same, retrieved", c.fetch(textOf(p, "id")), changed(want, object{"latencyMs": p["latencyMs"]}))
	}
}

func scenariosLatencyDrawn(c *check) {
	c.needs(mtnRW)
	seen := map[any]bool{}
	for range 20 {
		seen[c.pay(mtnRW, object{"scenario": "cancelled"})["latencyMs"]] = true
	}
	if len(seen) < 3 {
		c.problem("20 payments had %d different latencies", len(seen))
	}
}

func scenariosBeforeRegistry(c *check) {
	c.needsSIM(payer, blocked, poor)
	for _, msisdn := range []string{payer.msisdn, blocked.msisdn, c.stranger(mtnRW)} {
		for _, s := range scenarios {
			c.fields(s.name+" for "+msisdn, c.pay(mtnRW, object{"msisdn": msisdn, "scenario": s.name}), object{"status": s.status})
		}
	}
	c.fields("success for one who cannot pay", c.paid(mtnRW, object{"msisdn": poor.msisdn, "amount": poorsLimit}), object{"status": "SUCCESS"})
}

func scenariosBeforeLimit(c *check) {
	c.needs(mtnRW)
	for _, s := range []scenario{scenarios[0], scenarios[1], scenarios[5]} {
		c.fields(s.name, c.pay(mtnRW, object{"amount": mtnRW.maxAmount + 1, "scenario": s.name}), object{"status": s.status})
	}
}

func scenariosRefused(c *check) {
	c.needs(mtnRW)
	for _, name := range []any{"", "SUCCESS", "Success", "success ", "pending", "fail", 1, true, object{}} {
		a := c.post("/payments", c.collection(mtnRW, object{"scenario": name}))
		if a.status != http.StatusBadRequest {
			c.problem("%s for the scenario %v", a, name)
			continue
		}
		c.fieldsRefused(a, "scenario")
	}
}
