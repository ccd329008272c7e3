package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// creator is an endpoint that makes a transaction of its request's body.
type creator struct {
	name    string // of its path
	created int    // status of a new one
	body    func(c *check, changes object) object
}

func (t creator) path() string { return "/" + t.name }

var creators = []creator{
	{"payments", http.StatusCreated, func(c *check, changes object) object {
		return c.collection(mtnRW, object{"scenario": "maintenance"}, changes)
	}},
	{"disbursements", http.StatusOK, func(c *check, changes object) object { return c.disbursement(mtnRW, changes) }},
}

// inputRule is a rule that holds for each of the creators.
type inputRule struct {
	name, text string
	check      func(*check, creator)
}

// forEach makes the rules for every creator.
func forEach(rules []inputRule) []rule {
	var all []rule
	for _, t := range creators {
		for _, r := range rules {
			all = append(all, rule{id: "input/" + t.name + "-" + r.name, text: "POST /v1" + t.path() + ": " + r.text, check: func(c *check) {
				c.needs(mtnRW)
				r.check(c, t)
			}})
		}
	}
	return all
}

func inputRules() []rule {
	rules := forEach([]inputRule{
		{"required", "a missing or null field that is required is 400 invalid_body and named in detail.fieldErrors", inputRequired},
		{"all-at-once", "all wrong fields are named at once", inputAllAtOnce},
		{"fields-only", "only wrong fields are named", inputFieldsOnly},
		{"numbers", "an amount that is not written as an integer from 1 to 10^12 is refused: no 100.0, no 1e2, no text", inputNumbers},
		{"longest", "texts of exactly the greatest length are taken, counted in Unicode characters", inputLongest},
		{"too-long", "texts of one character more are refused, counted in Unicode characters", inputTooLong},
		{"msisdn-bounds", "numbers have 7 to 15 digits", inputMSISDNBounds},
		{"nothing-recorded", "a refused request records nothing", inputNothingRecorded},
		{"nul", "a text with a NUL character is refused, and its field is named", inputNUL},
	})
	for _, field := range slices.Sorted(maps.Keys(wrongValues)) {
		rules = append(rules, forEach([]inputRule{{
			"field-" + strings.ReplaceAll(field, "_", "-"), "a wrong " + field + " is 400 invalid_body, and it is named in detail.fieldErrors",
			func(c *check, t creator) { inputField(c, t, field) },
		}})...)
	}
	return rules
}

// badAmounts are no positive integers.
func badAmounts() []any {
	bad := []any{"", "100", true, []int{1}, object{}, object{"value": 1}}
	for _, number := range []string{"0", "-1", "-0", "1.5", "100.0", "1e2", "1E2", "10e-1", "0.1", "1e400", "99999999999999999999", "-9223372036854775809"} {
		bad = append(bad, json.RawMessage(number))
	}
	return bad
}

// wrongValues are values that a field must not have, on either endpoint.
var wrongValues = map[string][]any{
	"currency":         {"", "RW", "RWFRW", "R1F", "RW ", 646, true, []string{"RWF"}},
	"country":          {"", "R", "RWA", 250, true, object{}},
	"operator":         {"", "vodafone", "MTN", "mtn ", 1, []string{"mtn"}},
	"msisdn":           {"", "250788000001", "+0788000001", "+25078800000a", "+250 788 000 001", "+250-788-000-001", "00250788000001", "++250788000001", "+", "+٢٥٠٧٨٨٠٠٠٠٠١", "+250788000001\n", 250788000001, true, object{}},
	"application":      {"", 1, true, []string{"shop"}, object{}},
	"reference":        {"", 1, true, []string{"r"}, object{}},
	"order_ref":        {"", 1, true, object{}},
	"order_url":        {"", "order", "/orders/1", "shop.example/1", "//shop.example/1", "ftp://shop.example/1", "javascript:alert(1)", "http://", "https:///1", "http://shop.example:x/", "http://a b.example/", "data:text/html,x", 1, true, object{}},
	"is_url_protected": {"", "true", 1, 0, object{}},
	"description":      {1, true, []string{"d"}, object{}},
}

// longest are the greatest lengths of texts that may be anything.
var longest = map[string]int{"reference": 80, "order_ref": 120, "description": 200}

// required are the fields without which there is no transaction.
func required(t creator) []string {
	if t.name == "disbursements" {
		return []string{"amount", "currency", "operator", "country", "msisdn", "application"}
	}
	return []string{"amount", "currency", "msisdn", "reference", "application"}
}

func inputRequired(c *check, t creator) {
	for _, field := range required(t) {
		for _, nothing := range []any{leftOut{}, nil} {
			c.fieldsRefused(c.post(t.path(), t.body(c, object{field: nothing})), field)
		}
	}
	c.fieldsRefused(c.post(t.path(), object{}), required(t)...)
}

