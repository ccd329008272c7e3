package console

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/requests"
)

// suggestion returns the fields of a refused request, with corrected values for the wrong ones. It returns nil if the
// console knows no value for a wrong field, or if the log does not have the whole body.
func (r *loggedRequest) suggestion(v *visit) []sentLine {
	if r.RequestBody == nil || len(r.answer.Detail.FieldErrors) == 0 || strings.Contains(r.Path, "{") ||
		slices.Contains(r.NotKept, string(requests.RestOfBody)) {
		return nil
	}
	for _, name := range r.wrongFields() {
		if slices.Contains(r.NotKept, name) {
			return nil
		}
	}
	lines := r.sent()
	for i := range lines {
		line := &lines[i]
		if len(line.why) == 0 {
			continue
		}
		sent, comma := strings.CutSuffix(line.value, ",")
		value := v.valueFor(line.name, sent, line.why[0])
		if value == "" {
			return nil
		}
		line.missing, line.value = false, value
		if comma || i < len(lines)-1 {
			line.value += ","
		}
	}
	return lines
}

var (
	integer     = regexp.MustCompile(`^[0-9]{1,15}$`)
	integerText = regexp.MustCompile(`^"[0-9]{1,15}"$`)
	exampleIn   = regexp.MustCompile(`for example ([^;]+)`)
	onlyValueIn = regexp.MustCompile(`^must be (?:one of )?([A-Za-z]+),`)
)

// valueFor returns a corrected value for a wrong field, as JSON; "" if none is known.
func (v *visit) valueFor(name, sent, why string) string {
	var text string
	if name == "msisdn" && json.Unmarshal([]byte(sent), &text) == nil {
		for _, m := range v.who.Sandbox.Markets {
			if number := locale.International(text, string(m.Country)); number != "" {
				return quotedJSON(number)
			}
		}
	}
	if strings.HasPrefix(why, "expected integer") && integerText.MatchString(sent) {
		return strings.Trim(sent, `"`)
	}
	for _, form := range []*regexp.Regexp{exampleIn, onlyValueIn} {
		switch found := form.FindStringSubmatch(why); {
		case found == nil:
		case integer.MatchString(found[1]):
			return found[1]
		default:
			return quotedJSON(found[1])
		}
	}
	return ""
}

func quotedJSON(text string) string {
	quoted, _ := json.Marshal(text) // a text can always be encoded
	return string(quoted)
}

// repeated returns the curl command that sends the request again, with these fields.
func (r *loggedRequest) repeated(lines []sentLine) string {
	var body strings.Builder
	for _, line := range lines {
		body.WriteString("\n  " + quotedJSON(line.name) + ": " + line.value)
	}
	return "curl -sS -X " + r.Method + ` "$CAURI_URI/api` + r.Path + `" -H "Authorization: Bearer $CAURI_API_KEY" \` +
		"\n  -H 'Content-Type: application/json' -d " + shellQuoted("{"+body.String()+"\n}")
}
