package moov

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	maxReference = 80
	maxText      = 200 // Assumed
)

// lengths are the lengths of numbers without the calling code, by country. Benin has ten digits, and eight in its
// former format.
var lengths = map[payments.Country][]int{payments.Benin: {10, 8}, payments.Togo: {8}}

// newOrder returns an order. If the reference is empty, newOrder generates one.
func newOrder(
	s operatorapi.Sandbox, e operatorapi.Environment, operation, reference, number, amount string,
) (*operatorapi.Order, error) {
	if number == "" || amount == "" {
		return nil, operatorapi.Refuse(incomplete)
	}
	if !operatorapi.IsText(reference, maxReference) {
		return nil, operatorapi.Refuse(operatorapi.Invalid)
	}
	msisdn, err := msisdnOf(number, e.Country)
	if err != nil {
		return nil, err
	}
	units, err := amountOf(amount)
	if err != nil {
		return nil, err
	}
	if reference == "" {
		if reference, err = s.RandomHex(); err != nil {
			return nil, err
		}
	}
	return &operatorapi.Order{Operation: operation, Sent: struct{}{}, Order: payments.Order{
		Details: payments.Details{Reference: reference, Currency: string(e.Currency), MSISDN: msisdn},
		Country: e.Country, Amount: units,
	}}, nil
}

// amountOf returns an amount in whole units.
func amountOf(text string) (int64, error) {
	amount, ok := operatorapi.WholeAmount(json.RawMessage(text))
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, operatorapi.Refuse(tooLittle)
	case !ok:
		return 0, operatorapi.Refuse(notANumber)
	case amount < 1:
		return 0, operatorapi.Refuse(tooLittle)
	case amount > payments.MaxAmount:
		return 0, operatorapi.Refuse(tooMuch)
	}
	return amount, nil
}

var digits = regexp.MustCompile(`^[0-9]{8,13}$`)

// msisdnOf returns a number of a country in E.164. The text may have the country code or not.
func msisdnOf(text string, country payments.Country) (string, error) {
	if code := country.CallingCode(); digits.MatchString(text) {
		for _, length := range lengths[country] {
			switch {
			case len(text) == length:
				return "+" + code + text, nil
			case len(text) == len(code)+length && strings.HasPrefix(text, code):
				return "+" + text, nil
			}
		}
	}
	return "", operatorapi.Refuse(wrongNumber).Say(operatorapi.NumberForm(text, country, lengths[country][0]))
}
