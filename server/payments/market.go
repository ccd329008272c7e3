package payments

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/english"
)

// Operator is a mobile-money operator's code.
type Operator string

// The operators that code names.
const (
	MTN    Operator = "mtn"
	Orange Operator = "orange"
	Moov   Operator = "moov"
	Airtel Operator = "airtel"
	MPesa  Operator = "mpesa"
)

// Operator's rows in the table of markets are in zz_markets.go, which `make generate` writes from markets.yaml.

// OperatorFacts is what the table of markets has of an operator.
type OperatorFacts struct {
	Name    string // as people write it
	Service string // name of its money service
}

// CountryFacts is what the table of markets has of a country.
type CountryFacts struct {
	Currency        Currency
	Languages       []string // BCP 47 tags; the operators' menus are in the first
	English, French string   // name
	CallingCode     string   // digits with which numbers begin in E.164, after the plus sign
	Digits          int      // length of a number, without the calling code
	Former          FormerNumbers
	MinorUnit       int // decimals of the currency; amounts here have none
	Payer           Payer
}

// Payer is the made-up person of a country in samples.
type Payer struct {
	Name     string
	Resource string // name of the TestClient
	MSISDN   string // in E.164
}

// FormerNumbers is the format of numbers before a country's last renumbering. It is zero if former numbers are no longer
// in use.
type FormerNumbers struct {
	Digits int
	Lead   string       // digits that the renumbering added before a number
	Until  english.Text // day of the renumbering
}

// MarketFacts is what the table of markets has of an operator in a country. A cell is empty if no source is known.
type MarketFacts struct {
	Operator    Operator
	Country     Country
	Prefixes    []string // of its numbers, without the calling code
	USSD        string   // code of its menu
	TestNumbers string   // beginning of its test numbers, in E.164
	Example     string   // number for messages, in E.164
	NameInAPI   string   // operator's name of the market in its own API
	MaxAmount   int64    // operator's limit of a collection, in whole units; 0: not known

	PromptSeconds int // how long a phone asks its holder; 0: not known
}

// PromptTime is how long a phone asks its holder. It is zero if no source is known: then a payment waits as long as the
// sandbox has it.
func (m MarketFacts) PromptTime() time.Duration { return time.Duration(m.PromptSeconds) * time.Second }

// Facts returns the row of an operator. It is zero for an unknown operator.
func (o Operator) Facts() OperatorFacts { return operatorFacts[o] }

// Facts returns the row of a country. It is zero for a country that is no market.
func (c Country) Facts() CountryFacts { return countryFacts[c] }

// Facts returns the row of an operator in a country. It is zero if the operator is not in the country.
func Facts(o Operator, c Country) MarketFacts {
	for _, m := range Markets {
		if m.Operator == o && m.Country == c {
			return m
		}
	}
	return MarketFacts{}
}

// Name returns the name as people write it.
func (o Operator) Name() string { return o.Facts().Name }

// Countries returns the countries that an operator is in, in the order of [Countries].
func (o Operator) Countries() (in []Country) {
	for _, m := range Markets {
		if m.Operator == o {
			in = append(in, m.Country)
		}
	}
	return in
}

// In reports whether an operator is in a country.
func (o Operator) In(c Country) bool { return Facts(o, c).Country != "" }

// OneOf returns the codes as a text such as "mtn, orange or moov".
func OneOf[T ~string](codes []T) string { return enumerated(codes, "or") }

// AllOf returns the codes as a text such as "mtn, orange and moov".
func AllOf[T ~string](codes []T) string { return enumerated(codes, "and") }

func enumerated[T ~string](codes []T, word string) string {
	last := len(codes) - 1
	if last < 1 {
		return List(codes)
	}
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

// The countries that code names.
const (
	CoteDIvoire Country = "CI"
	Rwanda      Country = "RW"
	Benin       Country = "BJ"
	Togo        Country = "TG"
)

// Currency is an ISO 4217 code.
type Currency string

// The currencies that code names.
const (
	XOF Currency = "XOF"
	RWF Currency = "RWF"
	XAF Currency = "XAF"
)

// Currency returns the currency of a market; ok is false for a country that is no market.
func (c Country) Currency() (currency Currency, ok bool) {
	currency = c.Facts().Currency
	return currency, currency != ""
}

// CallingCode returns the digits with which numbers of a market begin in E.164, after the plus sign.
func (c Country) CallingCode() string { return c.Facts().CallingCode }

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
