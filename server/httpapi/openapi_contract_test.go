package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cauri-dev/cauri/server/httpapi"
)

// contract is the API's description as it is served, with what holds answers against it.
type contract struct {
	served    []byte
	document  object
	validator validator.Validator
	schemas   *jsonschema.Compiler
}

// described is the description of the API. It needs no database.
var described = sync.OnceValues(func() (*contract, error) {
	recorder := httptest.NewRecorder()
	httpapi.New(httpapi.Options{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/v1/openapi.json", nil))
	c := &contract{served: recorder.Body.Bytes()}
	if err := json.Unmarshal(c.served, &c.document); err != nil {
		return nil, err
	}
	strict, err := json.Marshal(closed(c.document))
	if err != nil {
		return nil, err
	}
	document, err := libopenapi.NewDocument(strict)
	if err != nil {
		return nil, err
	}
	v, problems := validator.NewValidator(document, config.WithFormatAssertions())
	if len(problems) > 0 {
		return nil, problems[0]
	}
	c.validator = v
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(strict))
	if err != nil {
		return nil, err
	}
	c.schemas = jsonschema.NewCompiler()
	c.schemas.AssertFormat()
	return c, c.schemas.AddResource(documentURL, parsed)
})

const documentURL = "https://cauri.test/openapi.json"

func theContract(t *testing.T) *contract {
	t.Helper()
	c, err := described()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// closed is the document with answers that may have no field that it does not name. Clients have to accept new fields; the
// tests find those that nobody described.
func closed(document object) object {
	strict := maps.Clone(document)
	components := maps.Clone(document["components"].(object))
	schemas := maps.Clone(components["schemas"].(object))
	for name, schema := range schemas {
		if s := schema.(object); s["type"] == "object" && s["additionalProperties"] == nil {
			s = maps.Clone(s)
			s["additionalProperties"] = false
			schemas[name] = s
		}
	}
	components["schemas"] = schemas
	strict["components"] = components
	return strict
}

var pathForm = regexp.MustCompile(`^(/sandboxes/[^/]+/[^/]+)?(/api)?/v1/`)

// checkAnswer holds an answer against the description: its status, its body, its headers. What no operation describes may only
// be refused.
func checkAnswer(t *testing.T, request *http.Request, response *http.Response, body []byte) {
	t.Helper()
	c := theContract(t)
	plain := request.Clone(request.Context())
	plain.URL.Path = pathForm.ReplaceAllString(request.URL.Path, "/v1/")
	operation := c.operation(plain.Method, plain.URL.Path)
	if operation == nil {
		if response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusMethodNotAllowed && response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s %s is not described and answers %d", plain.Method, plain.URL.Path, response.StatusCode)
		}
		c.checkValue(t, "/components/schemas/Error", body)
		return
	}
	copied := *response
	copied.Body = io.NopCloser(bytes.NewReader(body))
	if ok, problems := c.validator.ValidateHttpResponse(plain, &copied); !ok {
		for _, p := range problems {
			t.Errorf("%s %s answers %d against its description: %s: %s %v\n%s",
				plain.Method, plain.URL.Path, response.StatusCode, p.Message, p.Reason, p.SchemaValidationErrors, body)
		}
	}
	checkHeaders(t, operation, response)
}

// checkHeaders looks for headers that are not described. The validator has looked for those that are required.
func checkHeaders(t *testing.T, operation object, response *http.Response) {
	t.Helper()
	answers := operation["responses"].(object)
	answer, found := answers[strconv.Itoa(response.StatusCode)].(object)
	if !found {
		return // said already
	}
	described := map[string]bool{"Content-Type": true, "Content-Length": true, "Date": true, "X-Content-Type-Options": true}
	for name := range answer["headers"].(object) {
		described[http.CanonicalHeaderKey(name)] = true
	}
	for name := range response.Header {
		if !described[name] {
			t.Errorf("an answer %d has the header %s, which is not described", response.StatusCode, name)
		}
	}
}

// checkValue holds JSON against the schema at a place of the document.
func (c *contract) checkValue(t *testing.T, pointer string, text []byte) {
	t.Helper()
	compiling.Lock()
	schema, err := c.schemas.Compile(documentURL + "#" + pointer)
	compiling.Unlock()
	if err != nil {
		t.Fatalf("the schema at %s: %v", pointer, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

var compiling sync.Mutex // a compiler is for one at a time

// operation finds the description of a route.
func (c *contract) operation(method, path string) object {
	for _, template := range slices.Sorted(maps.Keys(c.document["paths"].(object))) {
		form := "^" + regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`) + "$"
		if regexp.MustCompile(form).MatchString(path) {
			operation, _ := c.document["paths"].(object)[template].(object)[strings.ToLower(method)].(object)
			return operation
		}
	}
	return nil
}

// resolve follows a reference to a component.
func (c *contract) resolve(o object) object {
	ref, _ := o["$ref"].(string)
	if ref == "" {
		return o
	}
	at := any(c.document)
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(object)[part]
	}
	return at.(object)
}
