package console

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
)

// longestText is the maximum length of a text in a filter, in characters. No order and no reference is longer.
const longestText = 120

// paymentFilter has the filters of the list of payments, from its query.
type paymentFilter struct {
	listing
	lists.Filter
}

var paymentFields = []filterOf[lists.Filter]{
	{"type", func(f *lists.Filter, value string) bool { return readOne(&f.Type, value, payments.Types) }, ""},
	{"status", func(f *lists.Filter, value string) bool { return readOne(&f.Status, value, payments.Statuses) }, "%s"},
	{"market", readMarket, "%s"},
	{"store", func(f *lists.Filter, value string) bool { return readText(&f.Store, value) }, "store %s"},
	{"number", readNumber, "number %s"},
	{"order", func(f *lists.Filter, value string) bool { return readText(&f.OrderRef, value) }, "order or reference %s"},
	{"after", func(f *lists.Filter, value string) bool { return readMoment(&f.CreatedAfter, value) }, "created from %s"},
	{"before", func(f *lists.Filter, value string) bool { return readMoment(&f.CreatedBefore, value) }, "created before %s"},
}

// readPaymentFilter reads the query of the list of payments.
func readPaymentFilter(query url.Values) (f paymentFilter) {
	f.listing = readListing("/payments", paymentFields, query, &f.Filter)
	return f
}

func readOne[T ~string](into *T, value string, all []T) bool {
	*into = T(value)
	return slices.Contains(all, *into)
}

func readText(into *string, value string) bool {
	*into = value
	return utf8.ValidString(value) && !strings.ContainsRune(value, 0) && utf8.RuneCountInString(value) <= longestText
}

// readMarket reads an operator and a country, such as mtn-RW.
func readMarket(f *lists.Filter, value string) bool {
	operator, country, _ := strings.Cut(value, "-")
	return readOne(&f.Operator, operator, payments.Operators) && readOne(&f.Country, country, payments.Countries)
}

// readNumber reads a phone number as people write it, for example with blanks, or with 00 instead of +.
func readNumber(f *lists.Filter, value string) bool {
	f.MSISDN = asMSISDN(value)
	return f.MSISDN != ""
}

// asMSISDN returns a phone number in the form of the API; "" if the text is none.
func asMSISDN(value string) string {
	plain := strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "-", "", ".", "", "(", "", ")", "").Replace(value)
	if rest, ok := strings.CutPrefix(plain, "00"); ok {
		plain = "+" + rest
	}
	if !payments.ValidMSISDN(plain) {
		return ""
	}
	return plain
}

// momentForms are the forms in which people write a time in UTC.
var momentForms = []string{
	"2006-01-02 15:04", "2006-01-02 15:04:05", time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339,
}

func readMoment(into **time.Time, value string) bool {
	for _, form := range momentForms {
		if at, err := time.Parse(form, value); err == nil {
			*into = &at
			return true
		}
	}
	return false
}

// value returns the text for the value of a parameter in its chip.
func (f *paymentFilter) value(v *visit, name string) string {
	switch {
	case name == "status":
		return v.Text(appearances[f.Status].text)
	case name == "market":
		return operatorName(f.Operator) + " " + string(f.Country)
	case name == "after":
		return v.Moment(*f.CreatedAfter, v.clock.Now)
	case name == "before":
		return v.Moment(*f.CreatedBefore, v.clock.Now)
	}
	return f.set.Get(name)
}

// picks returns the chips of the filters that are set.
func (f *paymentFilter) picks(v *visit) (all []pick) {
	for _, field := range paymentFields {
		if field.chip != "" && f.set.Has(field.name) {
			all = append(all, pick{v.Text(field.chip, f.value(v, field.name)), f.with(field.name, "")})
		}
	}
	return all
}

// curl returns the curl command for the same list of the API.
func (f *paymentFilter) curl() string {
	return listCommand("/v1/payments", parameter{"type", string(f.Type)}, parameter{"status", string(f.Status)},
		parameter{"operator", string(f.Operator)}, parameter{"country", string(f.Country)}, parameter{"application", f.Store},
		parameter{"msisdn", f.MSISDN}, parameter{"order_ref", f.OrderRef}, parameter{"reference", f.Reference},
		parameter{"created_after", timeOf(f.CreatedAfter)}, parameter{"created_before", timeOf(f.CreatedBefore)})
}
