package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// maxBody is the largest body in bytes that is read.
const maxBody = 64 << 10

func bodyRules() []rule {
	return append(forEach([]inputRule{
		{"no-object", "a body that is not one JSON object is 400 invalid_body", bodyNoObject},
		{"utf8", "a body that is not UTF-8 is 400 invalid_body", bodyUTF8},
		{"nesting", "a body that is nested very deeply does no harm", bodyNesting},
		{"largest", "a body of exactly 64 KiB is read", bodyLargest},
		{"too-large", "a body of 64 KiB and one byte is 413 body_too_large, announced or not", bodyTooLarge},
		{"media-type", "a body of another content type than application/json is 415 unsupported_media_type", bodyMediaType},
		{"charset", "a content type with a parameter is still application/json", bodyCharset},
		{"second-spelling", "a field is known by one spelling only", bodySecondSpelling},
	}),
		rule{id: "input/method", check: inputMethod,
			text: "a method that a route does not have is 405 method_not_allowed"},
		rule{id: "input/method-allow", check: inputMethodAllow,
			text: "a 405 says in Allow which methods there are"},
	)
}

func bodyNoObject(c *check, t creator) {
	valid, err := json.Marshal(t.body(c, nil))
	if err != nil {
		c.fail("%v", err)
	}
	bodies := []string{
		"", " ", "null", "true", "1", `"text"`, "[]", "[" + string(valid) + "]", "{", "{]", `{"amount"}`, `{"amount":}`, "{'amount': 1}", `{amount: 1}`,
		`{"amount": 1,}`, `{"amount": NaN}`, `{"amount": 01}`, `{"amount": +1}`, `{"amount": 0x10}`, "nonsense", "amount=1&currency=RWF", "<payment/>",
		string(valid) + string(valid), string(valid) + " {}", string(valid) + "x", string(valid) + "]", "\x00" + string(valid), string(valid) + "\x00",
		string(valid[:len(valid)-1]), "/* */" + string(valid), `{"amount": "` + "\n" + `"}`, `{"amount": "\x"}`, `{"amount": "\u12"}`,
	}
	for _, body := range bodies {
		c.refused(c.post(t.path(), text(body)), http.StatusBadRequest, "invalid_body")
	}
}

func bodyUTF8(c *check, t creator) {
	for _, bad := range []string{"\xff", "\xc3(", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"} {
		valid, err := json.Marshal(t.body(c, object{"description": "MARK"}))
		if err != nil {
			c.fail("%v", err)
		}
		c.refused(c.post(t.path(), text(bytes.Replace(valid, []byte("MARK"), []byte(bad), 1))), http.StatusBadRequest, "invalid_body")
	}
}

func bodyNesting(c *check, t creator) {
	const depth = 20_000
	arrays := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	objects := strings.Repeat(`{"":`, depth/2) + "0" + strings.Repeat("}", depth/2)
	for _, body := range []string{arrays, objects, strings.Repeat("[", 60_000), strings.Repeat(`{"a":`, 12_000), `{"amount": ` + arrays + "}"} {
		c.refused(c.post(t.path(), text(body)), http.StatusBadRequest, "invalid_body")
	}
}

// filled is a valid body of a length in bytes. What fills it is a field that the API does not know.
func (c *check) filled(t creator, length int) text {
	body := t.body(c, object{"filling": ""})
	written, err := json.Marshal(body)
	if err != nil {
		c.fail("%v", err)
	}
	body["filling"] = strings.Repeat("x", length-len(written))
	written, _ = json.Marshal(body)
	return text(written)
}

func bodyLargest(c *check, t creator) {
	c.expect(c.post(t.path(), c.filled(t, maxBody)), t.created)
	padding := strings.Repeat(" ", 60_000)
	c.expect(c.post(t.path(), text(padding)+c.filled(t, maxBody-len(padding))), t.created)
}

func bodyTooLarge(c *check, t creator) {
	for _, body := range []text{c.filled(t, maxBody+1), text(strings.Repeat(" ", maxBody+1)), text(strings.Repeat("x", 2*maxBody))} {
		c.refused(c.post(t.path(), body), http.StatusRequestEntityTooLarge, "body_too_large")
	}
	a := c.send(request{method: "POST", path: t.path(), body: stream(c.filled(t, maxBody+1))})
	c.refused(a, http.StatusRequestEntityTooLarge, "body_too_large")
}

func bodyMediaType(c *check, t creator) {
	for _, media := range []string{"", "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "application/jsonx", "json", "application/json/x"} {
		a := c.send(request{method: "POST", path: t.path(), body: t.body(c, nil), header: map[string]string{"Content-Type": media}})
		c.refused(a, http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
}

func bodyCharset(c *check, t creator) {
	for _, media := range []string{"application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"} {
		a := c.send(request{method: "POST", path: t.path(), body: t.body(c, nil), header: map[string]string{"Content-Type": media}})
		c.expect(a, t.created)
	}
}

func bodySecondSpelling(c *check, t creator) {
	c.fieldsRefused(c.post(t.path(), t.body(c, object{"amount": leftOut{}, "Amount": 5, "AMOUNT": 5})), "amount")
	c.expect(c.post(t.path(), t.body(c, object{"MSISDN": "nonsense", "Currency": 5, "orderRef": 7})), t.created)
}

func inputMethod(c *check) {
	c.needs(mtnRW)
	path := paymentPath(textOf(c.paid(mtnRW, nil), "id"))
	for _, r := range []request{
		{method: "PUT", path: "/payments", body: object{}}, {method: "DELETE", path: "/payments"}, {method: "PATCH", path: path, body: object{}},
		{method: "DELETE", path: path}, {method: "POST", path: path, body: object{}}, {method: "GET", path: path + "/refund"},
		{method: "PUT", path: path + "/refund"}, {method: "GET", path: "/disbursements"}, {method: "DELETE", path: "/disbursements"},
		{method: "POST", path: "/meta", body: object{}}, {method: "DELETE", path: "/health"},
	} {
		c.refused(c.send(r), http.StatusMethodNotAllowed, "method_not_allowed")
	}
}

func inputMethodAllow(c *check) {
	for path, method := range map[string]string{"/payments": "GET", "/payments/TX_1": "GET", "/payments/TX_1/refund": "POST", "/disbursements": "POST"} {
		a := c.send(request{method: "DELETE", path: path})
		if got := a.header.Get("Allow"); !strings.Contains(got, method) || strings.Contains(got, "DELETE") {
			c.problem("%s with Allow %q, want it to have %s", a, got, method)
		}
	}
}
