package operators

import (
	"slices"

	"github.com/cauri-dev/cauri/server/payments"
)

// numberingPlan is the format of the phone numbers of a country, without the calling code.
type numberingPlan struct {
	country payments.Country
	payments.CountryFacts
	prefixes map[string]payments.Operator
	longest  int // length of the longest prefix
}

// plans are the numbering plans of the markets, by calling code (Documented). A test compares them with
// libphonenumber's carrier data.
var plans = func() map[string]numberingPlan {
	all := make(map[string]numberingPlan, len(payments.Countries))
	for _, c := range payments.Countries {
		all[c.CallingCode()] = numberingPlan{country: c, CountryFacts: c.Facts(), prefixes: map[string]payments.Operator{}}
	}
	for _, m := range payments.Markets {
		plan := all[m.Country.CallingCode()]
		for _, prefix := range m.Prefixes {
			plan.prefixes[prefix] = m.Operator
			plan.longest = max(plan.longest, len(prefix))
		}
		all[m.Country.CallingCode()] = plan
	}
	return all
}()

// longestCallingCode is the number of digits of the longest calling code of any country.
const longestCallingCode = 3

// Detect returns the operator and the country of a number by its leading digits, if they are known: of a sandbox, those that it
// knows. The number is in E.164 with the plus sign. Values from the caller or from the SIM registry take precedence, because
// numbers are portable in some markets.
//
//   - For a number of a supported operator, it returns both, and ok is true.
//   - For a fixed line, or a number of another operator in a market, it returns only the country, and ok is false. A
//     caller that already knows the operator may use the country.
//   - For a number of another country, of one that is not known, or of a wrong length, it returns neither.
//
// Numbers of Benin may have the current format, which begins with 01, or the former format without 01.
func Detect(known *payments.Known, msisdn string) (op payments.Operator, country payments.Country, ok bool) {
	_, number, plan, ok := planOf(known, msisdn)
	if !ok {
		return "", "", false
	}
	national, ok := plan.national(number)
	if !ok {
		return "", "", false
	}
	for length := plan.longest; length > 0; length-- {
		if op, ok = plan.prefixes[national[:length]]; ok && known.Has(op, plan.country) {
			return op, plan.country, true
		} else if ok {
			break
		}
	}
	return "", plan.country, false
}

// planOf splits a number in E.164 into its calling code and the rest, and returns the numbering plan of its country. ok
// is false if the country is no market, or is not known.
func planOf(known *payments.Known, msisdn string) (code, number string, plan numberingPlan, ok bool) {
	if !payments.ValidMSISDN(msisdn) {
		return "", "", plan, false
	}
	digits := msisdn[len("+"):]
	for length := longestCallingCode; length > 0; length-- {
		if plan, ok = plans[digits[:length]]; ok {
			return digits[:length], digits[length:], plan, slices.Contains(known.Countries(), plan.country)
		}
	}
	return "", "", plan, false
}

// national returns the number in the current national format. ok is false if its length is wrong.
func (p numberingPlan) national(number string) (national string, ok bool) {
	switch len(number) {
	case p.Digits:
		return number, true
	case p.Former.Digits:
		return p.Former.Lead + number, true
	}
	return "", false
}
