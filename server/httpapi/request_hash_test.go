package httpapi

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/payments"
)

var updateHashes = flag.Bool("update-hashes", false, "write testdata/request_hashes.json again: clients that retry across the upgrade get "+
	"409")

const hashesFile = "testdata/request_hashes.json"

// hashHandlers answer a request with the hash that the idempotency check stores, or with the error body.
var hashHandlers = map[string]func(w http.ResponseWriter, r *http.Request) ([]byte, error){
	"/v1/payments": func(w http.ResponseWriter, r *http.Request) ([]byte, error) {
		body, err := decode.CreatePayment.Decode(w, r, nil)
		if err != nil {
			return nil, err
		}
		return decode.CreatePayment.Hash(payments.Collection, "", body), nil
	},
	"/v1/payments/{id}/refund": func(w http.ResponseWriter, r *http.Request) ([]byte, error) {
		body, err := decode.CreateRefund.DecodeOptional(w, r, nil)
		if err != nil {
			return nil, err
		}
		return decode.CreateRefund.Hash(payments.Refund, chi.URLParam(r, "id"), body), nil
	},
	"/v1/disbursements": func(w http.ResponseWriter, r *http.Request) ([]byte, error) {
		body, err := decode.CreateDisbursement.Decode(w, r, nil)
		if err != nil {
			return nil, err
		}
		return decode.CreateDisbursement.Hash(payments.Disbursement, "", body), nil
	},
}

