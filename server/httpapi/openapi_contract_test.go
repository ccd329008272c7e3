package httpapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// contract is the API's description as it is served, with what holds answers against it.
type contract struct {
	served   []byte
	document object
	schemas  *jsonschema.Compiler
}

// described is the description of the API. It needs no database.
var described = sync.OnceValues(func() (*contract, error) {
	recorder := httptest.NewRecorder()
	fronts.New(fronts.Options{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/v1/openapi.json", nil))
	c := &contract{served: recorder.Body.Bytes()}
	if err := json.Unmarshal(c.served, &c.document); err != nil {
		return nil, err
	}
	strict, err := json.Marshal(closed(c.document))
	if err != nil {
		return nil, err
	}
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
		if response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusMethodNotAllowed &&
			response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s %s is not described and answers %d", plain.Method, plain.URL.Path, response.StatusCode)
		}
		c.checkValue(t, "/components/schemas/Error", body)
		return
	}
	status := strconv.Itoa(response.StatusCode)
	at := pointer("paths", c.template(plain.URL.Path), strings.ToLower(plain.Method), "responses", status)
	answer, at := c.answer(operation, at, status)
	if answer == nil {
		t.Errorf("%s %s answers %s, which is not described: %s", plain.Method, plain.URL.Path, status, body)
		return
	}
	c.checkBody(t, at, answer, response, body)
	c.checkHeaders(t, at, answer, response)
}

// answer returns the description of an answer and its place, which is not the parameter at for an answer that operations share.
func (c *contract) answer(operation object, at, status string) (object, string) {
	answer, _ := operation["responses"].(object)[status].(object)
	if ref, _ := answer["$ref"].(string); ref != "" {
		return c.resolve(answer), strings.TrimPrefix(ref, "#")
	}
	return answer, at
}

// checkBody holds a body against the description of its answer, which stands at a place of the document.
func (c *contract) checkBody(t *testing.T, at string, answer object, response *http.Response, body []byte) {
	t.Helper()
	contents, _ := answer["content"].(object)
	if len(contents) == 0 {
		if len(body) > 0 {
			t.Errorf("%s describes no body: %s", at, body)
		}
		return
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || contents[kind] == nil {
		t.Errorf("%s describes no %q", at, response.Header.Get("Content-Type"))
		return
	}
	if kind == "application/json" {
		c.checkValue(t, at+pointer("content", kind, "schema"), body)
	}
}

// checkHeaders looks for headers that are not described, and for the others' presence and values.
func (c *contract) checkHeaders(t *testing.T, at string, answer object, response *http.Response) {
	t.Helper()
	described := map[string]bool{"Content-Type": true, "Content-Length": true, "Date": true, "X-Content-Type-Options": true}
	headers := maps.Clone(c.document[apidoc.CommonHeaders].(object))
	if own, has := answer["headers"].(object); has {
		maps.Copy(headers, own)
	}
	for name, header := range headers {
		described[http.CanonicalHeaderKey(name)] = true
		place := at + pointer("headers", name)
		if ref, _ := header.(object)["$ref"].(string); ref != "" {
			place = strings.TrimPrefix(ref, "#")
		}
		h := c.resolve(header.(object))
		values := response.Header.Values(name)
		if len(values) == 0 && h["required"] == true {
			t.Errorf("%s asks for the header %s: %v", at, name, response.Header)
		}
		for _, value := range values {
			text := []byte(value)
			if kind := c.resolve(h["schema"].(object))["type"]; kind == "string" {
				text = encoded(t, value)
			}
			c.checkValue(t, place+"/schema", text)
		}
	}
	for name := range response.Header {
		if !described[name] {
			t.Errorf("%s describes no header %s", at, name)
		}
	}
}

// pointer is a JSON pointer, whose parts may have slashes.
func pointer(parts ...string) (p string) {
	for _, part := range parts {
		p += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
	}
	return p
}

// checkValue holds JSON against the schema at a place of the document.
func (c *contract) checkValue(t *testing.T, pointer string, text []byte) {
	t.Helper()
	schema := c.schema(t, pointer)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// schema is the one at a place of the document.
func (c *contract) schema(t *testing.T, pointer string) *jsonschema.Schema {
	t.Helper()
	compiling.Lock()
	defer compiling.Unlock()
	schema, err := c.schemas.Compile(documentURL + "#" + pointer)
	if err != nil {
		t.Fatalf("the schema at %s: %v", pointer, err)
	}
	return schema
}

var compiling sync.Mutex // a compiler is for one at a time

// template finds the path of the document that a request's path is of; empty: none.
func (c *contract) template(path string) string {
	matches := func(part, given string) bool { return part == given || strings.HasPrefix(part, "{") && given != "" }
	for _, template := range slices.Sorted(maps.Keys(c.document["paths"].(object))) {
		if slices.EqualFunc(strings.Split(template, "/"), strings.Split(path, "/"), matches) {
			return template
		}
	}
	return ""
}

// operation finds the description of a route.
func (c *contract) operation(method, path string) object {
	item, _ := c.document["paths"].(object)[c.template(path)].(object)
	operation, _ := item[strings.ToLower(method)].(object)
	return operation
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
