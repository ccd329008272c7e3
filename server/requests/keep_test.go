package requests

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keeper takes from a request that presents a key.
func keeper() *Redactor {
	k := NewRedactor(http.Header{"Authorization": {"Bearer opaque-7f3a9c51d2"}})
	k.HideForm(regexp.MustCompile(`\d{20}`))
	k.HideForm(regexp.MustCompile(`pin-\d{4}`))
	return k
}

// The user and the key of Basic authentication, as programs write them that put the value of a header into a field.
var (
	inBase64    = base64.StdEncoding.EncodeToString([]byte("ün:cauri_sk_test_AbC12"))
	inBase64URL = base64.RawURLEncoding.EncodeToString([]byte("ün:cauri_sk_test_AbC12~~"))
)

func TestKeptTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"two tickets":                                "two tickets",
		"x cauri_sk_test_AbC123 y":                   "x [credential] y",
		"CAURI_SK_LIVE_x":                            "[credential]",
		"whsec_dGVzdA==.":                            "[credential].",
		"Bearer abcdefgh12":                          "[credential]",
		"Authorization: basic dXNlcjpwYXNz":          "Authorization: [credential]",
		"a basic plan":                               "a basic plan",
		"as `Authorization: Bearer <key>`.":          "as `Authorization: Bearer <key>`.",
		"eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.x":      "[credential]",
		"x cauri%5Fsk%5ftest_AbC123 y":               "x [credential] y",
		"a%20Bearer%20abcdefgh12 z":                  "[credential] z",
		"caur%2569_sk_%2574est_AbC":                  "[credential]",
		"pin%2D1234, 100% of 5%2f":                   "[credential] 100% of 5%2f",
		"at " + inBase64 + " and":                    "at [credential] and",
		"id=" + inBase64URL + ".":                    "id=[credential].",
		"dXNlcjpjb25maWQ=":                           "dXNlcjpjb25maWQ=",
		url.QueryEscape(inBase64) + " z":             "[credential] z",
		"12345678901234567890 and pin-1234":          "[credential] and [credential]",
		"=opaque-7f3a9c51d2=":                        "=[credential]=",
		"https://shop.example":                       "https://shop.example",
		"https://shop.example/":                      "https://shop.example/",
		"at https://u:p@shop.example:8080/o?t=1 now": "at https://shop.example:8080/{...} now",
		"https://shop.example#t":                     "https://shop.example/{...}",
		"https://u:p@":                               "https://",
		strings.Repeat("é", 501):                     strings.Repeat("é", 500),
	} {
		if got := keeper().Text(text); got != want {
			t.Errorf("%q is kept as %q, want %q", text, got, want)
		}
	}
}

func TestKeptPaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/v1/payments":  "/v1/payments",
		"/v1/payments/": "/v1/payments/",
		"/v1/payments/TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE/refund":       "/v1/payments/TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE/refund",
		"/v1/test_clients/+250788123456/prompts":                  "/v1/test_clients/+250788123456/prompts",
		"/v1/payments/1234":                                       "/v1/payments/{...}",
		"/v1/cauri_sk_test_checkout":                              "/v1/{...}",
		"/v1/opaque-7f3a9c51d2":                                   "/v1/{...}",
		"/operators/mtn/collection/v1_0/requesttopay":             "/operators/mtn/collection/v1_0/requesttopay",
		"/v1/payments/TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE.json":         "/v1/payments/{...}",
		"/v1/" + strings.Repeat("a", 41):                          "/v1/{...}",
		"/v1/a\x00b":                                              "/v1/{...}",
		"/" + strings.Join(slices.Repeat([]string{"a"}, 50), "/"): "/" + strings.Join(slices.Repeat([]string{"a"}, 19), "/") + "/{...}",
	} {
		if got := keeper().Path(path); got != want {
			t.Errorf("%q is kept as %q, want %q", path, got, want)
		}
	}
}