// TestRequestHashesStayTheSame compares hashes and field errors with those of the first release. Stored hashes outlive a program: with
// another hash, a client that retries across an upgrade gets 409 instead of its transaction.
func TestRequestHashesStayTheSame(t *testing.T) {
	t.Parallel()
	router := chi.NewRouter()
	for path, hash := range hashHandlers {
		for _, form := range httpfront.FormsOf(path) {
			router.Post(form, func(w http.ResponseWriter, r *http.Request) {
				sum, err := hash(w, r)
				if err != nil {
					text, _ := wire.Append(nil, err)
					w.WriteHeader(http.StatusBadRequest)
					_, _ = w.Write(text)
					return
				}
				_ = json.NewEncoder(w).Encode(map[string]string{"hash": hex.EncodeToString(sum)})
			})
		}
	}
	got := map[string]any{}
	for path, bodies := range hashedRequests() {
		for _, body := range bodies {
			for _, form := range []string{"", "/api", "/sandboxes/team/checkout", "/sandboxes/team/checkout/api"} {
				r := httptest.NewRequest(http.MethodPost, form+path, strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				router.ServeHTTP(w, r)
				var answer any
				if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
					t.Fatalf("%s %s: %v: %s", path, body, err, w.Body)
				}
				name := strings.ToValidUTF8(path+" "+body, "(not UTF-8)")
				if before, known := got[name]; known && !cmp.Equal(before, answer) {
					t.Errorf("%s%s %s: %v, and %v in another form of the path", form, path, body, answer, before)
				}
				got[name] = answer
			}
		}
	}
	if *updateHashes {
		text, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(hashesFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(hashesFile)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) < 300 {
		t.Errorf("only %d requests are compared", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-%s +now:\n%s", hashesFile, diff)
	}
}

// hashedRequests are bodies by path. Each field is sent with each of its values, and left out.
func hashedRequests() map[string][]string {
	const parent = "/v1/payments/TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE/refund"
	return map[string][]string{
		"/v1/payments": append(variants(
			`{"amount":1000,"currency":"RWF","msisdn":"+250788000001","reference":"r1","application":"shop"}`),
			`{"amount":1,"currency":"FCFA","operator":"orange","country":"CI","msisdn":"+2250700000001","reference":"é","application":"shop",`+
				`"order_ref":"o","order_url":"https://shop.example/1?a=b&c=<d>","is_url_protected":true,"description":"x","scenario":"pin_invalid"}`),
		"/v1/disbursements": append(variants(
			`{"amount":1000,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"+250788000001","application":"shop"}`),
			`{"amount":1000,"currency":"xof","operator":"moov","country":"TG","msisdn":"+1234567","application":"shop","reference":"r1",`+
				`"order_ref":"o","order_url":"http://x","is_url_protected":false,"description":""}`),
		parent: append(variants(`{"amount":5000,"reference":"SHOP-REF-20260531120000-0123456789AB"}`), ""),
		strings.Replace(parent, "01JCC", "02JCC", 1): {"", "{}", `{"amount":5000}`},
	}
}

// fieldValues are values that a field is sent with, as JSON. Some are valid, some are refused, and some mean the same.
var fieldValues = map[string][]string{
	"amount": {
		"1", "1000", "1000.0", "1e3", "1E3", "-1", "0", "-0", "01", "1000000000000", "1000000000001", "99999999999999999999", `"1000"`, "null",
		"[1]",
	},
	"currency":    {`"RWF"`, `"rwf"`, `"XOF"`, `"FCFA"`, `"R"`, `"ABCDE"`, `5`},
	"operator":    {`"mtn"`, `"orange"`, `"moov"`, `"airtel"`, `"MTN"`, `""`, "null"},
	"country":     {`"RW"`, `"CI"`, `"rw"`, `"RWA"`, `""`, "null"},
	"msisdn":      {`"+250788000001"`, `"\u002b250788000001"`, `"250788000001"`, `"+0788000001"`, `""`, "250788000001"},
	"application": {`"shop"`, `"kiosk"`, `""`, `"` + strings.Repeat("a", 80) + `"`, `"` + strings.Repeat("a", 81) + `"`},
	"order_ref": append([]string{`"o-1"`, `""`, `"` + strings.Repeat("é", 120) + `"`, `"` + strings.Repeat("é", 121) + `"`, "null"},
		texts...),
	"reference": append([]string{`"r1"`, `""`, `"` + strings.Repeat("é", 80) + `"`, `"` + strings.Repeat("é", 81) + `"`, "null"},
		texts...),
	"description": append([]string{`""`, `"` + strings.Repeat("é", 200) + `"`, `"` + strings.Repeat("é", 201) + `"`, "null", "7"},
		texts...),
	"order_url": {`"https://shop.example/1"`, `"http://x/é?a=1&b=2#c"`, `"https://a/%zz"`, `"/1"`, `""`, `"ftp://x"`,
		`"http://[::1"`, "null", "1"},
	"is_url_protected": {"true", "false", "null", `"true"`, "1"},
	"scenario":         {`"success"`, `"low_balance"`, `"SUCCESS"`, `""`, "null"},
	"unknown":          {`"x"`, "1.5", "null", `{"a":[1,2]}`, `"\n"`},
	"Amount":           {"1"},
}

// texts are texts that JSON may write in several ways.
var texts = []string{
	`"<a> & b"`, `"\u003ca\u003e \u0026 b"`, `"é"`, `"\u00e9"`, `"e\u0301"`, `"😀"`, `"\ud83d\ude00"`, `"\ud800"`, `"\u2028\u2029"`,
	"\"\u2028\u2029\"", `"a\/b"`, `"a/b"`, `"\"\\"`, `"\t\r\n\b\f"`, `"\u0001\u001f\u007f"`, `"\u0000"`, `" x "`, "\"\u00a0\"", "\"\ufeff\"",
}

// variants are a body, the same body written in other ways, with each value of each field, and without each field.
func variants(body string) []string {
	var base map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &base); err != nil {
		panic(err)
	}
	written := func(change func(map[string]json.RawMessage)) string {
		changed := maps.Clone(base)
		change(changed)
		text := "{"
		for i, name := range slices.Sorted(maps.Keys(changed)) {
			if i > 0 {
				text += ","
			}
			text += `"` + name + `":` + string(changed[name])
		}
		return text + "}"
	}
	all := []string{
		body, written(func(map[string]json.RawMessage) {}), " \n\t" + strings.ReplaceAll(body, ",", " ,\r\n  ") + "\n",
		body + "{}", body + "x", body[1:], "[" + body + "]", "{}", "null", "", `{"amount":2,` + body[1:], `{"amount":null,` + body[1:],
		body[:len(body)-1] + `,"amount":2}`, body[:len(body)-1] + `,"amount":null}`, body[:len(body)-1] + `,}`, "{\"\xff\":1}",
	}
	for _, field := range slices.Sorted(maps.Keys(fieldValues)) {
		if _, sent := base[field]; sent {
			all = append(all, written(func(b map[string]json.RawMessage) { delete(b, field) }))
		}
		for _, value := range fieldValues[field] {
			all = append(all, written(func(b map[string]json.RawMessage) { b[field] = json.RawMessage(value) }))
		}
	}
	return all
}

// BenchmarkDecode decodes, checks and hashes a body as most clients send it, and one that encoding/json reads.
func BenchmarkDecode(b *testing.B) {
	for name, body := range map[string]string{
		"plain":   `{"amount":1000,"currency":"RWF","msisdn":"+250788000001","reference":"SHOP-PAY-20260531120000-0123456789AB","application":"shop","order_ref":"o-1","description":"Two tickets"}`,
		"escaped": `{"amount":1000,"currency":"RWF","msisdn":"\u002b250788000001","reference":"r1","application":"shop"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/v1/payments", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				if _, err := hashHandlers["/v1/payments"](httptest.NewRecorder(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
