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

// orderNames are the names of the fields of a call that moves money.
type orderNames struct{ reference, number, amount string }

// newOrder returns an order. The function given returns the value of a field. If the reference is empty, newOrder
// generates one.
func newOrder(
	s operatorapi.Sandbox, e operatorapi.Environment, operation string, names orderNames, given func(name string) string,
) (*operatorapi.Order, error) {
	reference := given(names.reference)
	if given(names.number) == "" {
		return nil, operatorapi.Refuse(incomplete).Expect(names.number, operatorapi.NumberForm("", e.Country, e.Country.Facts().Digits))
	}
	if given(names.amount) == "" {
		return nil, operatorapi.Refuse(incomplete).Expect(names.amount, operatorapi.WholeUnits)
	}
	if !operatorapi.IsText(reference, maxReference) {
		return nil, operatorapi.Refuse(operatorapi.Invalid).Expect(names.reference, operatorapi.TextForm(0, maxReference))
	}
	msisdn, err := msisdnOf(names.number, given(names.number), e.Country)
	if err != nil {
		return nil, err
	}
	units, err := amountOf(names.amount, given(names.amount))
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

// amountOf returns an amount in whole units. The parameter field is the name of the field with the text.
func amountOf(field, text string) (int64, error) {
	amount, ok := operatorapi.WholeAmount(json.RawMessage(text))
	why := operatorapi.Reason("")
	switch {
	case strings.HasPrefix(text, "-"):
		why = tooLittle
	case !ok:
		why = notANumber
	case amount < 1:
		why = tooLittle
	case amount > payments.MaxAmount:
		why = tooMuch
	default:
		return amount, nil
	}
	return 0, operatorapi.Refuse(why).Expect(field, operatorapi.WholeUnits)
}

var digits = regexp.MustCompile(`^[0-9]{8,13}$`)

// msisdnOf returns a number of a country in E.164. The text may have the country code or not. The parameter field is the
// name of the field with the text.
func msisdnOf(field, text string, country payments.Country) (string, error) {
	facts := country.Facts()
	if code := facts.CallingCode; digits.MatchString(text) {
		for _, length := range []int{facts.Digits, facts.Former.Digits} { // the latter is 0 where no former format is in use
			switch {
			case length == 0:
			case len(text) == length:
				return "+" + code + text, nil
			case len(text) == len(code)+length && strings.HasPrefix(text, code):
				return "+" + text, nil
			}
		}
	}
	return "", operatorapi.Refuse(wrongNumber).Expect(field, operatorapi.NumberForm(text, country, facts.Digits))
}