func TestKeptQueries(t *testing.T) {
	t.Parallel()
	allowed := Fields{"status": true, "limit": true}
	for raw, want := range map[string][2]string{
		"":                         {"", ""},
		"limit=5&status=a%20b":     {`{"limit":"5","status":"a b"}`, ""},
		"limit=5&limit=6":          {`{"limit":"5, 6"}`, ""},
		"token=x&pin2=7&limit=1":   {`{"limit":"1"}`, "token, a parameter"},
		"opaque-7f3a9c51d2=1":      {"", "a parameter"},
		"status=opaque-7f3a9c51d2": {`{"status":"[credential]"}`, ""},
		"limit=%zz":                {"", "limit"},
		"limit=<&status=\x00":      {`{"limit":"<","status":"\u0000"}`, ""},
		strings.Repeat("&", 5000):  {"", "the rest of the query"},
		"limit=1&status=" + strings.Repeat("x", 4070) + " opaque-7f3a9c51d2": {`{"limit":"1"}`, "the rest of the query"}, // cut in a credential
		"limit=5;status=6&status=7": {`{"limit":"5;status=6","status":"7"}`, ""},
	} {
		kept, left := keeper().Query(raw, allowed)
		if got := [2]string{string(kept), strings.Join(left, ", ")}; got != want {
			t.Errorf("%.60q is kept as %q, want %q", raw, got, want)
		}
	}
}

func TestKeptBodies(t *testing.T) {
	t.Parallel()
	allowed := Fields{"amount": true, "reference": true, "ok": true, "detail": true}
	for body, want := range map[string][2]string{
		"":                                   {"", ""},
		`{}`:                                 {"{}", ""},
		`{"reference":"r","amount":1e2}`:     {`{"reference":"r","amount":1e2}`, ""},
		`{"amount":null,"ok":true} `:         {`{"amount":null,"ok":true}`, ""},
		`{"pin":"1234","amount":1}`:          {`{"amount":1}`, "pin"},
		`{"pin4":{"a":[1,{}]},"amount":1}`:   {`{"amount":1}`, "a field"},
		`{"amount":{"amount":[{}]},"ok":1}`:  {`{"ok":1}`, "amount"},
		`{"amount":["x"],"ok":1,"pin":2}`:    {`{"ok":1}`, "amount, pin"},
		`{"reference":"opaque-7f3a9c51d2"}`:  {`{"reference":"[credential]"}`, ""},
		`{"reference":12345678901234567890}`: {`{"reference":"[credential]"}`, ""},
		`{"reference":"<&>\u0000"}`:          {`{"reference":"<&>\u0000"}`, ""},
		`{"ok":1,"reference":"cut o`:         {`{"ok":1}`, "the rest of the body"},
		`{"ok":1,"reference"`:                {`{"ok":1}`, "the rest of the body"},
		`{"ok":1,"amount":[1,2`:              {`{"ok":1}`, "the rest of the body"},
		`{"ok":1,,"amount":2}`:               {`{"ok":1}`, "the rest of the body"},
		`{"ok":1,"ok":2}`:                    {`{"ok":1,"ok":2}`, ""},
		`[1]`:                                {"", "the body"},
		`"{}"`:                               {"", "the body"},
		"amount=1&pin=1234":                  {"", "the body"},
		`{"reference":"` + strings.Repeat("x", 600) + `"}`: {`{"reference":"` + strings.Repeat("x", 500) + `"}`, ""},
	} {
		kept, left := keeper().Request([]byte(body), allowed, false)
		if got := [2]string{string(kept), strings.Join(left, ", ")}; got != want {
			t.Errorf("%.60q is kept as %q, want %q", body, got, want)
		}
	}
}

// Of an operator's program, fields of all levels are kept if their names and those of the objects around them may be, and no secret is.
func TestKeptNestedFields(t *testing.T) {
	t.Parallel()
	allowed := Fields{"amount": true, "reference": true, "ok": true, "detail": true}
	for body, want := range map[string][2]string{
		`{"amount":{"amount":[{}]},"ok":1}`:                                 {`{"amount":{"amount":[{}]},"ok":1}`, ""},
		`{"amount":["x",5],"ok":1,"pin":2}`:                                 {`{"amount":[],"ok":1}`, "pin"},
		`{"detail":{"pin":"4711","ok":[{"pin":{"ok":1},"amount":5}]}}`:      {`{"detail":{"ok":[{"amount":5}]}}`, "pin"},
		`{"other":{"amount":5},"detail":{"reference":"opaque-7f3a9c51d2"}}`: {`{"detail":{"reference":"[credential]"}}`, "other"},
		`{"detail":{"detail":{"reference":"pin-1234","pin4":7}}}`:           {`{"detail":{"detail":{"reference":"[credential]"}}}`, "a field"},
		`{"ok":1,"detail":{"amount":1,"pin`:                                 {`{"ok":1,"detail":{"amount":1}}`, "the rest of the body"},
		`{"detail":[[{"amount":1,"token":"x"}],"x"]}`:                       {`{"detail":[[{"amount":1}]]}`, "token"},
		strings.Repeat(`{"detail":`, 1000):                                  {"", ""},
	} {
		kept, left := keeper().Request([]byte(body), allowed, true)
		if got := [2]string{string(kept), strings.Join(left, ", ")}; got != want && len(body) < 1000 {
			t.Errorf("%.60q is kept as %q, want %q", body, got, want)
		}
		if !json.Valid(kept) {
			t.Errorf("%.60q is kept as %q, which is no JSON", body, kept)
		}
	}
}

