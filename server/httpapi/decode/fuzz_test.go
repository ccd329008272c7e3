package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// refused fails unless an error is an answer that tells the caller what is wrong.
func refused(t *testing.T, input any, err error, code string) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest || e.Code != code || e.Message == "" {
		t.Fatalf("%q is refused with %v", input, err)
	}
	if text, err := json.Marshal(e); err != nil || !utf8.Valid(text) {
		t.Errorf("%q is refused with what is no JSON: %q, %v", input, text, err)
	}
	wrong, _ := e.Detail["fieldErrors"].(wire.FieldErrors)
	for field, problems := range wrong {
		if len(problems) == 0 || slices.Contains(problems, "") {
			t.Errorf("%q: %s is refused for no reason: %q", input, field, problems)
		}
	}
}

// fuzzBody checks that whatever is sent for a body is either refused as the contract says or keeps what was sent.
func fuzzBody[T any](f *testing.F, decoder *Decoder[T], seeds ...string) {
	seeds = append(seeds,
		``, ` `, `null`, `{}`, `{}{}`, `[]`, `1`, `"a"`, `{"amount":1}`, `{"amount":1e2}`, `{"amount":100.0}`, `{"amount":-0}`,
		`{"amount":99999999999999999999}`, `{"amount":1e999999}`, `{"amount":9223372036854775807}`, `{"amount":null,"amount":2}`,
		`{"reference":"\u0000"}`, `{"reference":"\ud800"}`, `{"reference":5}`, `{"msisdn":["+250788000001"]}`, `{"amount":{"amount":[1.5]}}`,
		`{"order_url":"https://a/%zz"}`, `{"order_url":"http://[::1"}`, `{"is_url_protected":"true"}`, "\ufeff{}", "{\"a\":\"\xff\"}",
		strings.Repeat(`{"a":`, 1000)+`1`+strings.Repeat(`}`, 1000), strings.Repeat("[", 20_000),
	)
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	schema := described(f, decoder)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > view.MaxBody || !utf8.Valid(text) {
			return // readBody refuses it
		}
		agree(t, schema, decoder, text)
		got, err := decoder.parse(http.Header{}, text, nil)
		if err != nil {
			if got != nil {
				t.Errorf("%q is refused, and read as %v", text, got)
			}
			refused(t, text, err, "invalid_body")
			return
		}
		written, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Amount                                        *int64
			MSISDN                                        *string
			Reference, Application, Currency, Description string
			OrderRef                                      string `json:"order_ref"`
			OrderURL                                      string `json:"order_url"`
		}
		if err := json.Unmarshal(written, &sent); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(written, []byte(`\u0000`)) || !utf8.Valid(written) {
			t.Errorf("%q is read as %s", text, written)
		}
		if sent.Amount != nil && (*sent.Amount < 1 || *sent.Amount > payments.MaxAmount) {
			t.Errorf("%q: the amount is %d", text, *sent.Amount)
		}
		if sent.MSISDN != nil && !payments.ValidMSISDN(*sent.MSISDN) {
			t.Errorf("%q: the number is %q", text, *sent.MSISDN)
		}
		for _, field := range []struct {
			value   string
			longest int
		}{
			{sent.Reference, 80}, {sent.Application, 80}, {sent.OrderRef, 120}, {sent.OrderURL, 500}, {sent.Description, 200}, {sent.Currency, 4},
		} {
			if n := utf8.RuneCountInString(field.value); n > field.longest {
				t.Errorf("%q: %q has %d characters", text, field.value, n)
			}
		}
		again, err := decoder.parse(http.Header{}, written, nil)
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("%q is written as %s, and read then, %v, as %v, not as %v", text, written, err, again, got)
		}
		if !bytes.Equal(decoder.Hash(payments.Refund, "", got), decoder.Hash(payments.Refund, "", again)) {
			t.Errorf("%q has two hashes", text)
		}
	})
}

// TestZeroMeansLeftOut holds what [Decoder] demands of the structs.
func TestZeroMeansLeftOut(t *testing.T) {
	t.Parallel()
	zeroIsRefused(t, CreatePayment)
	zeroIsRefused(t, CreateRefund)
	zeroIsRefused(t, CreateDisbursement)
	zeroIsRefused(t, CreateTestClient)
	zeroIsRefused(t, PatchTestClient)
}

func zeroIsRefused[T any](t *testing.T, decoder *Decoder[T]) {
	t.Helper()
	if len(decoder.fields) != len(decoder.Schema.Properties) {
		t.Errorf("%T reads %d fields and describes %d", decoder, len(decoder.fields), len(decoder.Schema.Properties))
	}
	for _, f := range decoder.fields {
		field := reflect.TypeFor[T]().Field(f.index)
		if field.Type.Kind() == reflect.Pointer {
			continue
		}
		if problems := newValidation(examples{}).problems(&f, reflect.Zero(field.Type).Interface()); len(problems) == 0 {
			t.Errorf("%T: the zero value may be sent for %s: make it a pointer", decoder, field.Name)
		}
	}
}

