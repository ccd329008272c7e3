package httpapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// TestDocumentIsValidOpenAPI holds the document against the schema of the OpenAPI Initiative, which leaves the schemas in it open: a
// compiler of JSON Schema looks at those.
func TestDocumentIsValidOpenAPI(t *testing.T) {
	t.Parallel()
	c := theContract(t)
	checkOpenAPI31(t, c.served)
	for name := range c.document["components"].(object)["schemas"].(object) {
		c.schema(t, pointer("components", "schemas", name))
	}
}

// checkOpenAPI31 holds a document against the schema.
func checkOpenAPI31(t *testing.T, served []byte) {
	t.Helper()
	const url = "https://spec.openapis.org/oas/3.1/schema/2022-10-07"
	openAPI := jsonschema.NewCompiler()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(datamodel.OpenAPI31SchemaData))
	if err != nil {
		t.Fatal(err)
	}
	if err := openAPI.AddResource(url, parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := openAPI.Compile(url)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(served))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
}

func TestDocumentIsServed(t *testing.T) {
	f := newFixture(t)
	for _, form := range []string{"/v1", "/api/v1", "/sandboxes/team/checkout/v1", "/sandboxes/team/checkout/api/v1"} {
		got := f.call("GET", form+"/openapi.json", nil, func(r *http.Request) { r.Header.Del("Authorization") })
		if got.status != http.StatusOK || got.body["openapi"] != "3.1.0" {
			t.Errorf("%s answered %d: %.200s", form, got.status, got.raw)
		}
		if got.header.Get("Cache-Control") == "" || got.header.Get("ETag") == "" {
			t.Errorf("%s cannot be cached: %v", form, got.header)
		}
	}
	etag := f.call("GET", "/v1/openapi.json", nil).header.Get("ETag")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/v1/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("If-None-Match", etag)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotModified || response.Header.Get("ETag") != etag {
		t.Errorf("answered %d %v to who has the document", response.StatusCode, response.Header)
	}
	checkAnswer(t, request, response, nil)
}

// Every example of an answer has the form that its schema says, those of errors too.
func TestExamplesOfAnswersFitTheirSchemas(t *testing.T) {
	t.Parallel()
	c := theContract(t)
	for path, item := range c.document["paths"].(object) {
		for method, operation := range item.(object) {
			for status := range operation.(object)["responses"].(object) {
				answer, at := c.answer(operation.(object), pointer("paths", path, method, "responses", status), status)
				examples := examplesOf(answer)
				if status >= "400" && len(examples) == 0 && path != "/v1/health" {
					t.Errorf("%s %s has no example of an answer %s", method, path, status)
				}
				for _, e := range examples {
					c.checkValue(t, at+"/content/application~1json/schema", encoded(t, e.(object)["value"]))
				}
			}
		}
	}
}

// The events are described by hand; what package webhooks sends has to be just that.
func TestEventsAreAsDescribed(t *testing.T) {
	t.Parallel()
	c := theContract(t)
	at := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	for _, kind := range payments.Types {
		bare := &payments.Transaction{
			Details: payments.Details{Reference: "r", Currency: "XOF", MSISDN: "+22997000001"}, ID: payments.ID{1},
			Type: kind, Status: payments.Timeout, OrderRef: "r", Operator: payments.Moov, Country: "BJ", Amount: 1000,
			NetAmount: 1000, CreatedAt: at, CompletedAt: &at,
		}
		if kind == payments.Refund {
			bare.ParentID = &payments.ID{2}
		}
		full := *bare
		full.OrderURL, full.Description, full.Scenario = new("https://shop.example/1"), new("d"), payments.ScenarioTimeout
		for _, transaction := range []*payments.Transaction{bare, &full} {
			body, err := webhooks.Body("org_1", transaction, operators.Raw(transaction))
			if err != nil {
				t.Fatal(err)
			}
			c.checkValue(t, "/webhooks/"+kind.Event()+"/post/requestBody/content/application~1json/schema", body)
		}
	}
}

// A list takes of each parameter just what the document says that it takes.
func TestListParametersAreReadAsDescribed(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"/v1/payments", "/v1/events", "/v1/requests"} {
		for _, parameter := range theContract(t).operation("GET", path)["parameters"].([]any) {
			if p := theContract(t).resolve(parameter.(object)); p["in"] == "query" {
				f.readAsDescribed(path, p["name"].(string), theContract(t).resolve(p["schema"].(object)))
			}
		}
	}
}

// knownHere returns the values without the operators and countries that a sandbox knows only if it has an environment of them.
func knownHere(values []string) []string {
	return slices.DeleteFunc(values, func(value string) bool {
		isOperator := slices.Contains(payments.Operators, payments.Operator(value))
		isCountry := slices.Contains(payments.Countries, payments.Country(value))
		return isOperator && !slices.Contains(payments.KnownEverywhere.Operators(), payments.Operator(value)) ||
			isCountry && !slices.Contains(payments.KnownEverywhere.Countries(), payments.Country(value))
	})
}

