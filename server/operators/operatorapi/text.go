package operatorapi

import (
	"fmt"
	"net/http"
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

// NumberForm returns the detail of a refusal of a phone number. The detail says how many digits a number of the country
// has. It is a sentence without a period, and does not repeat the number. The parameter digits does not count the
// country code.
func NumberForm(sent string, country payments.Country, digits int) string {
	wanted := fmt.Sprintf("a number of %s has %d digits, with or without %s before them", country, digits, country.CallingCode())
	if strings.Trim(sent, "0123456789") != "" {
		return wanted + ", and nothing else"
	}
	return fmt.Sprintf("the number has %d digits: ", len(sent)) + wanted
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
