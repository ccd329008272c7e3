package decode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/syntax"
)

func init() {
	// Names are case-sensitive. [Decoder] says which name was meant.
	huma.ValidateStrictCasing = true
}

// Decoder decodes the bodies of one type of request. T is a struct whose fields have json tags. A null or missing field
// is zero in T. If the schema of a field allows the zero value, the field is a pointer, which is nil for a null or
// missing field. A field with the tag `null` may be missing and may not be null: what its absence does is too much for a
// value that a program failed to compute. The tag says what the absence does.
type Decoder[T any] struct {
	Schema     *huma.Schema // schema in the API's description
	fields     []field      // sorted by name
	shown      int          // index of the field in a body in short, for messages
	mergePatch bool         // RFC 7396: null sets a pointer to a zero value; a missing field stays nil
}

// field is a field of a request.
type field struct {
	name     string
	index    int          // index in the struct
	schema   *huma.Schema // schema for huma's validator
	required bool
	absence  string // what the absence of a field that may not be null does; empty: it may be null
	example  any    // nil for none
}

func newDecoder[T any]() *Decoder[T] {
	t := reflect.TypeFor[T]()
	d := &Decoder[T]{Schema: Schemas.Schema(t, false, "")}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		schema := d.Schema.Properties[name]
		if schema == nil {
			continue
		}
		checked := *schema
		f := field{
			name: name, index: i, schema: &checked, required: slices.Contains(d.Schema.Required, name), absence: t.Field(i).Tag.Get("null"),
		}
		if len(schema.Examples) > 0 {
			f.example = schema.Examples[0]
		}
		describe(schema, f.required || f.absence != "")
		d.fields = append(d.fields, f)
	}
	shown := d.fieldShown(t)
	slices.SortFunc(d.fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	d.shown = slices.IndexFunc(d.fields, func(f field) bool { return f.name == shown })
	return d
}

// fieldShown returns the name of the field in a body in short: the first that is required, else the first that can be set
// to nothing, which changes something by itself.
func (d *Decoder[T]) fieldShown(t reflect.Type) string {
	shown := slices.IndexFunc(d.fields, func(f field) bool { return f.required })
	if shown < 0 {
		shown = slices.IndexFunc(d.fields, func(f field) bool { return t.Field(f.index).Type.Kind() == reflect.Pointer })
	}
	return d.fields[max(0, shown)].name
}

// describe adds to a field's schema the rules that the decoder checks in Go instead of in huma. The checks in Go are
// faster and have better messages.
func describe(schema *huma.Schema, hasValue bool) {
	switch {
	case schema.Format == "uri":
		schema.Pattern, schema.PatternDescription = `^[Hh][Tt][Tt][Pp][Ss]?://([^/?#\x00]*@)?[^/?#@\x00]+([/?#][^\x00]*)?$`, "an http or https URL"
	case schema.Type == huma.TypeString && schema.Pattern == "" && schema.Enum == nil:
		schema.Pattern, schema.PatternDescription = `^[^\x00]*$`, "no NUL"
	}
	if !hasValue { // null is the same as a missing field
		schema.Nullable = true
		if schema.Enum != nil {
			schema.Enum = append(slices.Clone(schema.Enum), nil)
		}
	}
}

func newMergePatch[T any]() *Decoder[T] {
	d := newDecoder[T]()
	d.mergePatch = true
	return d
}

// Decode reads and validates the body of a request to a sandbox. Its error has the type [*wire.Error], and names every wrong
// field. The examples in the error are of the sandbox; nil: of any.
func (d *Decoder[T]) Decode(w http.ResponseWriter, r *http.Request, sandbox *sandboxes.Sandbox) (*T, error) {
	if err := d.checkMediaType(r); err != nil {
		return nil, err
	}
	text, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	return d.parse(w.Header(), text, sandbox)
}

// DecodeOptional is [Decoder.Decode] for an optional body. It returns a zero T for an empty body.
func (d *Decoder[T]) DecodeOptional(w http.ResponseWriter, r *http.Request, sandbox *sandboxes.Sandbox) (*T, error) {
	text, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return new(T), nil
	}
	if err := d.checkMediaType(r); err != nil {
		return nil, err
	}
	return d.parse(w.Header(), text, sandbox)
}

// parse decodes and validates the text of a body. It names the fields that it ignores in the header of the answer.
func (d *Decoder[T]) parse(header http.Header, text []byte, sandbox *sandboxes.Sandbox) (*T, error) {
	sent, err := parseObject(text)
	switch {
	case errors.Is(err, errNoObject):
		return nil, view.MalformedBody(noObject(syntax.JSON(text), "Send one like "+d.fields[d.shown].sample(examples{sandbox: sandbox})))
	case err != nil:
		return nil, err
	}
	body, wrong, check := new(T), wire.FieldErrors{}, newValidation(examples{sandbox, sent})
	into, unknown := reflect.ValueOf(body).Elem(), len(sent)
	for i := range d.fields {
		f := &d.fields[i]
		value, given := sent[f.name]
		if given {
			unknown--
		}
		switch {
		case value == nil && f.required:
			wrong[f.name] = []string{"is required" + f.forExample(check.examples)}
		case value == nil && given && f.absence != "":
			wrong[f.name] = []string{"must not be null, as JavaScript writes NaN: send a value" + f.forExample(check.examples) + ", or leave it out " + f.absence}
		case value == nil && given && d.mergePatch:
			f.clear(into)
		case value == nil:
		default:
			if problems := check.problems(f, value); len(problems) > 0 {
				wrong[f.name] = problems
			} else {
				f.set(into, value)
			}
		}
	}
	if unknown > 0 {
		d.checkUnknown(header, sent, wrong)
	}
	if len(wrong) > 0 {
		return nil, view.InvalidBody(wrong)
	}
	return body, nil
}

