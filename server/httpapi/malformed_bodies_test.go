package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

// The answer to a body that cannot be read says where and why, and the request log has its outline without its values.
func TestMalformedBodies(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct{ body, says, outline string }{
		"empty":         {"", "it is empty", ""},
		"single quotes": {"{'amount': 1000, 'pin': '4711'}", `line 1, column 2 (byte 2) has a single quote: JSON quotes with " only`, "{'amount': *, '*': '*'}"},
		"a comma too many": {
			"{\n \"amount\": 1000,\n \"pin\": \"4711\",\n}", "line 4, column 1 (byte 36) has '}': the comma before it is one too many",
			`{ "amount": *, "*": "*", }`,
		},
		"cut off":     {`{"amount": 1000, "reference": "geheim`, "it ends too early, at line 1, column 38 (byte 38): it was probably cut off", `{"amount": *, "reference": "*`},
		"two objects": {`{"amount": 1} {"amount": 2}`, "line 1, column 15 (byte 15) has '{': there is more text after the object", ""},
		"a BOM":       {"\xef\xbb\xbf{\"amount\": 1000}", "it begins with a byte order mark (its first bytes are ef bb bf 7b): send it without", `ef bb bf {"amount": *}`},
		"gzip":        {gzipped(`{"amount": 1000}`), "it is compressed with gzip (its first bytes are 1f 8b 08 00): send it uncompressed", "1f 8b 08 00 ..."},
		"UTF-16":      {"\xff\xfe{\x00}\x00", "it is UTF-16 (its first bytes are ff fe 7b 00): send it as UTF-8", "ff fe 7b 00 ..."},
		"Latin-1":     {"{\"description\": \"caf\xe9\"}", "line 1, column 21 (byte 21) is e9", ""},
		"a form":      {"amount=1000&pin=4711", "it is a form (application/x-www-form-urlencoded), and no JSON", "amount=*&*=*"},
		"Python":      {`{"amount": None}`, "line 1, column 12 (byte 12) has None: write null", `{"amount": None}`},
		"a list":      {`[{"amount": 1000}]`, "it is a list", `[{"amount": *}]`},
		"twice":       {`"{\"amount\": 1000}"`, "it was encoded twice", ""},
	} {
		got := f.call("POST", "/v1/payments", c.body, func(r *http.Request) { r.Header.Set("X-Request-Id", strings.ReplaceAll(name, " ", "-")) })
		message, _ := got.body["message"].(string)
		if got.status != http.StatusBadRequest || got.body["error"] != "invalid_body" || !strings.Contains(message, c.says) {
			t.Errorf("%s: %d %s", name, got.status, got.raw)
		}
		entry := f.requests("&error=invalid_body")[0]
		text := fmt.Sprint(entry)
		outlined := c.outline == "" || entry["hint"] == "the body begins "+c.outline
		if !outlined || strings.Contains(text, "4711") || strings.Contains(text, "geheim") {
			t.Errorf("%s: the log has %v", name, entry)
		}
	}
	coded := f.call("POST", "/v1/payments", payment("r1"), func(r *http.Request) { r.Header.Set("Content-Encoding", "br") })
	if !strings.Contains(coded.raw, `its header Content-Encoding is \"br\": send it uncompressed`) {
		t.Errorf("Content-Encoding: %s", coded.raw)
	}
	form := f.call("POST", "/v1/payments", "amount=1000", func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") })
	if form.status != http.StatusUnsupportedMediaType || !strings.Contains(form.raw, "The body's Content-Type is application/x-www-form-urlencoded.") {
		t.Errorf("a form: %s", form.raw)
	}
}

// The operators' own APIs keep their answers, and say in a header where a body stops being readable.
func TestMalformedBodiesOfOperators(t *testing.T) {
	f, a := withAirtel(t)
	quoted := `no JSON object: line 1, column 2 (byte 2) has a single quote: JSON quotes with " only`
	a.call("POST", "/merchant/v1/payments/", "{'reference': 'x'}").told(t, "invalid_request: the body is "+quoted)
	a.send("POST", "/auth/oauth2/token", "{'client_id': 'x'}").told(t, "user_invalid: the body is "+quoted)
	f.mtn(key).call("POST", "/collection/v1_0/requesttopay", "{'amount': '5'}", "X-Reference-Id", newReference()).told(t, "invalid_request: the body is "+quoted)
	f.mtn(key).call("POST", "/collection/v1_0/requesttopay", gzipped("{}"), "X-Reference-Id", newReference()).told(t,
		"invalid_request: the body is no JSON object: it is compressed with gzip (its first bytes are 1f 8b 08 00): send it uncompressed")
	for _, entry := range f.requests("&path=/operators/mtn")[:2] {
		if hint, _ := entry["hint"].(string); !strings.HasPrefix(hint, "the body is no JSON object: ") || !strings.Contains(hint, "; the body begins ") {
			t.Errorf("the log has %v", entry)
		}
	}

	o := f.orange(key)
	o.call(orangePay, "{'order_id': 'x'}").told(t, "invalid_body: the body is "+quoted)
	o.call(orangePay, "").told(t, "missing_body: the body is no JSON object: it is empty")
	f.config.Environments = append(f.config.Environments, moovEnvironments()...)
	f.sandbox(f.config, key)
	m := f.moov(key)
	m.post(moovDebit, "{'msisdn': '1'}").told(t, "invalid_request: the body is "+quoted)
	m.send("POST", ussdPush, "<a>\n<b></a>", "Content-Type", "text/xml").told(t,
		"invalid_request: the body is not readable: line 2, column 8 (byte 12) is not well-formed XML")
}

// A slash too many is named, with the right path.
func TestSlashTooMany(t *testing.T) {
	f := newFixture(t)
	for path, right := range map[string]string{
		"/v1/payments/":     "/v1/payments",
		"//v1/payments":     "/v1/payments",
		"/api//v1/payments": "/api/v1/payments",
		"/sandboxes/team/checkout//api/v1/payments":  "/sandboxes/team/checkout/api/v1/payments",
		"/sandboxes/team/checkout/api/v1/payments//": "/sandboxes/team/checkout/api/v1/payments",
		"//sandboxes/team/checkout/v1/meta/":         "/sandboxes/team/checkout/v1/meta",
		"/v1/test_clients/%2B250788000001/prompts/":  "/v1/test_clients/+250788000001/prompts",
	} {
		for _, method := range []string{"POST", "GET"} {
			got := f.call(method, path, nil)
			message, _ := got.body["message"].(string)
			if got.status != http.StatusNotFound || !strings.Contains(message, "it has a slash too many. Send the request to "+right+",") {
				t.Errorf("%s %s: %d %s", method, path, got.status, got.raw)
			}
		}
	}
	for _, path := range []string{"/v1/paymnts/", "//", "/v2//payments"} {
		if got := f.call("POST", path, nil); strings.Contains(got.raw, "slash too many") {
			t.Errorf("%s: %s", path, got.raw)
		}
	}
}
