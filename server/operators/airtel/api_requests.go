package airtel

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// orderBody is the body of a payment and of a disbursement. Unknown fields are ignored. Countries and currencies are
// optional (Documented).
type orderBody struct {
	Reference   operatorapi.TextOrNumber `json:"reference"`
	Subscriber  *partyBody               `json:"subscriber"`
	Payee       *partyBody               `json:"payee"`
	PIN         string                   `json:"pin"`
	Transaction struct {
		Country  string                   `json:"country"`
		Currency string                   `json:"currency"`
		Amount   json.RawMessage          `json:"amount"` // a JSON number (Documented) or string (Assumed)
		ID       operatorapi.TextOrNumber `json:"id"`     // some clients send a number (ThirdParty)
	} `json:"transaction"`
}

type partyBody struct {
	Country  string          `json:"country"`
	Currency string          `json:"currency"`
	MSISDN   json.RawMessage `json:"msisdn"` // a JSON string or number (Documented)
}

// sent has the fields of a request that answers and callbacks need.
type sent struct {
	Hash bool `json:"hash,omitempty"` // whether the callback is signed
}

const (
	maxID        = 80
	maxReference = 500 // Assumed
	maxOrderRef  = 120
	maxPIN       = 1024
)

// inCountry returns a handler that calls f with the environment of the request.
func inCountry(f operatorapi.HandlerIn[operatorapi.Environment]) operatorapi.Handler {
	return operatorapi.In(environmentOf, f)
}

// environmentOf returns the environment that the headers X-Country and X-Currency name.
func environmentOf(s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Environment, error) {
	country, currency := r.Header.Get(countryHeader), r.Header.Get(currencyHeader)
	var countries []payments.Country
	for _, e := range s.Environments() {
		countries = append(countries, e.Country)
		if !strings.EqualFold(country, string(e.Country)) {
			continue
		}
		switch {
		case len(r.Header.Values(currencyHeader)) == 0:
			return e, operatorapi.Refuse(noCurrency).Expect(currencyHeader, string(e.Currency))
		case !strings.EqualFold(currency, string(e.Currency)):
			return e, operatorapi.Refuse(wrongCurrency).Expect(currencyHeader, string(e.Currency))
		}
		return e, nil
	}
	return operatorapi.Environment{}, operatorapi.Refuse(noCountry).Expect(countryHeader, payments.List(countries))
}

// readOrder decodes a body. It refuses a body that is no JSON, and a content type other than application/json. A
// request without a content type is accepted.
func readOrder(r *operatorapi.Request, body any) error {
	if !r.IsJSON() {
		return operatorapi.Refuse(notJSON).Expect("Content-Type", "application/json")
	}
	return r.Decode(operatorapi.Invalid, body)
}

// newOrder returns the order of a payment or of a disbursement. The parameter party is the name of the field with the
// payer or the payee.
func newOrder(r *operatorapi.Request, e operatorapi.Environment, operation, party string) (*operatorapi.Order, *orderBody, error) {
	var body orderBody
	if err := readOrder(r, &body); err != nil {
		return nil, nil, err
	}
	who := map[string]*partyBody{"subscriber": body.Subscriber, "payee": body.Payee}[party]
	if err := checkTexts(&body, who, party); err != nil {
		return nil, nil, err
	}
	to := &body.Transaction
	if err := cmp.Or(checkPlace(party, who.Country, who.Currency, e), checkPlace("transaction", to.Country, to.Currency, e)); err != nil {
		return nil, nil, err
	}
	number := strings.Trim(string(who.MSISDN), `"`)
	if number == "" || number == "null" {
		return nil, nil, operatorapi.Refuse(operatorapi.Invalid).Expect(party+".msisdn", operatorapi.NumberForm("", e.Country, e.Country.Facts().Digits))
	}
	msisdn, err := msisdnOf(party+".msisdn", number, e.Country)
	if err != nil {
		return nil, nil, err
	}
	amount, err := amountOf(body.Transaction.Amount)
	if err != nil {
		return nil, nil, err
	}
	order := payments.Order{
		Details: payments.Details{Reference: string(body.Transaction.ID), Currency: string(e.Currency), MSISDN: msisdn},
		Country: e.Country, Amount: amount, OrderRef: operatorapi.Cut(string(body.Reference), maxOrderRef),
	}
	return &operatorapi.Order{Order: order, Operation: operation, Sent: sent{}}, &body, nil
}

// checkTexts refuses a body without its party, and texts that are missing or too long.
func checkTexts(body *orderBody, who *partyBody, party string) error {
	wrong := operatorapi.Refuse(operatorapi.Invalid)
	switch {
	case who == nil:
		return wrong.Expect(party, "an object with msisdn")
	case !isID(string(body.Transaction.ID)):
		return wrong.Expect("transaction.id", operatorapi.TextForm(1, maxID)+", without spaces at its ends")
	case !operatorapi.IsText(string(body.Reference), maxReference):
		return wrong.Expect("reference", operatorapi.TextForm(0, maxReference))
	case len(body.PIN) > maxPIN:
		return wrong.Expect("pin", operatorapi.TextForm(1, maxPIN))
	}
	return nil
}

// checkPlace refuses another country or currency than those of the environment. The parameter at is the field of the body
// that has both.
func checkPlace(at, country, currency string, e operatorapi.Environment) error {
	switch {
	case country != "" && !strings.EqualFold(country, string(e.Country)):
		return operatorapi.Refuse(wrongCountry).Expect(at+".country", string(e.Country)+", as in "+countryHeader)
	case currency != "" && !strings.EqualFold(currency, string(e.Currency)):
		return operatorapi.Refuse(wrongCurrency).Expect(at+".currency", string(e.Currency))
	}
	return nil
}

// isID reports whether a text may be the id of a transaction. It refuses a space at either end, because the path of the
// enquiry cannot have one there.
func isID(text string) bool {
	return text != "" && strings.TrimSpace(text) == text && operatorapi.IsText(text, maxID)
}

// amountOf returns an amount in whole units. It refuses amounts with decimals (Documented).
func amountOf(raw json.RawMessage) (int64, error) {
	const field = "transaction.amount"
	if text := strings.Trim(string(raw), `"`); text == "" || text == "null" {
		return 0, operatorapi.Refuse(operatorapi.Invalid).Expect(field, operatorapi.WholeUnits)
	}
	amount, ok := operatorapi.PayableAmount(raw)
	if !ok {
		return 0, operatorapi.Refuse(wrongAmount).Expect(field, operatorapi.WholeUnits)
	}
	return amount, nil
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// msisdnOf returns a number in E.164. The text has the digits of a number of the country, or the country code before them.
// The parameter part is the name of the field or of the parameter that has the text.
func msisdnOf(part, text string, country payments.Country) (string, error) {
	national, code, length := text, country.CallingCode(), country.Facts().Digits
	if len(text) == len(code)+length {
		national = strings.TrimPrefix(text, code)
	}
	if len(national) != length || !digits.MatchString(national) {
		return "", operatorapi.Refuse(wrongNumber).Expect(part, operatorapi.NumberForm(text, country, length))
	}
	return "+" + code + national, nil
}
