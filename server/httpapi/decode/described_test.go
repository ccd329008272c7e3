package decode

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// described is what the API's description says of a body, compiled.
func described[T any](t testing.TB, decoder *Decoder[T]) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(decoder.Schema)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("body.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("body.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// agree fails if the description takes a body that the decoder refuses, or the other way round. JSON Schema cannot say how a number is
// written: 100.0 is an integer for it. Nor does the description say which names are other spellings of a field.
func agree[T any](t *testing.T, schema *jsonschema.Schema, decoder *Decoder[T], text []byte) {
	t.Helper()
	object, err := parseAnyObject(text)
	if err != nil {
		return // no JSON object
	}
	known := slices.Collect(maps.Keys(decoder.Schema.Properties))
	for name, value := range object {
		if !slices.Contains(known, name) && sameSpelling(name, known) != "" {
			return
		}
		if number, is := value.(json.Number); is {
			if n, err := number.Float64(); err != nil || n == float64(int64(n)) {
				return
			}
		}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return
	}
	_, refusal := decoder.parse(http.Header{}, text, nil)
	if refused := schema.Validate(value); (refused == nil) != (refusal == nil) {
		t.Errorf("%s\nthe description says: %v\nthe service says: %v", text, refused, refusal)
	}
}

// oddValues are what a field may be sent with, by mistake or not.
var oddValues = []any{
	nil, "", " ", "x", "é", "a\x00b", "\x00", "\n", 0, 1, -1, 1.5, 25_000, 1_000_000_000_000, 1_000_000_000_001, 1e30, true, false, []any{}, object{},
	"mtn", "MTN", "airtel", "RW", "rw", "RWA", "RWF", "FCFA", "CFA", "francs", "success", "SUCCESS", "+250788123456", "250788123456", "+0788", "+1234567",
	"http://a", "https://a/b?c#d", "HTTP://a", "ftp://a", "http:", "http://", "http:///a", "http://@", "http://u:p@", "http://u@a", "http://a@b@c", "http://?a",
	"http://#", "http://[::1]/", "http://[::1", "http://a/%zz", "http://a/\x00", "http://\x00", "//a", "/a", "mailto:a@b", "http://a b/", "http://a/b c", "http://:80",
	"javascript://a", "\u2028", "http://é/é",
}

type object map[string]any

func TestDescriptionAndServiceTakeTheSameBodies(t *testing.T) {
	t.Parallel()
	const bodies = 3_000
	random := rand.New(rand.NewPCG(32, 0))
	testClient := object{
		"msisdn": "+250788000001", "name": "alice", "operator": "mtn", "country": "RW", "state": "Active", "balance": 5, "behavior": "Approve",
	}
	check(t, random, bodies/2, CreateTestClient, testClient)
	check(t, random, bodies/2, PatchTestClient, testClient)
	check(t, random, bodies, CreatePayment, object{
		"amount": 1000, "currency": "RWF", "msisdn": "+250788000001", "reference": "r1", "application": "shop", "operator": "mtn", "country": "RW",
		"order_ref": "o", "order_url": "https://shop.example/1", "is_url_protected": true, "description": "x", "scenario": "success",
	})
	check(t, random, bodies, CreateRefund, object{"amount": 1000, "reference": "r"})
	check(t, random, bodies, CreateDisbursement, object{
		"amount": 1000, "currency": "RWF", "msisdn": "+250788000001", "application": "shop", "operator": "mtn", "country": "RW", "reference": "r",
		"order_ref": "o", "order_url": "https://shop.example/1", "is_url_protected": true, "description": "x",
	})
}

// check compares bodies of which most are valid but for one field.
func check[T any](t *testing.T, random *rand.Rand, bodies int, decoder *Decoder[T], valid object) {
	t.Helper()
	schema := described(t, decoder)
	for name, field := range decoder.Schema.Properties {
		if field.Type == "string" && field.MaxLength == nil && field.Enum == nil && field.Pattern == "" {
			t.Errorf("%s has no bound of its own", name)
		}
	}
	names := slices.Sorted(maps.Keys(valid))
	for range bodies {
		body := maps.Clone(valid)
		for range 1 + random.IntN(2) {
			name := names[random.IntN(len(names))]
			if body[name] = oddValues[random.IntN(len(oddValues))]; random.IntN(10) == 0 {
				delete(body, name)
			}
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if agree(t, schema, decoder, text); t.Failed() {
			return
		}
	}
}
