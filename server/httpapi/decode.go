package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

const (
	// maxBody is the largest request body in bytes.
	maxBody = 64 << 10
	// readTimeout bounds how long a client may take to send its body.
	readTimeout = 15 * time.Second
)

func init() {
	// A field has one spelling. What differs in case is an unknown field, and ignored like any other.
	huma.ValidateStrictCasing = true
}

// requestSchema is the JSON schema of a request body. The same schema stands in the API's description.
type requestSchema struct {
	registry huma.Registry
	schema   *huma.Schema
}

// schemaFor derives the schema of a body from its struct and tags.
func schemaFor[T any]() requestSchema {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := huma.SchemaFromType(registry, reflect.TypeFor[T]())
	return requestSchema{registry, schema}
}

// fields is a request body: its known fields, all valid by the schema. A field that was null or left out is not there.
type fields map[string]any

func (f fields) text(name string) string {
	s, _ := f[name].(string)
	return s
}

func (f fields) optionalText(name string) *string {
	if s, ok := f[name].(string); ok {
		return &s
	}
	return nil
}

func (f fields) integer(name string) int64 {
	n, _ := f[name].(int64)
	return n
}

func (f fields) boolean(name string) bool {
	b, _ := f[name].(bool)
	return b
}

// decode reads a request's body and checks it. Its errors are of type [*Error] and name every wrong field at once.
func (q requestSchema) decode(w http.ResponseWriter, r *http.Request) (fields, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, &Error{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Message: "Send the body as JSON with the header Content-Type: application/json."}
	}
	text, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	object, err := parseObject(text)
	if err != nil {
		return nil, err
	}
	known := fields{}
	for name := range q.schema.Properties {
		if value := object[name]; value != nil {
			known[name] = value
		}
	}
	if wrong := q.check(known); len(wrong) > 0 {
		return nil, invalidBody(wrong)
	}
	return known, nil
}

// decodeOptional is decode for a body that may be left out.
func (q requestSchema) decodeOptional(w http.ResponseWriter, r *http.Request) (fields, error) {
	if r.ContentLength == 0 {
		return fields{}, nil
	}
	return q.decode(w, r)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	deadlines := http.NewResponseController(w)
	_ = deadlines.SetReadDeadline(time.Now().Add(readTimeout)) // not every connection has deadlines
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = deadlines.SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large",
			Message: fmt.Sprintf("The request body has more than %d bytes.", maxBody)}
	case err != nil:
		return nil, malformedBody("The request body could not be read to its end.")
	case !utf8.Valid(text):
		return nil, malformedBody("The request body is not UTF-8.")
	}
	return text, nil
}

// parseObject reads one JSON object and nothing behind it. Integers that are written as such become int64.
func parseObject(text []byte) (map[string]any, error) {
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
func (q requestSchema) check(body fields) fieldErrors {
	wrong := fieldErrors{}
	for _, name := range q.schema.Required {
		if _, sent := body[name]; !sent {
			wrong[name] = []string{"is required" + q.example(name)}
		}
	}
	for name, value := range body {
		if text, ok := value.(string); ok && strings.ContainsRune(text, 0) {
			wrong[name] = append(wrong[name], "must not contain NUL characters")
		}
		var result huma.ValidateResult
		path := huma.NewPathBuffer(nil, 0)
		huma.Validate(q.registry, q.schema.Properties[name], path, huma.ModeWriteToServer, value, &result)
		for _, e := range result.Errors {
			var detail *huma.ErrorDetail
			if errors.As(e, &detail) {
				wrong[name] = append(wrong[name], detail.Message+q.example(name))
			}
		}
	}
	return wrong
}

// example shows what a field may look like, if the schema has an example.
func (q requestSchema) example(name string) string {
	if examples := q.schema.Properties[name].Examples; len(examples) > 0 {
		return fmt.Sprintf(", for example %v", examples[0])
	}
	return ""
}
