package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// creator is an endpoint that creates a transaction.
type creator struct {
	name    string // of its path
	created int    // status of a new transaction
	body    func(c *suite.Check, changes suite.Object) suite.Object
}

func (t creator) path() string { return "/" + t.name }

var creators = []creator{
	{"payments", http.StatusCreated, func(c *suite.Check, changes suite.Object) suite.Object {
		return c.Collection(suite.MtnRW, suite.Object{"scenario": "maintenance"}, changes)
	}},
	{"disbursements", http.StatusOK, func(c *suite.Check, changes suite.Object) suite.Object { return c.Disbursement(suite.MtnRW, changes) }},
}

// inputRule is a rule for each of the creators.
type inputRule struct {
	name, text string
	check      func(*suite.Check, creator)
}

// forEach makes the rules for every creator.
func forEach(rules []inputRule) []suite.Rule {
	var all []suite.Rule
	for _, t := range creators {
		for _, r := range rules {
			all = append(
				all,
				suite.Rule{ID: "input/" + t.name + "-" + r.name, Text: "POST /v1" + t.path() + ": " + r.text, Check: func(c *suite.Check) {
					c.Needs(suite.MtnRW)
					r.check(c, t)
				}},
			)
		}
	}
	return all
}

func inputRules() []suite.Rule {
	rules := forEach([]inputRule{
		{"required", "a missing or null field that is required is 400 invalid_body and named in detail.fieldErrors", inputRequired},
		{"all-at-once", "all wrong fields are named at once", inputAllAtOnce},
		{"fields-only", "only wrong fields are named", inputFieldsOnly},
		{"numbers", "an amount that is not written as an integer from 1 to 10^12 is refused, for example 100.0, 1e2 or a text", inputNumbers},
		{"longest", "texts of exactly the maximum length are accepted, counted in Unicode characters", inputLongest},
		{"too-long", "texts with one more character are refused, counted in Unicode characters", inputTooLong},
		{"msisdn-bounds", "numbers have 7 to 15 digits", inputMSISDNBounds},
		{"nothing-recorded", "a refused request records nothing", inputNothingRecorded},
		{"nul", "a text with a NUL character is refused, and its field is named", inputNUL},
	})
	for _, field := range slices.Sorted(maps.Keys(wrongValues)) {
		rules = append(rules, forEach([]inputRule{{
			"field-" + strings.ReplaceAll(field, "_", "-"), "a wrong " + field + " is 400 invalid_body, and it is named in detail.fieldErrors",
			func(c *suite.Check, t creator) { inputField(c, t, field) },
		}})...)
	}
	return rules
}

// badAmounts are not positive integers.
func badAmounts() []any {
	bad := []any{"", "100", true, []int{1}, suite.Object{}, suite.Object{"value": 1}}
	for _, number := range []string{"0", "-1", "-0", "1.5", "100.0", "1e2", "1E2", "10e-1", "0.1", "1e400", "99999999999999999999", "-9223372036854775809"} {
		bad = append(bad, json.RawMessage(number))
	}
	return bad
}

// wrongValues are invalid values of fields, on every creator.
var wrongValues = map[string][]any{
	"currency": {"", "RW", "RWFRW", "R1F", "RW ", 646, true, []string{"RWF"}},
	"country":  {"", "R", "RWA", 250, true, suite.Object{}},
	"operator": {"", "vodafone", "MTN", "mtn ", 1, []string{"mtn"}},
	"msisdn": {
		"",
		"250788000001",
		"+0788000001",
		"+25078800000a",
		"+250 788 000 001",
		"+250-788-000-001",
		"00250788000001",
		"++250788000001",
		"+",
		"+٢٥٠٧٨٨٠٠٠٠٠١",
		"+250788000001\n",
		250788000001,
		true,
		suite.Object{},
	},
	"application": {"", 1, true, []string{"shop"}, suite.Object{}},
	"reference":   {"", 1, true, []string{"r"}, suite.Object{}},
	"order_ref":   {"", 1, true, suite.Object{}},
	"order_url": {
		"",
		"order",
		"/orders/1",
		"shop.example/1",
		"//shop.example/1",
		"ftp://shop.example/1",
		"javascript:alert(1)",
		"http://",
		"https:///1",
		"http://shop.example:x/",
		"http://a b.example/",
		"data:text/html,x",
		1,
		true,
		suite.Object{},
	},
	"is_url_protected": {"", "true", 1, 0, suite.Object{}},
	"description":      {1, true, []string{"d"}, suite.Object{}},
}

// longest are the maximum lengths of free texts.
var longest = map[string]int{"reference": 80, "order_ref": 120, "description": 200}

// required are the required fields.
func required(t creator) []string {
	if t.name == "disbursements" {
		return []string{"amount", "currency", "operator", "country", "msisdn", "application"}
	}
	return []string{"amount", "currency", "msisdn", "reference", "application"}
}

