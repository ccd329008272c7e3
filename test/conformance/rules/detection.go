package rules

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func detectionRules() []suite.Rule {
	rules := []suite.Rule{
		{ID: "detection/registered", Check: detectionRegistered,
			Text: "a test client's own operator and country take precedence over the number's prefix"},
		{ID: "detection/explicit", Check: detectionExplicit,
			Text: "an operator and a country in the request take precedence over the number's prefix"},
		{ID: "detection/one-of-two", Check: detectionOneOfTwo,
			Text: "if only the operator or only the country is missing, the service detects it"},
		{ID: "detection/impossible", Check: detectionImpossible,
			Text: "a number without a detectable operator is 400 invalid_body that names the missing fields"},
		{ID: "detection/wrong-length", Check: detectionWrongLength,
			Text: "a number of a market with a digit too many or too few is 400 invalid_body that names the number alone"},
		{ID: "detection/no-environment", Check: detectionNoEnvironment,
			Text: "a detected operator without an enabled environment is 404 env_not_found"},
	}
	for _, p := range prefixes {
		rules = append(rules, suite.Rule{
			ID: fmt.Sprintf("detection/%s-%s", strings.ToLower(p.env.Country), p.env.Operator),
			Text: fmt.Sprintf(
				"numbers with the prefixes of %s in %s are detected as such if operator and country are missing",
				p.env.Operator,
				p.env.Country,
			),
			Check: func(c *suite.Check) { detects(c, p) },
		})
	}
	return rules
}

// operatorPrefixes are the leading digits of an operator's numbers, after the country code.
type operatorPrefixes struct {
	env      suite.Environment
	code     string // the country's
	length   int    // of the number after it
	prefixes string
}

var prefixes = []operatorPrefixes{
	{suite.MtnRW, "250", 9, "78 79"},
	{suite.AirtelRW, "250", 9, "72 73"},
	{suite.OrangeCI, "225", 10, "07"},
	{suite.MtnBJ, "229", 10, "0142 0146 0150 0151 0152 0153 0154 0156 0157 0159 0161 0162 0166 0167 0169 0190 0191 0196 0197"},
	{suite.MoovBJ, "229", 10, "0145 0155 0158 0160 0163 0164 0165 0168 0194 0195 0198 0199"},
	{suite.MoovTG, "228", 8, "78 79 96 97 98 99"},
	{suite.MPesaKE, "254", 9, "11 14 70 71 72 740 741 742 743 745 746 748 749 757 758 759 768 769 79"},
}

// detected makes payments without an operator and a country.
func detected(msisdn string) suite.Object {
	return suite.Object{"msisdn": msisdn, "operator": suite.LeftOut{}, "country": suite.LeftOut{}, "scenario": "maintenance"}
}

func detects(c *suite.Check, p operatorPrefixes) {
	c.Needs(p.env)
	for _, prefix := range strings.Fields(p.prefixes) {
		msisdn := "+" + p.code + prefix + strings.Repeat("9", p.length-len(prefix))
		made := c.Post("/payments", c.Collection(p.env, detected(msisdn)))
		if made.Status != http.StatusCreated {
			c.Problem("%s, want 201 for %s", made, msisdn)
			continue
		}
		c.Fields("the payment of "+msisdn, c.ObjectOf(made), suite.Object{"operator": p.env.Operator, "country": p.env.Country, "msisdn": msisdn})
	}
}

func detectionRegistered(c *suite.Check) {
	c.NeedsSIM(suite.Ported, suite.Foreign)
	for _, card := range []suite.SimCard{suite.Ported, suite.Foreign} {
		p := c.Pay(card.Home, detected(card.MSISDN))
		c.Fields("the payment of "+card.Name, p, suite.Object{"operator": card.Home.Operator, "country": card.Home.Country})
	}
}

func detectionWrongLength(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, msisdn := range []string{"+25078899999", "+2507889999999", "+225073000090", "+22507300009001", "+2289999999", "+229970000011"} {
		a := c.Post("/payments", c.Collection(suite.MtnRW, detected(msisdn)))
		c.FieldsRefused(a, "msisdn")
		detail := c.Refused(a, http.StatusBadRequest, "invalid_body")
		if wrong, _ := detail["fieldErrors"].(suite.Object); len(wrong) != 1 {
			c.Problem("%s for %s, want detail.fieldErrors with msisdn alone", a, msisdn)
		}
	}
}

func detectionExplicit(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.AirtelRW, suite.OrangeCI)
	for _, sent := range []struct {
		msisdn string
		env    suite.Environment
	}{
		{"+250788999999", suite.AirtelRW}, {"+250728999999", suite.MtnRW}, {"+250788999999", suite.OrangeCI}, {"+33600000001", suite.MtnRW}, {"+2250599999999", suite.OrangeCI},
	} {
		p := c.Pay(sent.env, suite.Object{"msisdn": sent.msisdn, "scenario": "maintenance"})
		c.Fields(
			"the payment of "+sent.msisdn,
			p,
			suite.Object{"operator": sent.env.Operator, "country": sent.env.Country, "msisdn": sent.msisdn},
		)
	}
}

func detectionOneOfTwo(c *suite.Check) {
	c.Needs(suite.MtnRW, suite.AirtelRW)
	country := c.Pay(suite.MtnRW, suite.Object{"msisdn": "+250788999999", "country": suite.LeftOut{}, "scenario": "maintenance"})
	c.Fields("with the operator alone", country, suite.Object{"operator": "mtn", "country": "RW"})
	operator := c.Pay(suite.AirtelRW, suite.Object{"msisdn": "+250728999999", "operator": suite.LeftOut{}, "scenario": "maintenance"})
	c.Fields("with the country alone", operator, suite.Object{"operator": "airtel", "country": "RW"})
	across := c.Pay(suite.AirtelRW, suite.Object{"msisdn": "+250788999999", "country": suite.LeftOut{}, "scenario": "maintenance"})
	c.Fields("with another operator than the prefix's", across, suite.Object{"operator": "airtel", "country": "RW"})
}

func detectionImpossible(c *suite.Check) {
	c.Needs(suite.MtnRW)
	for _, msisdn := range []string{"+33600000001", "+22890999999", "+250700999999", "+15551234567"} {
		a := c.Post("/payments", c.Collection(suite.MtnRW, detected(msisdn)))
		detail := c.Refused(a, http.StatusBadRequest, "invalid_body")
		wrong, _ := detail["fieldErrors"].(suite.Object)
		if wrong["operator"] == nil && wrong["country"] == nil && a.Status == http.StatusBadRequest {
			c.Problem("%s for %s, want detail.fieldErrors with operator or country", a, msisdn)
		}
	}
	a := c.Post(
		"/payments",
		c.Collection(suite.MtnRW, suite.Object{"msisdn": "+33600000001", "operator": suite.LeftOut{}, "scenario": "success"}),
	)
	c.FieldsRefused(a, "operator")
	a = c.Post(
		"/payments",
		c.Collection(suite.MtnRW, suite.Object{"msisdn": "+33600000001", "country": suite.LeftOut{}, "scenario": "success"}),
	)
	c.FieldsRefused(a, "country")
}

func detectionNoEnvironment(c *suite.Check) {
	c.Needs(suite.OrangeCI)
	for _, msisdn := range []string{"+2250199999999", "+2250599999999"} { // moov CI does not exist, mtn CI is disabled
		c.Refused(c.Post("/payments", c.Collection(suite.OrangeCI, detected(msisdn))), http.StatusNotFound, "env_not_found")
	}
}
