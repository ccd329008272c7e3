package airtel

import (
	"encoding/json"
	"mime"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// place is a country or a currency inside of a body. Both are optional (Documented).
type place struct {
	Country  string `json:"country"`
	Currency string `json:"currency"`
}

// orderBody is the body of a payment and of a disbursement. Unknown fields are ignored.
type orderBody struct {
	Reference   string     `json:"reference"`
	Subscriber  *partyBody `json:"subscriber"`
	Payee       *partyBody `json:"payee"`
	PIN         string     `json:"pin"`
	Transaction struct {
		place
		Amount json.RawMessage `json:"amount"` // a JSON number (Documented) or string (Assumed)
		ID     string          `json:"id"`
	} `json:"transaction"`
}

type partyBody struct {
	place
	MSISDN json.RawMessage `json:"msisdn"` // a JSON string or number (Documented)
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
	for _, e := range s.Environments() {
		if !strings.EqualFold(country, string(e.Country)) {
			continue
		}
		switch {
		case len(r.Header.Values(currencyHeader)) == 0:
			return e, operatorapi.Refuse(noCurrency)
		case !strings.EqualFold(currency, string(e.Currency)):
			return e, operatorapi.Refuse(wrongCurrency)
		}
		return e, nil
	}
	return operatorapi.Environment{}, operatorapi.Refuse(noCountry)
}

// readOrder decodes a body. It refuses a body that is no JSON, and a content type other than application/json. A
// request without a content type is accepted.
func readOrder(r *operatorapi.Request, body any) error {
	kind := r.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); kind != "" && (err != nil || media != "application/json") {
		return operatorapi.Refuse(notJSON)
	}
	if json.Unmarshal(r.Body, body) != nil {
		return r.Unreadable(operatorapi.Invalid)
	}
	return nil
}

// newOrder returns the order of a payment or of a disbursement. The function party returns the payer or the payee from
// the body; nil if the body has none.
func newOrder(r *operatorapi.Request, e operatorapi.Environment, operation string, party func(*orderBody) *partyBody) (
	*operatorapi.Order, *orderBody, error,
) {
	var body orderBody
	if err := readOrder(r, &body); err != nil {
		return nil, nil, err
	}
	who, id := party(&body), body.Transaction.ID
	if who == nil || !isID(id) || !operatorapi.IsText(body.Reference, maxReference) || len(body.PIN) > maxPIN {
		return nil, nil, operatorapi.Refuse(operatorapi.Invalid)
	}
	for _, at := range []place{who.place, body.Transaction.place} {
		switch {
		case at.Country != "" && !strings.EqualFold(at.Country, string(e.Country)):
			return nil, nil, operatorapi.Refuse(wrongCountry)
		case at.Currency != "" && !strings.EqualFold(at.Currency, string(e.Currency)):
			return nil, nil, operatorapi.Refuse(wrongCurrency)
		}
	}
	number := strings.Trim(string(who.MSISDN), `"`)
	if number == "" || number == "null" {
		return nil, nil, operatorapi.Refuse(operatorapi.Invalid)
	}
	msisdn, err := msisdnOf(number, e.Country)
	if err != nil {
		return nil, nil, err
	}
	amount, err := amountOf(body.Transaction.Amount)
	if err != nil {
		return nil, nil, err
	}
	order := payments.Order{
		Details: payments.Details{Reference: id, Currency: string(e.Currency), MSISDN: msisdn},
		Country: e.Country, Amount: amount, OrderRef: operatorapi.Cut(body.Reference, maxOrderRef),
	}
	return &operatorapi.Order{Order: order, Operation: operation, Sent: sent{}}, &body, nil
}

// isID reports whether a text may be the id of a transaction. It refuses a space at either end, because the path of the
// enquiry cannot have one there.
func isID(text string) bool {
	return text != "" && strings.TrimSpace(text) == text && operatorapi.IsText(text, maxID)
}

// amountOf returns an amount in whole units. It refuses amounts with decimals (Documented).
func amountOf(raw json.RawMessage) (int64, error) {
	if text := strings.Trim(string(raw), `"`); text == "" || text == "null" {
		return 0, operatorapi.Refuse(operatorapi.Invalid)
	}
	amount, ok := operatorapi.PayableAmount(raw)
	if !ok {
		return 0, operatorapi.Refuse(wrongAmount)
	}
	return amount, nil
}

// lengthOfNumber is the length of a number without its country code.
const lengthOfNumber = 9

var digits = regexp.MustCompile(`^[0-9]+$`)

// msisdnOf returns a number in E.164. The text has 9 digits, or 12 with the country code.
func msisdnOf(text string, country payments.Country) (string, error) {
	national, code := text, country.CallingCode()
	if len(text) == len(code)+lengthOfNumber {
		national = strings.TrimPrefix(text, code)
	}
	if len(national) != lengthOfNumber || !digits.MatchString(national) {
		return "", operatorapi.Refuse(wrongNumber).Say(operatorapi.NumberForm(text, country, lengthOfNumber))
	}
	return "+" + code + national, nil
}