// Of XML the elements without children are kept, whatever their prefixes and their depth.
func TestKeptElements(t *testing.T) {
	t.Parallel()
	allowed := Fields{"amount": true, "reference": true, "request": true}
	const open, ends = `<?xml version="1.0" encoding="utf-16"?><s:E xmlns:s="x"><s:B><a:Push xmlns:a="y">`, `</a:Push></s:B></s:E>`
	for body, want := range map[string][2]string{
		open + "<amount> 5\n</amount><token>secret</token>" + ends:           {`{"amount":"5"}`, "token"},
		open + "<request><a:amount>5</a:amount></request>" + ends:            {`{"amount":"5"}`, ""},
		open + "<amount>5</amount><amount>6</amount><pin4>7</pin4>" + ends:   {`{"amount":"5, 6"}`, "a field"},
		open + "<amount/><request>secret<x>1</x></request><y/>" + ends:       {`{"amount":""}`, "x"},
		open + "<reference>opaque-<!-- -->7f3a9c51d2</reference>" + ends:     {`{"reference":"[credential]"}`, ""},
		open + "<reference>&#111;paque-7f3a9c51d2</reference>" + ends:        {`{"reference":"[credential]"}`, ""},
		open + "<reference><![CDATA[opaque-7f3a9c51d2]]></reference>" + ends: {`{"reference":"[credential]"}`, ""},
		open + `<amount reference="secret">&lt;&amp;</amount>` + ends:        {`{"amount":"<&"}`, ""},
		"\ufeff\n <amount>5</amount>":                                        {`{"amount":"5"}`, ""},
		open + "<amount>5</amount><reference>opaque-7f":                      {`{"amount":"5"}`, "the rest of the body"},
		open + "<amount>5</amount><reference>&secret;</reference>" + ends:    {`{"amount":"5"}`, "the rest of the body"},
		open + "<amount>5</amount></b>":                                      {`{"amount":"5"}`, "the rest of the body"},
		`<!DOCTYPE a [<!ENTITY b "c">]><amount>&b;</amount>`:                 {"", "the rest of the body"},
		`<a><!ENTITY b "c"><amount>5</amount></a>`:                           {"", "the rest of the body"},
		strings.Repeat("<a>", 10) + "<amount>5</amount>":                     {"", "the rest of the body"},
		strings.Repeat("<a>", 9) + "<amount>5</amount>":                      {`{"amount":"5"}`, "the rest of the body"},
		"<": {"", "the rest of the body"},
	} {
		kept, left := keeper().Request([]byte(body), allowed, false)
		if got := [2]string{string(kept), strings.Join(left, ", ")}; got != want {
			t.Errorf("%s is kept as %q, want %q", body, got, want)
		}
		if got := string(keeper().Answer([]byte(body), allowed)); got != want[0] {
			t.Errorf("the answer %s is kept as %q, want %q", body, got, want[0])
		}
	}
}

func TestKeptForms(t *testing.T) {
	t.Parallel()
	allowed := Fields{"amount": true, "reference": true}
	k := NewRedactor(http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}, "Authorization": {"Bearer opaque-7f3a9c51d2"}})
	for body, want := range map[string][2]string{
		"amount=5&reference=a%20b&token=secret":                        {`{"amount":"5","reference":"a b"}`, "token"},
		"reference=opaque-7f3a9c51d2":                                  {`{"reference":"[credential]"}`, ""},
		"amount=5&reference=" + strings.Repeat("x", 4070) + "opaque-7": {`{"amount":"5"}`, "the rest of the body"},
		`{"amount":5}`: {"", "a field"},
	} {
		kept, left := k.Request([]byte(body), allowed, false)
		if got := [2]string{string(kept), strings.Join(left, ", ")}; got != want {
			t.Errorf("%.60q is kept as %q, want %q", body, got, want)
		}
	}
}