// checkUnknown adds an error for each unknown field that is another spelling of a known one, and names the other unknown
// fields in the header. A field whose absence does much may be meant by a misspelled one too.
func (d *Decoder[T]) checkUnknown(header http.Header, sent map[string]any, wrong wire.FieldErrors) {
	var known, ignored, absent []string
	for i := range d.fields {
		f := &d.fields[i]
		known = append(known, f.name)
		if _, given := sent[f.name]; !given && f.absence != "" {
			absent = append(absent, f.name)
		}
	}
	for name := range sent {
		if slices.Contains(known, name) {
			continue
		}
		if right := cmp.Or(sameSpelling(name, known), nearest(name, absent)); right != "" {
			wrong[name] = []string{"is unknown: write " + right}
		} else {
			ignored = append(ignored, name)
		}
	}
	noteIgnored(header, ignored)
}

// set sets the field of a struct to a validated value, which has the field's type.
func (f *field) set(into reflect.Value, value any) {
	target := into.Field(f.index)
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	target.Set(reflect.ValueOf(value))
}

// clear sets a pointer field to a pointer to the zero value.
func (f *field) clear(into reflect.Value) {
	if target := into.Field(f.index); target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
	}
}

func (d *Decoder[T]) checkMediaType(r *http.Request) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" && (!d.mergePatch || media != "application/merge-patch+json") {
		return &wire.Error{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Message: fmt.Sprintf("The body's Content-Type is %.100s. Send the body as JSON with the header Content-Type: application/json.",
				cmp.Or(r.Header.Get("Content-Type"), "missing"))}
	}
	return nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, view.MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, view.BodyTooLarge()
	case err != nil:
		return nil, view.MalformedBody("The request body is incomplete. Send the whole body.")
	}
	if wrong := syntax.Encoding(text, r.Header.Get("Content-Encoding")); wrong != "" {
		return nil, view.MalformedBody(noObject(wrong))
	}
	return text, nil
}

// noObject says why a body is not a JSON object, and what to do instead.
func noObject(why string, instead ...string) string {
	return strings.Join(append([]string{"The request body is not a JSON object: " + why}, instead...), ". ") + "."
}

// errNoObject is the error for a text that is not one JSON object.
var errNoObject = errors.New("no JSON object")

// parseObject decodes one JSON object. Integers without point and exponent become int64.
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
		return nil, errNoObject
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errNoObject
	}
	for name, value := range object {
		if number, ok := value.(json.Number); ok {
			object[name] = integerOf(number)
		}
	}
	return object, nil
}

// integerOf returns an int64 for a number that is written as an integer, and a float64 for an integer beyond int64. It
// returns other numbers, such as 100.0 and 1e2, unchanged: every schema refuses a [json.Number].
func integerOf(number json.Number) any {
	if strings.ContainsAny(number.String(), ".eE") {
		return number
	}
	if n, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return n
	}
	size, _ := strconv.ParseFloat(number.String(), 64) // beyond int64, and so beyond the bounds of every schema
	return size
}

// validation is the state of huma's validator. All fields of a request share it.
type validation struct {
	path   *huma.PathBuffer
	result huma.ValidateResult
	examples
}

func newValidation(e examples) *validation {
	return &validation{path: huma.NewPathBuffer(nil, 0), examples: e}
}

// problems returns the messages about an invalid value of a field.
func (v *validation) problems(f *field, value any) (problems []string) {
	if text, ok := value.(string); ok && strings.ContainsRune(text, 0) {
		problems = append(problems, "must not contain NUL characters")
	} else if ok && f.schema.Format == "uri" && !absoluteURL(text) {
		problems = append(problems, "expected an absolute http or https URL"+f.forExample(v.examples))
	}
	v.result.Reset()
	huma.Validate(Schemas, f.in(v.sandbox, value), v.path, huma.ModeWriteToServer, value, &v.result)
	for _, e := range v.result.Errors {
		var detail *huma.ErrorDetail
		if errors.As(e, &detail) {
			problems = append(problems, f.plain(detail.Message)+f.forExample(v.examples))
		}
	}
	return problems
}

// in returns the schema for a value of the field in a sandbox. An operator or a country that the sandbox does not know is none
// of the values, and the message about it names those that the sandbox knows.
func (f *field) in(sandbox *sandboxes.Sandbox, value any) *huma.Schema {
	if f.schema.Enum == nil || sandbox == nil {
		return f.schema
	}
	var known []string
	switch f.name {
	case "operator":
		known = payments.Texts(sandbox.Known.Operators())
	case "country":
		known = payments.Texts(sandbox.Known.Countries())
	default:
		return f.schema
	}
	if text, ok := value.(string); ok && slices.Contains(known, text) {
		return f.schema
	}
	checked := *f.schema
	checked.Enum = make([]any, len(known))
	for i, name := range known {
		checked.Enum[i] = name
	}
	checked.PrecomputeMessages()
	return &checked
}

// plain returns a message of huma with the bound of the field in digits. huma writes large bounds as 1e+12.
func (f *field) plain(message string) string {
	if most := f.schema.Maximum; most != nil {
		return strings.Replace(message, fmt.Sprint(*most), strconv.FormatFloat(*most, 'f', -1, 64), 1)
	}
	return message
}

// absoluteURL reports whether a text is an absolute URL. The format of the schema also allows relative URLs.
func absoluteURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.Contains(u.Hostname(), "%")
}
