package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// requestField is a field of a request's body. Its value is a text, an int64 or a bool.
type requestField struct {
	name  string
	value any
}

// requestCode is a request of /v1 that can be written in several languages. It has no key: a program reads the key from
// its environment.
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
func requestOf(t *payments.Transaction) requestCode {
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
	operator, country, _ := operators.Detect(t.MSISDN)
	if t.Type == payments.Disbursement {
		r.path = "/api/v1/disbursements"
		operator = "" // it has to be sent
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

// inLanguages returns the request in all languages.
func (r *requestCode) inLanguages() []codeIn {
	return []codeIn{
		{"curl", `curl -sS "$CAURI_URI` + r.path + `" \
  -H "Authorization: Bearer $CAURI_API_KEY" \
  -H 'Content-Type: application/json' \
  -d '` + r.json("    ", inShell) + "  }'"},
		{"JavaScript", `const answer = await fetch(process.env.CAURI_URI + "` + r.path + `", {
  method: "POST",
  headers: {
    Authorization: "Bearer " + process.env.CAURI_API_KEY,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({
` + r.lines("    %s: %s,\n", asJSON) + `  }),
});
const payment = await answer.json(); // check payment.status`},
		{"Python", `import os, requests

answer = requests.post(
    os.environ["CAURI_URI"] + "` + r.path + `",
    headers={"Authorization": "Bearer " + os.environ["CAURI_API_KEY"]},
    json={
` + r.lines("        \"%s\": %s,\n", asPython) + `    },
    timeout=70,
)
payment = answer.json()  # check payment["status"]`},
		{"PHP", `$curl = curl_init(getenv("CAURI_URI") . "` + r.path + `");
curl_setopt_array($curl, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        "Authorization: Bearer " . getenv("CAURI_API_KEY"),
        "Content-Type: application/json",
    ],
    CURLOPT_POSTFIELDS => json_encode([
` + r.lines("        \"%s\" => %s,\n", asPHP) + `    ]),
]);
$payment = json_decode(curl_exec($curl), true); // check $payment["status"]`},
		{"Go", "body := strings.NewReader(`" + r.json("  ", inGo) + "}`)\n" +
			`r, err := http.NewRequest("POST", os.Getenv("CAURI_URI")+"` + r.path + `", body)
if err != nil {
	return err
}
r.Header.Set("Authorization", "Bearer "+os.Getenv("CAURI_API_KEY"))
r.Header.Set("Content-Type", "application/json")
answer, err := http.DefaultClient.Do(r) // then check the status in the body`},
	}
}

// json returns the body without its last brace.
func (r *requestCode) json(indent string, n notation) string {
	return "{\n" + strings.TrimSuffix(r.lines(indent+"\"%s\": %s,\n", n), ",\n") + "\n"
}

// lines returns a line for each field. The form of a line has verbs for the name and the value.
func (r *requestCode) lines(form string, n notation) string {
	var lines strings.Builder
	for _, f := range r.fields {
		value := fmt.Sprint(f.value)
		switch field := f.value.(type) {
		case string:
			value = n.quoted(field)
		case bool:
			value = n.yes // a field that is false is not sent
		}
		fmt.Fprintf(&lines, form, f.name, value)
	}
	return lines.String()
}

// notation is how a language writes texts.
type notation struct {
	escape  func(rune) string
	special string // characters that have an escape too
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

// visible returns a text with an escape in place of the characters that nobody sees, such as marks of the direction of
// writing. So a person reads what a program reads.
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
