package operators

import (
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/payments"
)

// numberingPlan is the format of the phone numbers of a country, without the calling code.
type numberingPlan struct {
	country payments.Country
	digits  int // length of a number
	// formerDigits is the length of a number before the country's last renumbering, which added the prefix formerLead.
	// It is zero if former numbers are no longer in use.
	formerDigits int
	formerLead   string
	renumbered   english.Text                 // day of that renumbering
	prefixDigits int                          // number of leading digits that identify the operator
	prefixes     map[string]payments.Operator // prefixes of mobile numbers of the supported operators
}

// plans are the numbering plans of the markets, by calling code (Documented). A test compares them with
// libphonenumber's carrier data. All calling codes of the markets have three digits.
var plans = map[string]numberingPlan{
	"225": {
		country:      payments.CoteDIvoire,
		digits:       10,
		prefixDigits: 2,
		prefixes: byPrefix(map[payments.Operator][]string{
			payments.Moov:   {"01"},
			payments.MTN:    {"05"},
			payments.Orange: {"07"},
		}),
	},
	"228": {
		country:      payments.Togo,
		digits:       8,
		prefixDigits: 2,
		prefixes: byPrefix(map[payments.Operator][]string{
			payments.Moov: {"78", "79", "96", "97", "98", "99"},
		}),
	},
	"229": {
		country:      payments.Benin,
		digits:       10,
		formerDigits: 8,
		formerLead:   "01",
		renumbered:   "30 November 2024",
		prefixDigits: 4,
		prefixes: byPrefix(map[payments.Operator][]string{
			payments.MTN: {
				"0142", "0146", "0150", "0151", "0152", "0153", "0154", "0156", "0157", "0159",
				"0161", "0162", "0166", "0167", "0169", "0190", "0191", "0196", "0197",
			},
			payments.Moov: {
				"0145", "0155", "0158", "0160", "0163", "0164", "0165", "0168", "0194", "0195", "0198", "0199",
			},
		}),
	},
	"250": {
		country:      payments.Rwanda,
		digits:       9,
		prefixDigits: 2,
		prefixes: byPrefix(map[payments.Operator][]string{
			payments.MTN:    {"78", "79"},
			payments.Airtel: {"72", "73"}, // 72 belonged to Tigo before Airtel took it over
		}),
	},
}

const callingCodeDigits = 3

// Detect returns the operator and the country of a number by its leading digits. The number is in E.164 with the plus
// sign. Values from the caller or from the SIM registry take precedence, because numbers are portable in some markets.
//
//   - For a number of a supported operator, it returns both, and ok is true.
//   - For a fixed line, or a number of another operator in a market, it returns only the country, and ok is false. A
//     caller that already knows the operator may use the country.
//   - For a number of another country, or of a wrong length, it returns neither.
//
// Numbers of Benin may have the current format, which begins with 01, or the former format without 01.
func Detect(msisdn string) (op payments.Operator, country payments.Country, ok bool) {
	_, number, plan, ok := planOf(msisdn)
	if !ok {
		return "", "", false
	}
	national, ok := plan.national(number)
	if !ok {
		return "", "", false
	}
	op, ok = plan.prefixes[national[:plan.prefixDigits]]
	return op, plan.country, ok
}

// planOf splits a number in E.164 into its calling code and the rest, and returns the numbering plan of its country. ok
// is false if the country is no market.
func planOf(msisdn string) (code, number string, plan numberingPlan, ok bool) {
	if !payments.ValidMSISDN(msisdn) {
		return "", "", plan, false
	}
	digits := msisdn[len("+"):]
	code, number = digits[:callingCodeDigits], digits[callingCodeDigits:]
	plan, ok = plans[code]
	return code, number, plan, ok
}

// national returns the number in the current national format. ok is false if its length is wrong.
func (p numberingPlan) national(number string) (national string, ok bool) {
	switch len(number) {
	case p.digits:
		return number, true
	case p.formerDigits:
		return p.formerLead + number, true
	}
	return "", false
}

// byPrefix inverts a map from operators to prefixes.
func byPrefix(prefixes map[payments.Operator][]string) map[string]payments.Operator {
	operators := make(map[string]payments.Operator)
	for op, list := range prefixes {
		for _, prefix := range list {
			operators[prefix] = op
		}
	}
	return operators
}
