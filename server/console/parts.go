package console

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// look is the appearance of a status.
type look struct {
	text        english.Text
	icon, class string
}

var looks = map[payments.Status]look{
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

// isolated returns a text of a merchant for a sentence. The marks around it, and the absence of its own ones, keep its
// direction of writing from changing that of the sentence.
func isolated(text string) string { return "\u2068" + tame(text) + "\u2069" }

// tame returns a text of a merchant without the characters that change the direction of writing: an open one of them would
// go on behind the element of the text.
func tame(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// eventName matches the names of events.
var eventName = regexp.MustCompile(`^[a-z]+\.[a-z]+$`)

// invalid returns the attributes of a field: none if the text that says what is wrong with it is empty. id is the id of
// the text's element. The cursor stands in the first wrong field of a page.
func invalid(wrong, id string, first bool) templ.Attributes {
	if wrong == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-errormessage": id, "autofocus": first}
}

// operatorName returns the name of an operator as people write it.
func operatorName(o payments.Operator) string { return o.Name() }

// effects says what each of the named faults does.
func (v *visit) effects(names []string) (all []string) {
	for _, name := range names {
		all = append(all, v.Say(v.who.Sandbox.Faults.Effect(name)))
	}
	return all
}
