package operators

import "github.com/cauri-dev/cauri/server/payments"

// numberingPlan is what the numbers of a country look like after its calling code.
type numberingPlan struct {
	country payments.Country
	digits  int // length of a number
	// formerDigits is the length of the numbers before the country's last renumbering, which put formerLead before each
	// of them. Zero where no such number is in use any more.
	formerDigits int
	formerLead   string
	prefixDigits int                          // how many leading digits tell the operator
	prefixes     map[string]payments.Operator // prefixes of other operators and of fixed lines are left out
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

// Detect finds the operator and the country of a number in E.164 with its plus sign, by the number's leading digits. Both
// are defaults only: numbers are portable in some of the markets, so that what a caller states or the SIM registry knows
// comes first.
//
//   - A number of a supported operator gives both, and ok.
//   - A number of one of the markets that belongs to another operator, or is none of a mobile telephone, gives its country
//     alone: op is empty and ok false. A caller that knows the operator already may use the country.
//   - Anything else gives nothing: a number of another country, and also one that is too short or too long for its
//     country, which is more likely mistyped than right about its first digits.
//
// Numbers of Benin are understood with the 01 that they begin with nowadays and, as they were before, without.
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

// byPrefix turns the operators' prefixes, which is how they are published, into the prefixes' operators.
func byPrefix(prefixes map[payments.Operator][]string) map[string]payments.Operator {
	operators := make(map[string]payments.Operator)
	for op, list := range prefixes {
		for _, prefix := range list {
			operators[prefix] = op
		}
	}
	return operators
}