func inputField(c *check, t creator, field string) {
	for _, value := range wrongValues[field] {
		c.fieldsRefused(c.post(t.path(), t.body(c, object{field: value})), field)
	}
}

func inputAllAtOnce(c *check, t creator) {
	wrong := object{
		"amount": "a lot", "currency": "R", "operator": "vodafone", "country": 5, "msisdn": "0788", "application": strings.Repeat("a", 81),
		"reference": true, "order_ref": "", "order_url": "javascript:x", "is_url_protected": "yes", "description": strings.Repeat("d", 201),
	}
	c.fieldsRefused(c.post(t.path(), t.body(c, wrong)), slices.Sorted(maps.Keys(wrong))...)
	two := object{"amount": leftOut{}, "order_url": "ftp://shop.example"}
	c.fieldsRefused(c.post(t.path(), t.body(c, two)), slices.Sorted(maps.Keys(two))...)
	pair := object{"currency": "USD", "description": "a\x00b"}
	c.fieldsRefused(c.post(t.path(), t.body(c, pair)), "description")
}

func inputFieldsOnly(c *check, t creator) {
	a := c.post(t.path(), t.body(c, object{"amount": -5, "nonsense": []int{}}))
	detail := c.refused(a, http.StatusBadRequest, "invalid_body")
	if fields, _ := detail["fieldErrors"].(object); len(fields) != 1 {
		c.problem("%s, want amount alone in detail.fieldErrors", a)
	}
}

func inputNumbers(c *check, t creator) {
	for _, amount := range append(badAmounts(), json.RawMessage("1000000000001")) {
		c.fieldsRefused(c.post(t.path(), t.body(c, object{"amount": amount})), "amount")
	}
}

// padded is a text of a length that nobody else has.
func (s *suite) padded(length int) string {
	start := s.reference() + "-"
	return start + strings.Repeat("x", length-len(start))
}

// inputLongest uses characters of one, two and four bytes.
func inputLongest(c *check, t creator) {
	for field, length := range longest {
		for _, character := range []string{"x", "é", "🎫"} {
			name := c.reference()
			value := name + strings.Repeat(character, length-len(name))
			c.expect(c.post(t.path(), t.body(c, object{field: value})), t.created)
		}
	}
	link := "https://shop.example/"
	c.expect(c.post(t.path(), t.body(c, object{"order_url": link + strings.Repeat("x", 500-len(link))})), t.created)
	a := c.post(t.path(), t.body(c, object{"application": strings.Repeat("x", 80)}))
	c.refused(a, http.StatusNotFound, "not_found") // long enough to be a store, and none
}

func inputTooLong(c *check, t creator) {
	tooLong := maps.Clone(longest)
	tooLong["application"] = 80
	for field, length := range tooLong {
		for _, character := range []string{"x", "é", "🎫"} {
			value := strings.Repeat(character, length+1)
			c.fieldsRefused(c.post(t.path(), t.body(c, object{field: value})), field)
		}
	}
	link := "https://shop.example/"
	c.fieldsRefused(c.post(t.path(), t.body(c, object{"order_url": link + strings.Repeat("x", 501-len(link))})), "order_url")
}

func inputMSISDNBounds(c *check, t creator) {
	for _, digits := range []string{"1234567", "123456789012345"} {
		c.expect(c.post(t.path(), t.body(c, object{"msisdn": "+" + digits})), t.created)
	}
	for _, digits := range []string{"123456", "1234567890123456"} {
		c.fieldsRefused(c.post(t.path(), t.body(c, object{"msisdn": "+" + digits})), "msisdn")
	}
}

func inputNothingRecorded(c *check, t creator) {
	reference := c.reference()
	for _, wrong := range []object{
		{"amount": 0}, {"amount": json.RawMessage("1e2")}, {"currency": "XOF"}, {"msisdn": "1"}, {"application": "no-such-store"}, {"operator": "orange"},
		{"order_url": "x"}, {"description": "a\x00b"},
	} {
		a := c.post(t.path(), t.body(c, changed(wrong, object{"reference": reference})))
		if a.status < 400 || a.status >= 500 {
			c.problem("%s, want it refused", a)
		}
	}
	if found := c.items(c.list(url.Values{"reference": {reference}})); len(found) > 0 {
		c.problem("refused requests recorded %d transactions", len(found))
	}
	c.expect(c.post(t.path(), t.body(c, object{"reference": reference})), t.created)
}

func inputNUL(c *check, t creator) {
	for _, field := range []string{"currency", "country", "operator", "msisdn", "application", "reference", "order_ref", "order_url", "description"} {
		value := fmt.Sprint(t.body(c, object{"order_ref": "o", "order_url": "https://shop.example/", "description": "d"})[field])
		for _, bad := range []string{"\x00", value + "\x00", "\x00" + value} {
			c.fieldsRefused(c.post(t.path(), t.body(c, object{field: bad})), field)
		}
	}
}
