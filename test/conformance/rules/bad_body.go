package rules

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// maxBody is the largest accepted body, in bytes.
const maxBody = 64 << 10

func bodyRules() []suite.Rule {
	return append(forEach([]inputRule{
		{"no-object", "a body that is not one JSON object is 400 invalid_body", bodyNoObject},
		{"utf8", "a body that is not UTF-8 is 400 invalid_body", bodyUTF8},
		{"nesting", "a deeply nested body does no harm", bodyNesting},
		{"largest", "a body of exactly 64 KiB is accepted", bodyLargest},
		{"too-large", "a body of 64 KiB and one byte is 413 body_too_large, with and without a Content-Length", bodyTooLarge},
		{"media-type", "a body with a content type other than application/json is 415 unsupported_media_type", bodyMediaType},
		{"charset", "a content type with a parameter is still application/json", bodyCharset},
		{"second-spelling", "a field has only one spelling: another one is 400 invalid_body, and named as a wrong field", bodySecondSpelling},
	}),
		suite.Rule{ID: "input/method", Check: inputMethod,
			Text: "a method that a route does not support is 405 method_not_allowed"},
		suite.Rule{ID: "input/method-allow", Check: inputMethodAllow,
			Text: "a 405 lists the supported methods in Allow"},
	)
}

func bodyNoObject(c *suite.Check, t creator) {
	valid, err := json.Marshal(t.body(c, nil))
	if err != nil {
		c.Fail("%v", err)
	}
	bodies := []string{
		"",
		" ",
		"null",
		"true",
		"1",
		`"text"`,
		"[]",
		"[" + string(valid) + "]",
		"{",
		"{]",
		`{"amount"}`,
		`{"amount":}`,
		"{'amount': 1}",
		`{amount: 1}`,
		`{"amount": 1,}`,
		`{"amount": NaN}`,
		`{"amount": 01}`,
		`{"amount": +1}`,
		`{"amount": 0x10}`,
		"nonsense",
		"amount=1&currency=RWF",
		"<payment/>",
		string(
			valid,
		) + string(
			valid,
		),
		string(valid) + " {}",
		string(valid) + "x",
		string(valid) + "]",
		"\x00" + string(valid),
		string(valid) + "\x00",
		string(valid[:len(valid)-1]),
		"/* */" + string(valid),
		`{"amount": "` + "\n" + `"}`,
		`{"amount": "\x"}`,
		`{"amount": "\u12"}`,
	}
	for _, body := range bodies {
		c.Refused(c.Post(t.path(), suite.Text(body)), http.StatusBadRequest, "invalid_body")
	}
}

func bodyUTF8(c *suite.Check, t creator) {
	for _, bad := range []string{"\xff", "\xc3(", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"} {
		valid, err := json.Marshal(t.body(c, suite.Object{"description": "MARK"}))
		if err != nil {
			c.Fail("%v", err)
		}
		c.Refused(c.Post(t.path(), suite.Text(bytes.Replace(valid, []byte("MARK"), []byte(bad), 1))), http.StatusBadRequest, "invalid_body")
	}
}

func bodyNesting(c *suite.Check, t creator) {
	const depth = 20_000
	arrays := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	objects := strings.Repeat(`{"":`, depth/2) + "0" + strings.Repeat("}", depth/2)
	for _, body := range []string{arrays, objects, strings.Repeat("[", 60_000), strings.Repeat(`{"a":`, 12_000), `{"amount": ` + arrays + "}"} {
		c.Refused(c.Post(t.path(), suite.Text(body)), http.StatusBadRequest, "invalid_body")
	}
}

// filled is a valid body of a length in bytes. An unknown field fills it.
func filled(c *suite.Check, t creator, length int) suite.Text {
	body := t.body(c, suite.Object{"filling": ""})
	written, err := json.Marshal(body)
	if err != nil {
		c.Fail("%v", err)
	}
	body["filling"] = strings.Repeat("x", length-len(written))
	written, _ = json.Marshal(body)
	return suite.Text(written)
}

func bodyLargest(c *suite.Check, t creator) {
	c.Expect(c.Post(t.path(), filled(c, t, maxBody)), t.created)
	padding := strings.Repeat(" ", 60_000)
	c.Expect(c.Post(t.path(), suite.Text(padding)+filled(c, t, maxBody-len(padding))), t.created)
}

func bodyTooLarge(c *suite.Check, t creator) {
	tooLong := []suite.Text{
		filled(c, t, maxBody+1), suite.Text(strings.Repeat(" ", maxBody+1)), suite.Text(strings.Repeat("x", 2*maxBody)),
	}
	for _, body := range tooLong {
		c.Refused(c.Post(t.path(), body), http.StatusRequestEntityTooLarge, "body_too_large")
	}
	a := c.Send(suite.Request{Method: "POST", Path: t.path(), Body: suite.Stream(filled(c, t, maxBody+1))})
	c.Refused(a, http.StatusRequestEntityTooLarge, "body_too_large")
}

func bodyMediaType(c *suite.Check, t creator) {
	for _, media := range []string{"", "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "application/jsonx", "json", "application/json/x"} {
		a := c.Send(suite.Request{Method: "POST", Path: t.path(), Body: t.body(c, nil), Header: map[string]string{"Content-Type": media}})
		c.Refused(a, http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
}

func bodyCharset(c *suite.Check, t creator) {
	for _, media := range []string{"application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"} {
		a := c.Send(suite.Request{Method: "POST", Path: t.path(), Body: t.body(c, nil), Header: map[string]string{"Content-Type": media}})
		c.Expect(a, t.created)
	}
}

func bodySecondSpelling(c *suite.Check, t creator) {
	c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{"amount": suite.LeftOut{}, "Amount": 5, "AMOUNT": 5})), "amount", "Amount", "AMOUNT")
	for _, name := range []string{"MSISDN", "orderRef", "OrderRef", "order-ref", "isUrlProtected"} {
		c.FieldsRefused(c.Post(t.path(), t.body(c, suite.Object{name: 7})), name)
	}
}

func inputMethod(c *suite.Check) {
	c.Needs(suite.MtnRW)
	path := suite.PaymentPath(suite.TextOf(c.Paid(suite.MtnRW, nil), "id"))
	for _, r := range []suite.Request{
		{Method: "PUT", Path: "/payments", Body: suite.Object{}}, {Method: "DELETE", Path: "/payments"}, {Method: "PATCH", Path: path, Body: suite.Object{}},
		{Method: "DELETE", Path: path}, {Method: "POST", Path: path, Body: suite.Object{}}, {Method: "GET", Path: path + "/refund"},
		{Method: "PUT", Path: path + "/refund"}, {Method: "GET", Path: "/disbursements"}, {Method: "DELETE", Path: "/disbursements"},
		{Method: "POST", Path: "/meta", Body: suite.Object{}}, {Method: "DELETE", Path: "/health"},
	} {
		c.Refused(c.Send(r), http.StatusMethodNotAllowed, "method_not_allowed")
	}
}

func inputMethodAllow(c *suite.Check) {
	for path, method := range map[string]string{"/payments": "GET", "/payments/TX_1": "GET", "/payments/TX_1/refund": "POST", "/disbursements": "POST"} {
		a := c.Send(suite.Request{Method: "DELETE", Path: path})
		if got := a.Header.Get("Allow"); !strings.Contains(got, method) || strings.Contains(got, "DELETE") {
			c.Problem("%s with Allow %q, want it to have %s", a, got, method)
		}
	}
}
