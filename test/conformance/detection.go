package main

import (
	"fmt"
	"net/http"
	"strings"
)

func detectionRules() []rule {
	rules := []rule{
		{id: "detection/registered", check: detectionRegistered,
			text: "a test client's own operator and country come before what the number's prefix says"},
		{id: "detection/explicit", check: detectionExplicit,
			text: "an operator and a country that are sent count, whatever the number's prefix says"},
		{id: "detection/one-of-two", check: detectionOneOfTwo,
			text: "where only the operator or only the country is left out, that one is detected"},
		{id: "detection/impossible", check: detectionImpossible,
			text: "a number that tells no operator is 400 invalid_body naming what to send"},
		{id: "detection/no-environment", check: detectionNoEnvironment,
			text: "a detected operator without an enabled environment is 404 env_not_found"},
	}
	for _, p := range prefixes {
		rules = append(rules, rule{
			id:    fmt.Sprintf("detection/%s-%s", strings.ToLower(p.env.country), p.env.operator),
			text:  fmt.Sprintf("numbers with %s's prefixes in %s are detected as such where operator and country are left out", p.env.operator, p.env.country),
			check: func(c *check) { detects(c, p) },
		})
	}
	return rules
}

// operatorPrefixes are the leading digits of an operator's numbers, behind the country code.
type operatorPrefixes struct {
	env      environment
	code     string // the country's
	length   int    // of the number behind it
	prefixes string
}

var prefixes = []operatorPrefixes{
	{mtnRW, "250", 9, "78 79"},
	{airtelRW, "250", 9, "72 73"},
	{orangeCI, "225", 10, "07"},
	{mtnBJ, "229", 10, "0142 0146 0150 0151 0152 0153 0154 0156 0157 0159 0161 0162 0166 0167 0169 0190 0191 0196 0197"},
	{moovBJ, "229", 10, "0145 0155 0158 0160 0163 0164 0165 0168 0194 0195 0198 0199"},
	{moovTG, "228", 8, "78 79 96 97 98 99"},
}

// detected leaves the operator and the country for the service to find.
func detected(msisdn string) object {
	return object{"msisdn": msisdn, "operator": leftOut{}, "country": leftOut{}, "scenario": "maintenance"}
}

func detects(c *check, p operatorPrefixes) {
	c.needs(p.env)
	for _, prefix := range strings.Fields(p.prefixes) {
		msisdn := "+" + p.code + prefix + strings.Repeat("9", p.length-len(prefix))
		made := c.post("/payments", c.collection(p.env, detected(msisdn)))
		if made.status != http.StatusCreated {
			c.problem("%s, want 201 for %s", made, msisdn)
			continue
		}
		c.fields("the payment of "+msisdn, c.objectOf(made), object{"operator": p.env.operator, "country": p.env.country, "msisdn": msisdn})
	}
}

func detectionRegistered(c *check) {
	c.needsSIM(ported, foreign)
	for _, card := range []simCard{ported, foreign} {
		p := c.pay(card.home, detected(card.msisdn))
		c.fields("the payment of "+card.name, p, object{"operator": card.home.operator, "country": card.home.country})
	}
}

func detectionExplicit(c *check) {
	c.needs(mtnRW, airtelRW, orangeCI)
	for _, sent := range []struct {
		msisdn string
		env    environment
	}{
		{"+250788999999", airtelRW}, {"+250728999999", mtnRW}, {"+250788999999", orangeCI}, {"+33600000001", mtnRW}, {"+2250599999999", orangeCI},
	} {
		p := c.pay(sent.env, object{"msisdn": sent.msisdn, "scenario": "maintenance"})
		c.fields("the payment of "+sent.msisdn, p, object{"operator": sent.env.operator, "country": sent.env.country, "msisdn": sent.msisdn})
	}
}

func detectionOneOfTwo(c *check) {
	c.needs(mtnRW, airtelRW)
	country := c.pay(mtnRW, object{"msisdn": "+250788999999", "country": leftOut{}, "scenario": "maintenance"})
	c.fields("with the operator alone", country, object{"operator": "mtn", "country": "RW"})
	operator := c.pay(airtelRW, object{"msisdn": "+250728999999", "operator": leftOut{}, "scenario": "maintenance"})
	c.fields("with the country alone", operator, object{"operator": "airtel", "country": "RW"})
	across := c.pay(airtelRW, object{"msisdn": "+250788999999", "country": leftOut{}, "scenario": "maintenance"})
	c.fields("with another operator than the prefix's", across, object{"operator": "airtel", "country": "RW"})
}

func detectionImpossible(c *check) {
	c.needs(mtnRW)
	for _, msisdn := range []string{"+33600000001", "+22890999999", "+25078899999", "+250700999999", "+2507889999999", "+15551234567"} {
		a := c.post("/payments", c.collection(mtnRW, detected(msisdn)))
		detail := c.refused(a, http.StatusBadRequest, "invalid_body")
		wrong, _ := detail["fieldErrors"].(object)
		if wrong["operator"] == nil && wrong["country"] == nil && a.status == http.StatusBadRequest {
			c.problem("%s for %s, want detail.fieldErrors with operator or country", a, msisdn)
		}
	}
	a := c.post("/payments", c.collection(mtnRW, object{"msisdn": "+33600000001", "operator": leftOut{}, "scenario": "success"}))
	c.fieldsRefused(a, "operator")
	a = c.post("/payments", c.collection(mtnRW, object{"msisdn": "+33600000001", "country": leftOut{}, "scenario": "success"}))
	c.fieldsRefused(a, "country")
}

func detectionNoEnvironment(c *check) {
	c.needs(orangeCI)
	for _, msisdn := range []string{"+2250199999999", "+2250599999999"} { // moov CI is not there, mtn CI is disabled
		c.refused(c.post("/payments", c.collection(orangeCI, detected(msisdn))), http.StatusNotFound, "env_not_found")
	}
}
