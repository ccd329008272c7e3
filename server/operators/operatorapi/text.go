package operatorapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/syntax"
)

// IsText reports whether a text can be stored, and has at most the given number of characters. A text can be stored if
// it is UTF-8 without NUL.
func IsText(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && !strings.ContainsRune(text, 0)
}

// TextOrNumber is a text in JSON that some clients send as a number. Its value is the number as they wrote it.
type TextOrNumber string

// UnmarshalJSON implements [json.Unmarshaler]. It returns a [json.UnmarshalTypeError] for other values than null.
func (t *TextOrNumber) UnmarshalJSON(raw []byte) error {
	if number := json.Number(""); json.Unmarshal(raw, &number) == nil && raw[0] != '"' {
		*t = TextOrNumber(number)
		return nil
	}
	return json.Unmarshal(raw, (*string)(t))
}

// IsJSON reports whether the request says that its body is JSON, or does not say what it is.
func (r *Request) IsJSON() bool {
	kind := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(kind)
	return kind == "" || err == nil && media == "application/json"
}

// Decode decodes the body, a JSON object. For any other body it returns a refusal. Its detail names the field that has
// another type than the given value, or says where the body stops being JSON.
func (r *Request) Decode(why Reason, into any) error {
	err := json.Unmarshal(r.Body, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		given, _, _ := strings.Cut(wrong.Value, " ") // after it comes a number as it was sent
		return Refuse(why).Expect(wrong.Field, kinds[wrong.Type.Kind()]+", and not "+values[given])
	}
	return r.Unreadable(why)
}

// kinds and values are the names of types of JSON: by the kind in Go that has the type, and by the name in an error of
// package json.
var (
	kinds  = map[reflect.Kind]string{reflect.String: "a text", reflect.Struct: "an object", reflect.Map: "an object"}
	values = map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}
)

// Unreadable returns a refusal of a body that is no JSON object. Its Detail says what is wrong with the body; empty:
// nothing was found.
func (r *Request) Unreadable(reason Reason) *Refusal {
	return r.because(reason, "no JSON object", syntax.JSON)
}

// UnreadableXML returns a refusal of a body that is no XML. Its Detail says what is wrong with the body; empty: nothing
// was found.
func (r *Request) UnreadableXML(reason Reason) *Refusal {
	return r.because(reason, "not readable", syntax.XML)
}

func (r *Request) because(reason Reason, what string, explain func([]byte) string) *Refusal {
	refused := Refuse(reason)
	wrong := syntax.Encoding(r.Body, r.Header.Get("Content-Encoding"))
	if wrong == "" {
		wrong = explain(r.Body)
	}
	if wrong != "" {
		refused.Detail = "the body is " + what + ": " + wrong
	}
	return refused
}

// NumberForm says how many digits a phone number of the country has, for [Refusal.Expect]. It does not repeat the number
// that was sent. The parameter digits does not count the country code.
func NumberForm(sent string, country payments.Country, digits int) string {
	wanted := fmt.Sprintf("a number of %s, which has %d digits, with or without %s before them", country, digits, country.CallingCode())
	switch {
	case sent == "":
		return wanted
	case strings.Trim(sent, "0123456789") != "":
		return wanted + ", and nothing else"
	}
	return fmt.Sprintf("%s; this one has %d digits", wanted, len(sent))
}

// TextForm says how many characters a text has, for [Refusal.Expect].
func TextForm(least, most int) string {
	if least == 0 {
		return fmt.Sprintf("a text of at most %d characters", most)
	}
	return fmt.Sprintf("a text of %d to %d characters", least, most)
}

// Cut returns the beginning of a text, with at most the given number of characters.
func Cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// IsTo reports whether the path of a request ends with the given path. It ignores the slashes and spaces that clients
// add to the path of the request.
func IsTo(r *http.Request, path string) bool {
	parts := strings.FieldsFunc(strings.TrimRight(r.URL.Path, "/ "), func(c rune) bool { return c == '/' })
	return strings.HasSuffix("/"+strings.Join(parts, "/"), path)
}

// Names returns the first and the last name of a holder. The last name is empty if the holder has only one name. If the
// name is unknown, both are constant.
func (h Holder) Names() (first, last string) {
	if h.Name == "" {
		return "Sand", "Box"
	}
	first, last, _ = strings.Cut(h.Name, "-")
	return first, last
}
