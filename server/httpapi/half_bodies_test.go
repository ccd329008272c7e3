package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// The answer to half a body has the beginning of one that the route takes.
func TestHalfABody(t *testing.T) {
	f := newFixture(t)
	f.allow()
	contract := theContract(t)
	paid := f.call("POST", "/v1/payments", object{"amount": 1000, "currency": "RWF", "msisdn": "+250788000001", "reference": "r", "application": "shop",
		"scenario": "success"})
	id, _ := paid.body["id"].(string)
	filled := strings.NewReplacer("/events/{id}", "/events/evt_"+strings.TrimPrefix(id, "TX_"), "{id}", id, "{msisdn}", "+250788000001")
	seen := map[string]string{}
	for id, o := range contract.operations() {
		item, _ := contract.document["paths"].(object)[o.path].(object)[strings.ToLower(o.method)].(object)
		body, found := item["requestBody"].(object)
		if !found {
			continue
		}
		got := f.call(o.method, filled.Replace(o.path), `{"a":`)
		message, _ := got.body["message"].(string)
		_, example, said := strings.Cut(message, "The request body is not a JSON object: it ends too early, at line 1, column 6 (byte 6): it was probably cut off. Send one like ")
		if got.status != http.StatusBadRequest || got.body["error"] != "invalid_body" || !said {
			t.Errorf("%s: %d %s", id, got.status, got.raw)
			continue
		}
		seen[id] = strings.TrimSuffix(example, ".")
		sent := object{}
		if err := json.Unmarshal([]byte(strings.Replace(seen[id], ", ...", "", 1)), &sent); err != nil {
			t.Errorf("%s: %s: %v", id, example, err)
		}
		schema := body["content"].(object)["application/json"].(object)["schema"].(object)
		name := strings.TrimPrefix(schema["$ref"].(string), "#/components/schemas/")
		properties := contract.document["components"].(object)["schemas"].(object)[name].(object)["properties"].(object)
		for field := range sent {
			if properties[field] == nil {
				t.Errorf("%s has no field %s", id, field)
			}
		}
	}
	if len(seen) < 10 || seen["evaluateExpectations"] != `{"expect": [{"nothingElse":true}], ...}` {
		t.Errorf("these were seen: %v", seen)
	}
}
