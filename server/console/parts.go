package console

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// appearance is the look of a status.
type appearance struct {
	text        english.Text
	icon, class string
}

var appearances = map[payments.Status]appearance{
	payments.Pending:            {"Pending", "st-pending", "open"},
	payments.Success:            {"Success", "st-ok", "ok"},
	payments.PINInvalid:         {"Wrong PIN", "st-pin", "bad"},
	payments.InsufficientFunds:  {"Insufficient funds", "st-funds", "bad"},
	payments.Timeout:            {"Timed out", "st-time", "wait"},
	payments.AccountBlocked:     {"Account blocked", "st-lock", "bad"},
	payments.UserCancelled:      {"Cancelled by payer", "st-no", "wait"},
	payments.UnknownMSISDN:      {"Unknown number", "st-who", "bad"},
	payments.LimitExceeded:      {"Limit exceeded", "st-limit", "bad"},
	payments.ServiceUnavailable: {"Operator unavailable", "st-off", "wait"},
	payments.DuplicateReference: {"Duplicate reference", "st-twice", "bad"},
}

// isolated returns a text of a merchant for use in a sentence. The text cannot change the direction of writing of the
// sentence: [isolateBidi] removes its own marks of direction, and isolating marks surround it.
func isolated(text string) string { return "\u2068" + isolateBidi(text) + "\u2069" }

// isolateBidi removes the characters that change the direction of writing from a text of a merchant. The effect of such a
// character may continue after the element of the text.
func isolateBidi(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// eventName matches the names of events.
var eventName = regexp.MustCompile(`^[a-z]+\.[a-z]+$`)

// invalid returns the attributes of a wrong field. It returns nil if wrong, the text that says what is wrong, is empty.
// id is the id of the element with this text. first puts the cursor into the field.
func invalid(wrong, id string, first bool) templ.Attributes {
	if wrong == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-errormessage": id, "autofocus": first}
}

// operatorName returns the name of an operator as people write it.
func operatorName(o payments.Operator) string { return o.Name() }

// effects returns a text for each of the named faults: what it does.
func (v *visit) effects(names []string) (all []string) {
	for _, name := range names {
		all = append(all, v.Say(v.who.Sandbox.Faults.Effect(name)))
	}
	return all
}
