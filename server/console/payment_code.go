package console

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// requestField is a field of a request's body. Its value is a text, an int64 or a bool.
type requestField struct {
	name  string
	value any
}

// requestCode is a request of /v1 that the console shows in several languages. It has no key, because a program reads
// the key from its environment.
type requestCode struct {
	path   string
	fields []requestField
}

// add adds a field, if it has a value.
func (r *requestCode) add(name string, value any) {
	if value != nil && value != "" {
		r.fields = append(r.fields, requestField{name, value})
	}
}

// requestOf returns the request of /v1 that records a transaction like this one.
func requestOf(known *payments.Known, t *payments.Transaction) requestCode {
	r := requestCode{path: "/api/v1/payments"}
	r.add("amount", t.Amount)
	if t.ParentID != nil {
		r.path += "/" + t.ParentID.String() + "/refund"
		r.add("reference", t.Reference)
		if t.Description != nil {
			r.add("description", *t.Description)
		}
		return r
	}
	r.add("currency", t.Currency)
	operator, country, _ := operators.Detect(known, t.MSISDN)
	if t.Type == payments.Disbursement {
		r.path = "/api/v1/disbursements"
		operator = "" // a disbursement must name its operator
	}
	if operator != t.Operator || country != t.Country {
		r.add("operator", string(t.Operator))
		r.add("country", string(t.Country))
	}
	r.add("msisdn", t.MSISDN)
	r.add("reference", t.Reference)
	r.add("application", t.Store)
	if t.OrderRef != t.Reference {
		r.add("order_ref", t.OrderRef)
	}
	if t.OrderURL != nil {
		r.add("order_url", *t.OrderURL)
	}
	if t.URLProtected {
		r.add("is_url_protected", true)
	}
	if t.Description != nil {
		r.add("description", *t.Description)
	}
	r.add("scenario", string(t.Scenario))
	return r
}

// codeIn is a request in a language.
type codeIn struct{ language, text string }

// languages are the languages in which requests are shown, with their notations.
var languages = []struct {
	name string
	notation
}{{"curl", inShell}, {"JavaScript", asJSON}, {"Python", asPython}, {"PHP", asPHP}, {"Go", inGo}}

// postedLine matches the line of the example field in a request of [assets.Posting].
var postedLine = regexp.MustCompile(`(?m)^.*` + assets.PostedName + `.*$`)

// inLanguages returns the code of the request in all languages. uri is the address of the sandbox.
func (r *requestCode) inLanguages(uri string) []codeIn {
	all := make([]codeIn, len(languages))
	for i, l := range languages {
		text := strings.ReplaceAll(assets.Posting(strings.ToLower(l.name)), assets.PageAddress, assets.Shown(uri)+r.path)
		all[i] = codeIn{l.name, postedLine.ReplaceAllStringFunc(text, func(line string) string { return r.lines(line, l.notation) })}
	}
	return all
}

// body returns the body of the request as JSON.
func (r *requestCode) body() string {
	if len(r.fields) == 0 {
		return ""
	}
	return "{\n" + r.lines(`  "`+assets.PostedName+`": "`+assets.PostedValue+`"`, asJSON) + "\n}"
}

// lines returns the fields, one on each line. form is the line of the example field.
func (r *requestCode) lines(form string, n notation) string {
	lines := make([]string, len(r.fields))
	for i, f := range r.fields {
		value := fmt.Sprint(f.value)
		switch field := f.value.(type) {
		case string:
			value = n.quoted(field)
		case bool:
			value = n.yes // a field that is false is not sent
		}
		lines[i] = strings.NewReplacer(assets.PostedName, f.name, `"`+assets.PostedValue+`"`, value).Replace(form)
	}
	return strings.Join(lines, ",\n")
}

// notation describes how a language writes values.
type notation struct {
	escape  func(rune) string
	special string // visible characters that also need an escape
	yes     string
}

var (
	asJSON   = notation{escapeInJSON, "", "true"}
	inShell  = notation{escapeInJSON, "'", "true"} // JSON in the quotes of a shell
	inGo     = notation{escapeInJSON, "`", "true"} // JSON in the quotes of Go
	asPython = notation{func(r rune) string {
		if r > 0xffff {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	}, "", "True"}
	asPHP = notation{func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }, "$", "true"}
)

func escapeInJSON(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// quoted returns a text in double quotes.
func (n notation) quoted(text string) string {
	return `"` + n.visible(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)) + `"`
}

// visible replaces the invisible characters of a text, such as marks of the direction of writing, by escapes. So a
// person sees what a program reads.
func (n notation) visible(text string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) && !strings.ContainsRune(n.special, r) {
			out.WriteRune(r)
		} else {
			out.WriteString(n.escape(r))
		}
	}
	return out.String()
}