func TestKeptAnswers(t *testing.T) {
	t.Parallel()
	allowed := Fields{"data": true, "id": true, "ok": true}
	for body, want := range map[string]string{
		`{"data":[{"id":1,"raw":{"id":2}},{"raw":3},4],"ok":true}`: `{"data":[{"id":1},{},4],"ok":true}`,
		`{"data":[{"id":1},{"id":"cut`:                             `{"data":[{"id":1},{}]}`,
		`{"data":[`:                                                `{"data":[]}`,
		`{"raw":[[{}]],"ok":[]}`:                                   `{"ok":[]}`,
		`[]`:                                                       ``,
		``:                                                         ``,
	} {
		if got := string(keeper().Answer([]byte(body), allowed)); got != want {
			t.Errorf("%q is kept as %q, want %q", body, got, want)
		}
	}
}

// Whatever is sent, what is kept is JSON of a bounded size without what the request authenticates with.
func FuzzKeep(f *testing.F) {
	f.Add("opaque-7f3a9c51d2", `{"reference":"opaque-7f3a9c51d2","pin":"1","amount":[1]}`, "status=1&token=x", "/v1/payments/x")
	f.Add("abcdefgh", `<a:b xmlns:a="c"><reference>abc&#100;efgh</reference><amount>1</amount><d><reference>abcdefgh</reference></d></a:b>`, "", "")
	f.Add("abcdef", `{"reference":"\ud800abcdef`, "status=abc&status=def", "/a/b/+250788123456")
	f.Fuzz(func(t *testing.T, secret, body, query, path string) {
		if len(secret) < minPresented || len(strings.Fields(secret)) != 1 || strings.Contains(hiddenCredential, secret) {
			t.Skip("nothing to look for")
		}
		k := NewRedactor(http.Header{"Authorization": {"Bearer " + secret}})
		allowed := Fields{"reference": true, "amount": true, "status": true}
		sent, _ := k.Request([]byte(body), allowed, true)
		asked, _ := k.Query(query, allowed)
		for _, kept := range []json.RawMessage{sent, asked, k.Answer([]byte(body), allowed)} {
			if kept == nil {
				continue
			}
			if !json.Valid(kept) || len(kept) > 8*MaxBody {
				t.Errorf("kept is %q", kept)
			}
			var texts map[string]any
			if err := json.Unmarshal(kept, &texts); err != nil {
				t.Fatal(err)
			}
			for _, text := range texts {
				if text, is := text.(string); is && strings.Contains(text, secret) {
					t.Errorf("%q has the credential %q", text, secret)
				}
			}
		}
		for part := range strings.SplitSeq(k.Path(path), "/") {
			if part == secret && !version.MatchString(part) && !identifier.MatchString(part) {
				t.Errorf("the path has the credential %q", secret)
			}
		}
	})
}

// The outline of a body that cannot be read has its punctuation and the names that may be kept, and none of its values.
func TestOutline(t *testing.T) {
	t.Parallel()
	allowed := Fields{"amount": true, "reference": true}
	k := NewRedactor(http.Header{})
	for text, want := range map[string]string{
		`{'amount': 25000, 'pin': '4711'}`:                    `{'amount': *, '*': '*'}`,
		"{\n\t\"amount\": 1,\n\t\"reference\": \"a b c\",\n}": `{ "amount": *, "reference": "*", }`,
		`{"amount": None, "pin": True}`:                       `{"amount": None, "*": True}`,
		"amount=1&pin=4711&key=cauri_sk_test_0123456789":      "amount=*&*=*&*=*",
		"\xef\xbb\xbf{\"amount\": 1}":                         `ef bb bf {"amount": *}`,
		"\x1f\x8b\x08\x00secret":                              "1f 8b 08 00 ...",
		"{\x00\"\x00":                                         "7b 00 22 00 ...",
		`{"Géheim": "p@ss!w0rd;?#"}`:                          `{"*": "*"}`,
		"<a><pin>4711</pin></b>":                              "<*><*>*<*><*>",
		strings.Repeat("{", 900):                              strings.Repeat("{", 200) + " ...",
		strings.Repeat("é", 300):                              "*",
	} {
		if got := k.Outline([]byte(text), allowed); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

// A hint says of a word that is not in the list nothing but where it stands.
func FuzzOutline(f *testing.F) {
	for _, seed := range []string{`{'pin': 'geheim'`, "geheim", "\xff\xfegeheim", "a=geheim&b", "<geheim>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		outline := NewRedactor(http.Header{}).Outline(text, Fields{"amount": true})
		for _, word := range regexp.MustCompile(`[A-Za-z]{6,}`).FindAllString(outline, -1) {
			if word != "amount" && word != "undefined" {
				t.Errorf("%q has %q", text, word)
			}
		}
		if len([]rune(outline)) > maxOutline+20 {
			t.Errorf("%q has %d characters", text, len(outline))
		}
	})
}
