package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// maxBody is the largest request body in bytes.
const maxBody = 64 << 10

func init() {
	// A field has one spelling. What differs in case is an unknown field, and ignored like any other.
	huma.ValidateStrictCasing = true
}

// RequestSchema is the JSON schema of a request body. The same schema stands in the API's description.
type RequestSchema struct {
	registry huma.Registry
	Schema   *huma.Schema
}

// schemaFor derives the schema of a body from its struct and tags.
func schemaFor[T any]() RequestSchema {
	return RequestSchema{Schemas, Schemas.Schema(reflect.TypeFor[T](), false, "")}
}

// Fields is a request body: its known fields, all valid by the schema. A field that was null or left out is not there.
type Fields map[string]any

func (f Fields) Text(name string) string {
	s, _ := f[name].(string)
	return s
}

func (f Fields) OptionalText(name string) *string {
	if s, ok := f[name].(string); ok {
		return &s
	}
	return nil
}

func (f Fields) Integer(name string) int64 {
	n, _ := f[name].(int64)
	return n
}

func (f Fields) Boolean(name string) bool {
	b, _ := f[name].(bool)
	return b
}

// Decode reads a request's body and checks it. Its errors are of type [*Error] and name every wrong field at once.
func (q RequestSchema) Decode(w http.ResponseWriter, r *http.Request) (Fields, error) {
	if err := checkMediaType(r); err != nil {
		return nil, err
	}
	text, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	return q.parse(text)
}

// DecodeOptional is decode for a body that may be left out. That a chunked one is empty shows only at its end.
func (q RequestSchema) DecodeOptional(w http.ResponseWriter, r *http.Request) (Fields, error) {
	text, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return Fields{}, nil
	}
	if err := checkMediaType(r); err != nil {
		return nil, err
	}
	return q.parse(text)
}

func checkMediaType(r *http.Request) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return &Error{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Message: "Send the body as JSON with the header Content-Type: application/json."}
	}
	return nil
}

// parse reads the text of a body and checks it.
func (q RequestSchema) parse(text []byte) (Fields, error) {
	object, err := parseObject(text)
	if err != nil {
		return nil, err
	}
	known := Fields{}
	for name := range q.Schema.Properties {
		if value := object[name]; value != nil {
			known[name] = value
		}
	}
	if wrong := q.check(known); len(wrong) > 0 {
		return nil, InvalidBody(wrong)
	}
	return known, nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large",
			Message: fmt.Sprintf("The request body has more than %d bytes.", maxBody)}
	case err != nil:
		return nil, malformedBody("The request body could not be read to its end. Send all of it at once.")
	case !utf8.Valid(text):
		return nil, malformedBody("The request body is not UTF-8.")
	}
	return text, nil
}

// parseObject reads one JSON object and nothing behind it. Integers that are written as such become int64.
func parseObject(text []byte) (map[string]any, error) {
	if object, ok := parsePlainObject(text); ok {
		return object, nil
	}
	return parseAnyObject(text)
}

func parseAnyObject(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || object == nil {
		return nil, malformedBody("The request body is not a JSON object. Send one like {\"amount\": 25000, ...}.")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, malformedBody("The request body has something behind its JSON object. Send one object only.")
	}
	for name, value := range object {
		if number, ok := value.(json.Number); ok {
			object[name] = integerOf(number)
		}
	}
	return object, nil
}

// integerOf keeps a number that is not written as an integer in a form that no schema takes for one: 100.0 and 1e2 are refused.
func integerOf(number json.Number) any {
	if strings.ContainsAny(number.String(), ".eE") {
		return number
	}
	if n, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return n
	}
	size, _ := strconv.ParseFloat(number.String(), 64) // beyond int64, so beyond every bound of a schema too
	return size
}

// check returns what is wrong with each field.
func (q RequestSchema) check(body Fields) FieldErrors {
	wrong := FieldErrors{}
	for _, name := range q.Schema.Required {
		if _, sent := body[name]; !sent {
			wrong[name] = []string{"is required" + q.example(name)}
		}
	}
	for name, value := range body {
		schema := q.Schema.Properties[name]
		if text, ok := value.(string); ok && strings.ContainsRune(text, 0) {
			wrong[name] = append(wrong[name], "must not contain NUL characters")
		} else if ok && schema.Format == "uri" && !absoluteURL(text) {
			wrong[name] = append(wrong[name], "expected an absolute http or https URL"+q.example(name))
		}
		var result huma.ValidateResult
		path := huma.NewPathBuffer(nil, 0)
		huma.Validate(q.registry, schema, path, huma.ModeWriteToServer, value, &result)
		for _, e := range result.Errors {
			var detail *huma.ErrorDetail
			if errors.As(e, &detail) {
				wrong[name] = append(wrong[name], detail.Message+q.example(name))
			}
		}
	}
	return wrong
}

// absoluteURL reports whether a text is a URL that a browser can open. The schema's format lets relative ones pass.
func absoluteURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// example shows what a field may look like, if the schema has an example.
func (q RequestSchema) example(name string) string {
	if examples := q.Schema.Properties[name].Examples; len(examples) > 0 {
		return fmt.Sprintf(", for example %v", examples[0])
	}
	return ""
}