func FuzzPaymentBody(f *testing.F) {
	fuzzBody(
		f,
		CreatePayment,
		`{"amount":1000,"currency":"RWF","msisdn":"+250788000001","reference":"r1","application":"shop"}`,
		`{"amount":1,"currency":"FCFA","operator":"orange","country":"CI","msisdn":"+2250700000001","reference":"é","application":"shop","order_ref":"o","order_url":"https://shop.example/1","is_url_protected":true,"description":"x","scenario":"pin_invalid","x":1}`,
	)
}

func FuzzRefundBody(f *testing.F) {
	fuzzBody(f, CreateRefund, `{"amount":5000,"reference":"SHOP-REF-20260531120000-0123456789AB"}`, `{"reference":"r"}`, `{"amount":null}`)
}

func FuzzDisbursementBody(f *testing.F) {
	fuzzBody(
		f,
		CreateDisbursement,
		`{"amount":1000,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"+250788000001","application":"shop"}`,
		`{"amount":1000,"currency":"xof","operator":"moov","country":"TG","msisdn":"+1234567","application":"shop","reference":"r1","order_ref":"o","order_url":"http://x","is_url_protected":false,"description":""}`,
	)
}

func FuzzTestClientBody(f *testing.F) {
	fuzzBody(
		f,
		CreateTestClient,
		`{"msisdn":"+250788000001"}`,
		`{"msisdn":"+1234567","name":"é","operator":"mtn","country":"TG","state":"Blocked","balance":0,"behavior":"WrongPin","x":1}`,
		`{"msisdn":"+250788000001","balance":1000000000001}`,
	)
}

// FuzzTestClientPatch checks that a patch is refused, or makes of a test client one that could have been created so.
func FuzzTestClientPatch(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"balance":null}`, `{"state":null,"name":null,"behavior":null}`, `{"state":""}`, `{"balance":-1}`, `{"balance":1e2}`,
		`{"msisdn":"+250788000001","operator":"mtn","country":"RW","name":"é","state":"Blocked","balance":7,"behavior":"Manual"}`,
		`{"country":"TG"}`, `{"msisdn":null}`, `{"balance":5,"balance":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > view.MaxBody || !utf8.Valid(text) {
			return // readBody refuses it
		}
		before := ledger.TestClient{Name: "alice", SIM: payments.SIM{
			MSISDN: "+250788000001", Operator: payments.MTN, Country: payments.Rwanda, Behavior: payments.Ignore, Balance: 50, Blocked: true,
		}}
		after := before
		patch, err := PatchTestClient.parse(http.Header{}, text, nil)
		if err == nil {
			err = ApplyPatch(patch, &after)
		}
		if err != nil {
			refused(t, text, err, "invalid_body")
			if after != before {
				t.Errorf("%q is refused, and makes it %+v", text, after)
			}
			return
		}
		if after.MSISDN != before.MSISDN || after.Operator != before.Operator || after.Country != before.Country {
			t.Errorf("%q makes it %+v", text, after)
		}
		view := view.TestClientOf(&after)
		if view.Name == "" {
			view.Name = "none"
		}
		written, err := json.Marshal(view)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := CreateTestClient.parse(http.Header{}, written, nil); err != nil {
			t.Errorf("%q makes it %s, which is refused: %v", text, written, err)
		}
	})
}

// FuzzMSISDN checks that the schemas, the list and the domain mean the same numbers.
func FuzzMSISDN(f *testing.F) {
	for _, seed := range []string{"+250788000001", "+1234567", "+123456789012345", "+0123456", "250788000001", "+250788000001\n",
		"+٢٥٠٧٨٨٠٠٠٠٠١", "", "+"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, msisdn string) {
		if !utf8.ValidString(msisdn) {
			return
		}
		want := payments.ValidMSISDN(msisdn)
		body, err := json.Marshal(map[string]string{"msisdn": msisdn})
		if err != nil {
			t.Fatal(err)
		}
		_, ofPayment := CreatePayment.parse(http.Header{}, body, nil)
		_, ofDisbursement := CreateDisbursement.parse(http.Header{}, body, nil)
		for name, err := range map[string]error{"payments": ofPayment, "disbursements": ofDisbursement} {
			if got := err.(*wire.Error).Detail["fieldErrors"].(wire.FieldErrors)["msisdn"] == nil; got != want {
				t.Errorf("%s: %q is valid: %t, want %t", name, msisdn, got, want)
			}
		}
		if _, err := ParsePaymentQuery(http.Header{}, url.Values{"msisdn": {msisdn}}.Encode(), &sandboxes.Sandbox{Tenant: 1}); (err == nil) != want {
			t.Errorf("list: %q is refused with %v, want %t", msisdn, err, want)
		}
	})
}