func (f *fixture) readAsDescribed(path, name string, schema object) {
	good, bad := valuesOf(schema)
	for _, value := range knownHere(good) {
		if got := f.listBy(path, name, value); got.status != http.StatusOK {
			f.t.Errorf("%s: %s=%s answered %d: %s", path, name, value, got.status, got.raw)
		}
	}
	for _, value := range bad {
		got := f.listBy(path, name, value)
		detail, _ := got.body["detail"].(object)
		wrong, _ := detail["fieldErrors"].(object)
		if got.status != http.StatusBadRequest || wrong[name] == nil {
			f.t.Errorf("%s: %s=%s answered %d: %s", path, name, value, got.status, got.raw)
		}
	}
}

// TestDocument30IsValidOpenAPI holds the older document against the schema of the OpenAPI Initiative, which knows every keyword of 3.0.
func TestDocument30IsValidOpenAPI(t *testing.T) {
	t.Parallel()
	const schemaURL = "https://spec.openapis.org/oas/3.0/schema/2024-10-18"
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(datamodel.OpenAPI3SchemaData))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(schemaURL, parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(schemaURL)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(servedAt(t, "http://api.test/v1/openapi-3.0.json").Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
	if got := document.(object)["openapi"]; got != "3.0.3" {
		t.Errorf("its version is %v", got)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(theContract(t).document["paths"].(object))),
		slices.Sorted(maps.Keys(document.(object)["paths"].(object)))); diff != "" {
		t.Errorf("its paths (-3.1 +3.0):\n%s", diff)
	}
}

// servedAt is what the service answers at a URL. It needs no database.
func servedAt(t *testing.T, at string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	fronts.New(fronts.Options{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, at, nil))
	if recorder.Code != http.StatusOK {
		t.Fatalf("%s answered %d: %s", at, recorder.Code, recorder.Body)
	}
	return recorder
}

// A client that imports the document calls where it came from, with nothing to fill in.
func TestDocumentNamesWhereItWasAskedFor(t *testing.T) {
	t.Parallel()
	etags := map[string]bool{}
	for _, base := range []string{
		"http://127.0.0.1:8080", "https://api.test/api", "http://api.test/sandboxes/team/checkout", "http://api.test/sandboxes/team/checkout/api",
	} {
		for _, path := range []string{"/v1/openapi.json", "/v1/openapi-3.0.json"} {
			got := servedAt(t, base+path)
			var document struct {
				Servers []struct{ URL string }
			}
			if err := json.Unmarshal(got.Body.Bytes(), &document); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, server := range document.Servers {
				if seen[server.URL] || !strings.HasPrefix(server.URL, "http") || strings.HasSuffix(server.URL, "/") {
					t.Errorf("%s names the server %q, after %v", base+path, server.URL, seen)
				}
				seen[server.URL] = true
			}
			if first := document.Servers[0].URL; first != base || len(seen) < 4 {
				t.Errorf("%s names first the server %s of %v", base+path, first, seen)
			}
			if etag := got.Header().Get("Etag"); etags[etag] {
				t.Errorf("%s has the ETag of another address", base+path)
			} else {
				etags[etag] = true
			}
		}
	}
}

// Behind an Ingress that ends TLS, a request looks like one over http: only the public URL tells where it came from.
func TestDocumentNamesThePublicURL(t *testing.T) {
	t.Parallel()
	public, err := url.Parse("https://Pay.test/")
	if err != nil {
		t.Fatal(err)
	}
	server := fronts.New(fronts.Options{BaseURL: public})
	for asked, want := range map[string]string{
		"http://pay.test/sandboxes/team/checkout/v1/openapi.json": "https://Pay.test/sandboxes/team/checkout",
		"http://pay.test/v1/openapi-3.0.json":                     "https://Pay.test",
		"http://cauri-api.cauri-system:8080/api/v1/openapi.json":  "http://cauri-api.cauri-system:8080/api",
	} {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, asked, nil))
		var document struct {
			Servers []struct{ URL string }
		}
		if err := json.Unmarshal(recorder.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		if got := document.Servers[0].URL; got != want {
			t.Errorf("%s: the first server is %s, want %s", asked, got, want)
		}
	}
}

// Many tools show the first example, or send it.
func TestFirstExampleIsASuccess(t *testing.T) {
	t.Parallel()
	for id, o := range theContract(t).operations() {
		if len(o.bodies) == 0 {
			continue
		}
		first := slices.Min(slices.Collect(maps.Keys(o.bodies)))
		i := slices.IndexFunc(o.examples, func(e describedExample) bool { return e.name == first })
		if i < 0 {
			t.Errorf("%s: the example %s has no answer", id, first)
		} else if status := o.examples[i].answer["status"]; status != nil && status != "SUCCESS" {
			t.Errorf("%s: the first example, %s, ends %s", id, first, status)
		}
	}
}
