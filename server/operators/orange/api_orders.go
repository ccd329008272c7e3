package orange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	tokenLifetime    = time.Hour           // of v3 (Documented)
	oldTokenLifetime = 90 * 24 * time.Hour // of v2 (ThirdParty)
	orderLifetime    = 10 * time.Minute    // (Documented)
)

const (
	dev      = "dev" // country of Orange's own sandbox (Documented)
	devMoney = "OUV" // its currency (Documented)
	devQuirk = "orangeDev"
)

// bearer is the answer with a token. Its lifetime is a number in v3, and a string in v2.
type bearer struct {
	TokenType   string `json:"token_type"`
	AccessToken string `json:"access_token"`
	ExpiresIn   any    `json:"expires_in"`
}

func issueToken(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	return grant(ctx, s, r, tokenLifetime, 3600)
}

func issueOldToken(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	return grant(ctx, s, r, oldTokenLifetime, "7776000")
}

func grant(
	ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, lifetime time.Duration, expires any,
) (operatorapi.Answer, error) {
	form, err := url.ParseQuery(string(r.Body))
	if err != nil || form.Get("grant_type") != "client_credentials" {
		return operatorapi.Answer{}, operatorapi.Refuse(wrongGrant)
	}
	token, err := r.IssueToken(ctx, s, lifetime)
	return operatorapi.Answer{Status: http.StatusOK, Body: bearer{"Bearer", token, expires}}, err
}

// market is the environment that a request names, and the code of the currency in which that request must be.
type market struct {
	operatorapi.Environment
	money string
}

// inMarket returns a handler that calls f with the market of the country in the path.
func inMarket(f operatorapi.HandlerIn[market]) operatorapi.Handler {
	return operatorapi.In(marketOf, f)
}

// countryForm matches the countries in paths. dev is one of them.
var countryForm = regexp.MustCompile(`^(?i)([a-z]{2}|dev)$`)

func marketOf(s operatorapi.Sandbox, r *operatorapi.Request) (market, error) {
	country := r.Param("country")
	if !countryForm.MatchString(country) {
		return market{}, operatorapi.Refuse(noCountry).Expect("country", strings.Join(countriesOf(s), " or "))
	}
	for _, e := range s.Environments() {
		if on, set := e.Quirks[devQuirk]; strings.EqualFold(country, dev) && (on || !set) {
			return market{e, devMoney}, nil
		}
		if strings.EqualFold(country, string(e.Country)) {
			return market{e, string(e.Currency)}, nil
		}
	}
	return market{}, operatorapi.Refuse(wrongCountry).Expect("country", strings.Join(countriesOf(s), " or "))
}

// countriesOf returns the countries in paths that a sandbox has.
func countriesOf(s operatorapi.Sandbox) (all []string) {
	for i, e := range s.Environments() {
		if on, set := e.Quirks[devQuirk]; i == 0 && (on || !set) {
			all = append(all, dev)
		}
		all = append(all, strings.ToLower(string(e.Country)))
	}
	return all
}

// orderBody is the body of webpayment and of transactionstatus. Unknown fields are ignored.
type orderBody struct {
	MerchantKey string          `json:"merchant_key"`
	Currency    string          `json:"currency"`
	OrderID     string          `json:"order_id"`
	Amount      json.RawMessage `json:"amount"` // a JSON number or string (Documented)
	ReturnURL   string          `json:"return_url"`
	CancelURL   string          `json:"cancel_url"`
	NotifURL    string          `json:"notif_url"`
	Lang        string          `json:"lang"`
	Reference   string          `json:"reference"`
	PayToken    string          `json:"pay_token"`
}

// readBody decodes a body. If a field that needed names is missing or empty, readBody refuses. The parameter without is
// the reason of that refusal.
func readBody(r *operatorapi.Request, without operatorapi.Reason, needed ...string) (*orderBody, error) {
	var fields map[string]json.RawMessage
	var body orderBody
	if len(bytes.TrimSpace(r.Body)) == 0 {
		return nil, r.Unreadable(noBody)
	}
	if json.Unmarshal(r.Body, &fields) != nil || fields == nil {
		return nil, r.Unreadable(noJSON)
	}
	for _, name := range needed {
		if text := strings.TrimSpace(string(fields[name])); text == "" || text == "null" || text == `""` {
			return nil, operatorapi.Because(without, missingReason+name).Expect(name, forms[name])
		}
	}
	var mistyped *json.UnmarshalTypeError
	if errors.As(json.Unmarshal(r.Body, &body), &mistyped) { // the body is JSON, so there is no other error
		return nil, wrong(mistyped.Field)
	}
	return &body, nil
}