// FuzzCursor checks that each place has one cursor, and that nothing else is taken for one.
func FuzzCursor(f *testing.F) {
	id := payments.ID{0, 6, 0x51, 0x2f, 15: 255}
	cursor := PaymentCursors.After(1, id)
	f.Add(cursor, id[:], int64(1))
	f.Add(cursor+"\n", id[:], int64(2))
	f.Add(cursor[:31]+"A", make([]byte, 16), int64(-1))
	f.Add(strings.Repeat("A", 32), []byte{}, int64(0))
	f.Add("", id[:15], int64(1<<62))
	f.Fuzz(func(t *testing.T, text string, raw []byte, tenant int64) {
		if id, err := PaymentCursors.parse(tenant, text); err == nil {
			if PaymentCursors.After(tenant, id) != text {
				t.Errorf("%q is taken for the cursor of %s", text, id)
			}
			if _, err := PaymentCursors.parse(tenant+1, text); err == nil {
				t.Errorf("%q is another sandbox's too", text)
			}
		} else if id != (payments.ID{}) {
			t.Errorf("%q is refused, and read as %s", text, id)
		}
		var id payments.ID
		copy(id[:], raw)
		cursor := PaymentCursors.After(tenant, id)
		if back, err := PaymentCursors.parse(tenant, cursor); err != nil || back != id {
			t.Errorf("the cursor of %s is read as %s, %v", id, back, err)
		}
		if url.QueryEscape(cursor) != cursor {
			t.Errorf("the cursor %q has to be escaped", cursor)
		}
		if len(text) == 0 {
			return
		}
		at := int(text[0]) % len(cursor)
		for _, c := range []byte(text) {
			changed := cursor[:at] + string(c) + cursor[at+1:]
			if _, err := PaymentCursors.parse(tenant, changed); err == nil && changed != cursor {
				t.Errorf("%q, made from %q, is taken for a cursor", changed, cursor)
			}
		}
	})
}

func TestNoChangedCursorIsTaken(t *testing.T) {
	t.Parallel()
	cursor := PaymentCursors.After(7, payments.ID{1, 2, 3})
	for i := range cursor {
		for c := range 256 {
			if changed := cursor[:i] + string([]byte{byte(c)}) + cursor[i+1:]; changed != cursor {
				if _, err := PaymentCursors.parse(7, changed); err == nil {
					t.Errorf("%q, made from %q, is taken for a cursor", changed, cursor)
				}
			}
		}
		if _, err := PaymentCursors.parse(7, cursor[:i]); err == nil {
			t.Errorf("%q is taken for a cursor", cursor[:i])
		}
	}
}

// FuzzListQuery checks that a query is either refused, naming known parameters, or means exactly what it says.
func FuzzListQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=20", "limit=0", "limit=+5", "limit=%35", "status=SUCCESS&type=refund", "country=RW&operator=mtn", "order=a&order_ref=a",
		"order=a&order_ref=b", "created_after=2026-05-31T12:00:00Z&created_before=2026-05-31T12:00:00.5%2B02:00",
		"created_after=0000-01-01T00:00:00Z",
		"msisdn=%2B250788000001", "reference=%00", "reference=%FF", "application=%zz", "a;b", "cursor=x", "unknown=1&&=", "limit=1&limit=1",
		"limit",
		"cursor=" + PaymentCursors.After(1, payments.ID{1}), "before=" + PaymentCursors.Before(1, payments.ID{1}), "before=x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := ParsePaymentQuery(http.Header{}, raw, &sandboxes.Sandbox{Tenant: 1})
		if err != nil {
			refused(t, raw, err, "invalid_params")
			wrong := err.(*wire.Error).Detail["fieldErrors"].(wire.FieldErrors)
			for name := range wrong {
				if _, known := PaymentParameters[name]; !known && name != "query" && PaymentParameters.misspelled(name) == "" {
					t.Errorf("%q is refused for %q", raw, name)
				}
			}
			if len(wrong) == 0 {
				t.Errorf("%q is refused for nothing", raw)
			}
			return
		}
		values, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatalf("%q cannot be read, and was", raw)
		}
		for name, given := range values {
			if _,
				known := PaymentParameters[name]; known && (len(given) != 1 || given[0] == "" || !utf8.ValidString(given[0]) ||
				strings.ContainsRune(given[0], 0)) {
				t.Errorf("%q: %s is %q, and was taken", raw, name, given)
			}
		}
		meant := map[string]string{
			"country": string(q.Filter.Country), "operator": string(q.Filter.Operator), "status": string(q.Filter.Status),
			"type":        string(q.Filter.Type),
			"application": q.Filter.Store, "reference": q.Filter.Reference, "msisdn": q.Filter.MSISDN,
		}
		for name, value := range meant {
			if values.Get(name) != value {
				t.Errorf("%q: %s is taken for %q", raw, name, value)
			}
		}
		if order := q.Filter.OrderRef; values.Has("order") && values.Get("order") != order ||
			values.Has("order_ref") && values.Get("order_ref") != order {
			t.Errorf("%q: the order is taken for %q", raw, order)
		}
		if values.Has("cursor") != (q.After != nil) || values.Has("created_after") != (q.Filter.CreatedAfter != nil) ||
			values.Has("created_before") != (q.Filter.CreatedBefore != nil) {
			t.Errorf("%q: a parameter is left out: %+v", raw, q)
		}
		if q.Limit < 1 || q.Limit > wire.MaxLimit || !values.Has("limit") && q.Limit != wire.DefaultLimit {
			t.Errorf("%q: the limit is %d", raw, q.Limit)
		}
	})
}