func inputRequired(c *suite.Check, t creator) {
	for _, field := range required(t) {
		for _, nothing := range []any{suite.LeftOut{}, nil} {
			c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{field: nothing})), field)
		}
	}
	c.FieldsRefused(c.Post(t.path(), suite.Object{}), required(t)...)
}

func inputField(c *suite.Check, t creator, field string) {
	for _, value := range wrongValues[field] {
		c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{field: value})), field)
	}
}

func inputAllAtOnce(c *suite.Check, t creator) {
	wrong := suite.Object{
		"amount": "a lot", "currency": "R", "operator": "vodafone", "country": 5, "msisdn": "0788", "application": strings.Repeat("a", 81),
		"reference": true, "order_ref": "", "order_url": "javascript:x", "is_url_protected": "yes", "description": strings.Repeat("d", 201),
	}
	c.FieldsRefused(c.Post(t.path(), t.body(c, wrong)), slices.Sorted(maps.Keys(wrong))...)
	two := suite.Object{"amount": suite.LeftOut{}, "order_url": "ftp://shop.example"}
	c.FieldsRefused(c.Post(t.path(), t.body(c, two)), slices.Sorted(maps.Keys(two))...)
	pair := suite.Object{"currency": "USD", "description": "a\x00b"}
	c.FieldsRefused(c.Post(t.path(), t.body(c, pair)), "description")
}

func inputFieldsOnly(c *suite.Check, t creator) {
	a := c.Post(t.path(), t.body(c, suite.Object{"amount": -5, "nonsense": []int{}}))
	detail := c.Refused(a, http.StatusBadRequest, "invalid_body")
	if fields, _ := detail["fieldErrors"].(suite.Object); len(fields) != 1 {
		c.Problem("%s, want amount alone in detail.fieldErrors", a)
	}
}

func inputNumbers(c *suite.Check, t creator) {
	for _, amount := range append(badAmounts(), json.RawMessage("1000000000001")) {
		c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{"amount": amount})), "amount")
	}
}

// padded is a unique text of a length.
func padded(c *suite.Check, length int) string {
	start := c.Reference() + "-"
	return start + strings.Repeat("x", length-len(start))
}

// inputLongest uses characters of one, two and four bytes.
func inputLongest(c *suite.Check, t creator) {
	for field, length := range longest {
		for _, character := range []string{"x", "é", "🎫"} {
			name := c.Reference()
			value := name + strings.Repeat(character, length-len(name))
			c.Expect(c.Post(t.path(), t.body(c, suite.Object{field: value})), t.created)
		}
	}
	link := "https://shop.example/"
	c.Expect(c.Post(t.path(), t.body(c, suite.Object{"order_url": link + strings.Repeat("x", 500-len(link))})), t.created)
	a := c.Post(t.path(), t.body(c, suite.Object{"application": strings.Repeat("x", 80)}))
	c.Refused(a, http.StatusNotFound, "not_found") // valid as a store name, but no store
}

func inputTooLong(c *suite.Check, t creator) {
	tooLong := maps.Clone(longest)
	tooLong["application"] = 80
	for field, length := range tooLong {
		for _, character := range []string{"x", "é", "🎫"} {
			value := strings.Repeat(character, length+1)
			c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{field: value})), field)
		}
	}
	link := "https://shop.example/"
	c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{"order_url": link + strings.Repeat("x", 501-len(link))})), "order_url")
}

func inputMSISDNBounds(c *suite.Check, t creator) {
	for _, digits := range []string{"1234567", "123456789012345"} {
		c.Expect(c.Post(t.path(), t.body(c, suite.Object{"msisdn": "+" + digits})), t.created)
	}
	for _, digits := range []string{"123456", "1234567890123456"} {
		c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{"msisdn": "+" + digits})), "msisdn")
	}
}

func inputNothingRecorded(c *suite.Check, t creator) {
	reference := c.Reference()
	for _, wrong := range []suite.Object{
		{"amount": 0}, {"amount": json.RawMessage("1e2")}, {"currency": "XOF"}, {"msisdn": "1"}, {"application": "no-such-store"}, {"operator": "orange"},
		{"order_url": "x"}, {"description": "a\x00b"},
	} {
		a := c.Post(t.path(), t.body(c, suite.Changed(wrong, suite.Object{"reference": reference})))
		if a.Status < 400 || a.Status >= 500 {
			c.Problem("%s, want it refused", a)
		}
	}
	if found := c.Items(c.List(url.Values{"reference": {reference}})); len(found) > 0 {
		c.Problem("refused requests recorded %d transactions", len(found))
	}
	c.Expect(c.Post(t.path(), t.body(c, suite.Object{"reference": reference})), t.created)
}

func inputNUL(c *suite.Check, t creator) {
	for _, field := range []string{"currency", "country", "operator", "msisdn", "application", "reference", "order_ref", "order_url", "description"} {
		value := fmt.Sprint(t.body(c, suite.Object{"order_ref": "o", "order_url": "https://shop.example/", "description": "d"})[field])
		for _, bad := range []string{"\x00", value + "\x00", "\x00" + value} {
			c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{field: bad})), field)
		}
	}
}