const anyURL = "an http or https URL of at most 500 bytes"

// forms says what each field has to be.
var forms = map[string]string{
	"merchant_key": "orange-merchant-key of the credentials Secret",
	"currency":     "OUV under dev, otherwise the currency of the country",
	"order_id":     operatorapi.TextForm(1, maxOrderID),
	"amount":       operatorapi.WholeUnits,
	"return_url":   anyURL,
	"cancel_url":   anyURL,
	"notif_url":    anyURL + ", of a host that spec.callbackHosts allows",
	"lang":         "fr or en",
	"reference":    operatorapi.TextForm(0, maxReference),
	"pay_token":    "the pay_token of the order, a text",
}

func wrong(field string) error {
	return operatorapi.Because(wrongField, "wrong_"+field).Expect(field, forms[field])
}

// checkoutSent has the fields of an order that its page and its answers need.
type checkoutSent struct {
	Country    payments.Country  `json:"country"`
	Currency   payments.Currency `json:"currency"` // of the environment
	Money      string            `json:"money"`    // as sent
	Merchant   string            `json:"merchant,omitempty"`
	ReturnURL  string            `json:"return_url"`
	CancelURL  string            `json:"cancel_url"`
	NotifURL   string            `json:"notif_url"`
	NotifToken string            `json:"notif_token"`
	PayToken   string            `json:"pay_token"` // only to show it to the merchant; the ledger finds the order by the token's hash
}

// viewOf returns what the merchant sees of an order.
func viewOf(o operatorapi.Checkout) (operatorapi.CheckoutView, error) {
	var p checkoutSent
	err := o.Read(&p)
	return operatorapi.CheckoutView{Country: p.Country, Currency: p.Currency, Token: p.PayToken}, err
}

// sent has the fields of an order that its transaction keeps.
type sent struct {
	NotifToken string `json:"notif_token"`
}

// placeOrder opens an order.
func placeOrder(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, m market) (operatorapi.Answer, error) {
	body, err := readBody(r, missingField, "merchant_key", "currency", "order_id", "amount", "return_url", "cancel_url", "notif_url")
	if err != nil {
		return operatorapi.Answer{}, err
	}
	amount, err := body.check(s, m)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	var drawn [3]string
	for i := range drawn {
		if drawn[i], err = s.RandomHex(); err != nil {
			return operatorapi.Answer{}, err
		}
	}
	token := drawn[0] + drawn[1]
	o := operatorapi.Checkout{
		Reference: body.OrderID, Token: token, Amount: amount, Lifetime: orderLifetime,
		Sent: checkoutSent{
			m.Country, m.Currency, m.money, body.Reference, body.ReturnURL, body.CancelURL, body.NotifURL, drawn[2], token,
		},
	}
	if err := s.OpenCheckout(ctx, o); err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusCreated, Body: struct {
		Status     int    `json:"status"`
		Message    string `json:"message"`
		PayToken   string `json:"pay_token"`
		PaymentURL string `json:"payment_url"`
		NotifToken string `json:"notif_token"`
	}{http.StatusCreated, "OK", o.Token, s.PageOf(o), drawn[2]}}, nil
}

// check validates the fields of a new order, and returns its amount.
func (b *orderBody) check(s operatorapi.Sandbox, m market) (int64, error) {
	switch {
	case !s.Checks(merchantKey, b.MerchantKey):
		return 0, operatorapi.Refuse(wrongMerchant)
	case !strings.EqualFold(b.Currency, m.money):
		return 0, operatorapi.Refuse(wrongCurrency).Expect("currency", m.money)
	case !operatorapi.IsText(b.OrderID, maxOrderID):
		return 0, wrong("order_id")
	case !operatorapi.IsText(b.Reference, maxReference):
		return 0, wrong("reference")
	case !slices.Contains([]string{"", "fr", "en"}, b.Lang):
		return 0, wrong("lang")
	}
	switch {
	case !isURL(b.ReturnURL):
		return 0, wrong("return_url")
	case !isURL(b.CancelURL):
		return 0, wrong("cancel_url")
	case !isURL(b.NotifURL), !s.MayCall(b.NotifURL):
		return 0, wrong("notif_url")
	}
	return amountOf(b.Amount)
}

// isURL reports whether an address is a URL to which a browser may go.
func isURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && operatorapi.IsText(address, maxURL) && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// amountOf returns an amount in whole units.
func amountOf(raw json.RawMessage) (int64, error) {
	amount, ok := operatorapi.PayableAmount(raw)
	if !ok {
		return 0, wrong("amount")
	}
	return amount, nil
}
