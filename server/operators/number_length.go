package operators

import (
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// WrongLength describes a number of a market that has more or fewer digits than the numbers of its country.
type WrongLength struct {
	MSISDN     string
	Country    payments.Country
	Code       string // calling code, without the plus sign
	Has, Wants int    // digits after the calling code
	// Present is the same number in the present format of the country. It is empty if MSISDN does not have the former
	// format.
	Present    string
	renumbered english.Text // day on which the former format ended
}

// CheckLength returns what is wrong with the length of a number in E.164. It returns nil for a number of the right length,
// and for a number of a country that is no market, or is not known.
func CheckLength(known *payments.Known, msisdn string) *WrongLength {
	code, number, plan, ok := planOf(known, msisdn)
	if !ok || len(number) == plan.Digits {
		return nil
	}
	w := &WrongLength{MSISDN: msisdn, Country: plan.country, Code: code, Has: len(number), Wants: plan.Digits}
	if len(number) == plan.Former.Digits {
		w.Present, w.renumbered = "+"+code+plan.Former.Lead+number, plan.Former.Until
	}
	return w
}

// The sentences of a [WrongLength], without a period.
const (
	hasWrongLength  english.Text = "%s has %d digits after +%s, and a number of %s has %d"
	hasFormerLength english.Text = "%s has %d digits after +%s, and a number of %s has %d since %s: %s"
)

// Phrase returns a sentence that says how many digits the number has, and how many it needs.
func (w *WrongLength) Phrase() english.Phrase {
	if w.Present != "" {
		return english.Say(hasFormerLength, w.MSISDN, w.Has, w.Code, w.Country, w.Wants, english.Say(w.renumbered), w.Present)
	}
	return english.Say(hasWrongLength, w.MSISDN, w.Has, w.Code, w.Country, w.Wants)
}

// String returns the sentence in English.
func (w *WrongLength) String() string { return w.Phrase().String() }
