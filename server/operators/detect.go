package operators

import "github.com/cauri-dev/cauri/server/payments"

// numberingPlan is the form of the phone numbers of a country, after its calling code.
type numberingPlan struct {
	country payments.Country
	digits  int // length of a number
	// formerDigits is the length of the numbers before the country's last renumbering, which put formerLead before each
	// of them. Zero where no such number is in use any more.
	formerDigits int
	formerLead   string
	prefixDigits int                          // number of leading digits that identify the operator
	prefixes     map[string]payments.Operator // without prefixes of other operators and of fixed lines
}

// plans are the numbering plans of the markets by calling code (o; a test compares them with libphonenumber's carrier
// data). All calling codes of the markets have three digits, and no calling code is the beginning of another.
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
		formerDigits: 8, // until 30 November 2024
		formerLead:   "01",
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
			payments.Airtel: {"72", "73"}, // 72 was Tigo's, which Airtel took over
		}),
	},
}

const callingCodeDigits = 3

// Detect finds the operator and the country of a number in E.164 with its plus sign, by its leading digits. Both are only defaults: numbers
// are portable in some markets, so that values from the caller or from the SIM registry take precedence.
//
//   - A number of a supported operator gives both, and ok.
//   - A number of a market that belongs to another operator, or is not a mobile number, gives only its country: op is empty and ok is
//     false. A caller that already knows the operator may use the country.
//   - Any other number gives nothing: one of another country, and one that is too short or too long for its country, which is probably
//     mistyped.
//
// Numbers of Benin are accepted in the current form, which begins with 01, and in the former form without it.
func Detect(msisdn string) (op payments.Operator, country payments.Country, ok bool) {
	if !payments.ValidMSISDN(msisdn) {
		return "", "", false
	}
	number := msisdn[len("+"):]
	plan, ok := plans[number[:callingCodeDigits]]
	if !ok {
		return "", "", false
	}
	national, ok := plan.national(number[callingCodeDigits:])
	if !ok {
		return "", "", false
	}
	op, ok = plan.prefixes[national[:plan.prefixDigits]]
	return op, plan.country, ok
}

// national is the number as it is dialled within the country today; ok is false if its length is wrong.
func (p numberingPlan) national(number string) (national string, ok bool) {
	switch len(number) {
	case p.digits:
		return number, true
	case p.formerDigits:
		return p.formerLead + number, true
	}
	return "", false
}

// byPrefix turns lists of prefixes by operator, as they are published, into a map from prefix to operator.
func byPrefix(prefixes map[payments.Operator][]string) map[string]payments.Operator {
	operators := make(map[string]payments.Operator)
	for op, list := range prefixes {
		for _, prefix := range list {
			operators[prefix] = op
		}
	}
	return operators
}
