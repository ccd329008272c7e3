package payments

import (
	"regexp"
	"slices"
	"strings"
)

// Operator is a mobile-money operator's code.
type Operator string

// The operators that the sandbox behaves like.
const (
	MTN    Operator = "mtn"
	Orange Operator = "orange"
	Moov   Operator = "moov"
	Airtel Operator = "airtel"
)

// Operators lists every operator.
var Operators = []Operator{MTN, Orange, Moov, Airtel}

// The map only has the operators that are in a single country. The others are in every country.
var only = map[Operator]Country{Airtel: Rwanda}

// Only returns the single country of an operator; empty: it is in every country.
func (o Operator) Only() Country { return only[o] }

// Name returns the name as people write it: an acronym of three letters in capitals, others with a capital first letter.
func (o Operator) Name() string {
	first := min(len(o), 1)
	if len(o) <= 3 {
		first = len(o)
	}
	return strings.ToUpper(string(o[:first])) + string(o[first:])
}

// In reports whether an operator is in a country.
func (o Operator) In(c Country) bool { return o.Only() == "" || o.Only() == c }

// OneOf returns the codes as a text such as "mtn, orange or moov".
func OneOf[T ~string](codes []T) string { return enumerated(codes, "or") }

// AllOf returns the codes as a text such as "mtn, orange and moov".
func AllOf[T ~string](codes []T) string { return enumerated(codes, "and") }

func enumerated[T ~string](codes []T, word string) string {
	last := len(codes) - 1
	return List(codes[:last]) + " " + word + " " + string(codes[last])
}

// List returns the codes as a text such as "mtn, orange, moov".
func List[T ~string](codes []T) string { return strings.Join(Texts(codes), ", ") }

// Texts returns codes as strings.
func Texts[T ~string](codes []T) []string {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = string(code)
	}
	return texts
}

// Valid reports whether o is one of [Operators].
func (o Operator) Valid() bool { return slices.Contains(Operators, o) }

// Country is an ISO 3166 alpha-2 code.
type Country string

// The markets.
const (
	CoteDIvoire Country = "CI"
	Rwanda      Country = "RW"
	Benin       Country = "BJ"
	Togo        Country = "TG"
)

// Countries lists every market.
var Countries = []Country{CoteDIvoire, Rwanda, Benin, Togo}

// Currency is an ISO 4217 code.
type Currency string

// The currencies of the markets. Neither has decimals.
const (
	XOF Currency = "XOF"
	RWF Currency = "RWF"
)

// Currencies lists every currency.
var Currencies = []Currency{XOF, RWF}

var currencies = map[Country]Currency{CoteDIvoire: XOF, Benin: XOF, Togo: XOF, Rwanda: RWF}

// Currency returns the currency of a market; ok is false for a country that is no market.
func (c Country) Currency() (currency Currency, ok bool) {
	currency, ok = currencies[c]
	return currency, ok
}

var callingCodes = map[Country]string{CoteDIvoire: "225", Benin: "229", Togo: "228", Rwanda: "250"}

// CallingCode returns the digits with which numbers of a market begin in E.164, after the plus sign.
func (c Country) CallingCode() string { return callingCodes[c] }

// CanonicalCurrency returns the currency for a text from a caller. FCFA and CFA are everyday names of XOF. Any other
// text is returned in upper case.
func CanonicalCurrency(asSent string) Currency {
	switch c := strings.ToUpper(asSent); c {
	case "FCFA", "CFA":
		return XOF
	default:
		return Currency(c)
	}
}

// MSISDNPattern is the form of a telephone number on every endpoint: E.164 with its leading plus sign.
const MSISDNPattern = `^\+[1-9][0-9]{6,14}$`

var msisdn = regexp.MustCompile(MSISDNPattern)

// ValidMSISDN reports whether s has the form of [MSISDNPattern].
func ValidMSISDN(s string) bool { return msisdn.MatchString(s) }
