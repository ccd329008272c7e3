package mpesa

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// The transaction types of pushes: to a pay bill, and to a till.
const (
	payBill  = "CustomerPayBillOnline"
	buyGoods = "CustomerBuyGoodsOnline"
)

const (
	checkoutForm = `^ws_CO_[0-9]{14,17}[0-9]{9}$`

	// Texts of requests may be longer than the documents say: the sandbox took 15 characters of an AccountReference
	// (Documented). The bounds are Assumed.
	maxReference   = 80
	maxDescription = 182
)

var checkouts = regexp.MustCompile(checkoutForm)

func pushRoutes() []operatorapi.Route {
	return []operatorapi.Route{
		{
			Name: pushCall, Method: http.MethodPost, Path: "/mpesa/stkpush/v1/processrequest", Orders: true, Handle: push,
			Doc: operatorapi.Doc{
				Summary: "Asks a payer for money: a collection that rings", Mark: operatorapi.Documented, Source: portal,
				Body: `{"BusinessShortCode": "` + exampleShortCode + `", "Password": "` + examplePassword + `", "Timestamp": "` + exampleTimestamp + `", ` +
					`"TransactionType": "` + payBill + `", "Amount": "500", "PartyA": "` + exampleNumber + `", "PartyB": "` + exampleShortCode + `", ` +
					`"PhoneNumber": "` + exampleNumber + `", "CallBackURL": "https://shop.example/callbacks", "AccountReference": "order-1042", ` +
					`"TransactionDesc": "Two tickets"}`,
				Request: pushFields, Status: http.StatusOK,
				Answer: `{"MerchantRequestID": "` + exampleMerchant + `", "CheckoutRequestID": "` + exampleCheckout + `", "ResponseCode": "0", ` +
					`"ResponseDescription": "` + accepted + `", "CustomerMessage": "` + accepted + `"}`,
				Response: []operatorapi.Field{
					{Name: "MerchantRequestID"}, {Name: "CheckoutRequestID", Pattern: checkoutForm, About: "The reference of /v1."},
					{Name: "ResponseCode", Enum: []string{"0"}, About: "Accepted, and not yet paid."}, {Name: "ResponseDescription"}, {Name: "CustomerMessage"},
				},
				Refused: []operatorapi.Reason{wrongField, unknownMerchant, wrongPassword, locked, rejected}, Test: exchanges + pushCall,
			},
		},
		{
			Name: "stkpushquery", Method: http.MethodPost, Path: "/mpesa/stkpushquery/v1/query", Handle: query,
			Flicker: &queryFlickers,
			Doc: operatorapi.Doc{
				Summary: "What came of a push", Mark: operatorapi.Documented, Source: portal,
				Body: `{"BusinessShortCode": "` + exampleShortCode + `", "Password": "` + examplePassword + `", "Timestamp": "` + exampleTimestamp + `", ` +
					`"CheckoutRequestID": "` + exampleCheckout + `"}`,
				Request: queryFields, Status: http.StatusOK,
				Answer: `{"ResponseCode": "0", "ResponseDescription": "` + queried + `", "MerchantRequestID": "` + exampleMerchant + `", ` +
					`"CheckoutRequestID": "` + exampleCheckout + `", "ResultCode": "0", "ResultDesc": "The service request is processed successfully."}`,
				Response: []operatorapi.Field{
					{Name: "ResponseCode", Enum: []string{"0"}}, {Name: "ResponseDescription"}, {Name: "MerchantRequestID"},
					{Name: "CheckoutRequestID", Pattern: checkoutForm}, {Name: "ResultCode", About: "A text, and a number in the callback."},
					{Name: "ResultDesc"},
				},
				Refused: []operatorapi.Reason{wrongField, unknownMerchant, wrongPassword, unknownPush, busy}, Test: exchanges + pushCall,
			},
		},
	}
}

// signedFields returns the fields that every request of M-Pesa Express has.
func signedFields() []operatorapi.Field {
	return []operatorapi.Field{
		{Name: "BusinessShortCode", Types: textOrNumber, Pattern: shortCodeForm, About: "That of the sandbox, or " + publicShortCode + "."},
		{Name: "Password", About: "The Base64 of short code, passkey and timestamp."},
		{Name: "Timestamp", Types: textOrNumber, Pattern: timeForm, About: "YYYYMMDDHHmmss, in Nairobi."},
	}
}

var pushFields = append(signedFields(), []operatorapi.Field{
	{Name: "TransactionType", Enum: []string{payBill, buyGoods}},
	{Name: "Amount", Types: textOrNumber, Pattern: operatorapi.AmountForm, About: "Whole shillings."},
	{Name: "PartyA", Types: textOrNumber, Pattern: numberForm}, {Name: "PartyB", Types: textOrNumber, Pattern: shortCodeForm, About: "The pay bill, or the till."},
	{Name: "PhoneNumber", Types: textOrNumber, Pattern: numberForm, About: "The phone that rings, and whose account pays."},
	{Name: "CallBackURL", Max: maxURL},
	{Name: "AccountReference", Types: textOrNumber, Max: maxReference, About: "The order_ref of /v1. The bound is assumed."},
	{Name: "TransactionDesc", Types: textOrNumber, Max: maxDescription, About: "Without it, the answer names `Remarks`. The bound is assumed."},
}...)

var queryFields = append(signedFields(), operatorapi.Field{Name: "CheckoutRequestID", Pattern: checkoutForm})

// pushBody is the body of a push.
type pushBody struct {
	signed
	TransactionType  string          `json:"TransactionType"`
	Amount           json.RawMessage `json:"Amount"`
	PartyA           text            `json:"PartyA"`
	PartyB           text            `json:"PartyB"`
	PhoneNumber      text            `json:"PhoneNumber"`
	CallBackURL      string          `json:"CallBackURL"`
	AccountReference text            `json:"AccountReference"`
	TransactionDesc  text            `json:"TransactionDesc"`
}

// The texts of answers. The second has an s too many (Documented).
const (
	accepted = "Success. Request accepted for processing"
	queried  = "The service request has been accepted successsfully"
)

// push records a collection, and answers with its ids.
func push(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body pushBody
	if err := decodeExpress(r, pushFields, &body); err != nil {
		return operatorapi.Answer{}, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	order, err := body.order(s, now)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	release, claimed := s.Claim(order.MSISDN)
	if !claimed { // another push to the phone is validated or recorded
		return operatorapi.Answer{}, operatorapi.Refuse(locked)
	}
	defer release()
	if err := refuseRinging(ctx, s, order.MSISDN); err != nil {
		return operatorapi.Answer{}, err
	}
	if err := body.tellC2B(ctx, s, order, now); err != nil {
		return operatorapi.Answer{}, err
	}
	if err := recordPush(ctx, s, order, now); err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		MerchantRequestID   string `json:"MerchantRequestID"`
		CheckoutRequestID   string `json:"CheckoutRequestID"`
		ResponseCode        string `json:"ResponseCode"`
		ResponseDescription string `json:"ResponseDescription"`
		CustomerMessage     string `json:"CustomerMessage"`
	}{merchantRequestID(order.Reference), order.Reference, "0", accepted, accepted}}, nil
}

// refuseRinging refuses a push to a phone that has a prompt already.
func refuseRinging(ctx context.Context, s operatorapi.Sandbox, msisdn string) error {
	ringing, err := s.HasPending(ctx, pushCall, msisdn)
	if err == nil && ringing {
		return operatorapi.Refuse(locked)
	}
	return err
}

// firstOf returns err, or else the refusal.
func firstOf(err error, refused *operatorapi.Refusal) error {
	if err != nil {
		return err
	}
	return refused
}

// order returns the order of a push, without its reference. It checks the fields in the order in which the documents list
// them (Assumed).
func (b *pushBody) order(s operatorapi.Sandbox, now time.Time) (*operatorapi.Order, error) {
	if err := b.check(s, now); err != nil {
		return nil, err
	}
	b.TransactionType = strings.TrimRight(b.TransactionType, " ") // the default of mpesa-api has one (ThirdParty)
	if b.TransactionType != payBill && b.TransactionType != buyGoods {
		return nil, refusedField("TransactionType", payBill+" or "+buyGoods)
	}
	amount, err := amountOf(b.Amount)
	if err != nil {
		return nil, err
	}
	if _, err := msisdnOf("PartyA", b.PartyA); err != nil {
		return nil, err
	}
	if !shortCodes.MatchString(string(b.PartyB)) {
		return nil, refusedField("PartyB", "the short code, or a till: 5 to 7 digits")
	}
	payer, err := msisdnOf("PhoneNumber", b.PhoneNumber)
	if err != nil {
		return nil, err
	}
	if err := checkURL(s, "CallBackURL", b.CallBackURL); err != nil {
		return nil, err
	}
	if b.AccountReference == "" || !operatorapi.IsText(string(b.AccountReference), maxReference) {
		return nil, refusedField("AccountReference", operatorapi.TextForm(1, maxReference))
	}
	if b.TransactionDesc == "" || !operatorapi.IsText(string(b.TransactionDesc), maxDescription) {
		return nil, refusedField("TransactionDesc", operatorapi.TextForm(1, maxDescription))
	}
	e, description := s.Environments()[0], string(b.TransactionDesc)
	return &operatorapi.Order{
		Order: payments.Order{
			Details: payments.Details{MSISDN: payer, Currency: string(e.Currency), Description: &description}, Country: e.Country, Amount: amount,
			OrderRef: string(b.AccountReference),
		},
		Operation: pushCall, CallbackURL: b.CallBackURL, PromptTime: payments.Facts(payments.MPesa, e.Country).PromptTime(),
		Sent: sent{ShortCode: string(b.BusinessShortCode)},
	}, nil
}

// tellC2B asks the shop about a push, and adds the confirmation of C2B to its order, if the shop has registered URLs for the
// short code: a push sends both too (Documented). A push that the shop rejects is refused, and no phone rings (Assumed).
func (b *pushBody) tellC2B(ctx context.Context, s operatorapi.Sandbox, order *operatorapi.Order, now time.Time) error {
	shortCode := string(b.BusinessShortCode)
	urls, err := registered(ctx, s, order.Country, shortCode)
	if err != nil || urls == nil {
		return err
	}
	drawn, err := s.RandomHex()
	if err != nil {
		return err
	}
	kept := sent{
		ShortCode: shortCode, Told: &c2bSent{BillRef: order.OrderRef, Goods: b.TransactionType == buyGoods},
		Receipt: receiptFor(now, numberIn(drawn)),
	}
	why, err := urls.ask(ctx, s, kept, kept.Receipt, order.Order, now)
	if err == nil && why != "" {
		err = firstOf(s.ApplyFault(ctx), operatorapi.Refuse(rejected))
	}
	if err != nil {
		return err
	}
	if answered, err := s.Now(ctx); err != nil || answered.Sub(now) > time.Minute/2 { // the clock was moved: see findReceipt
		return firstOf(err, operatorapi.Refuse(busy))
	}
	order.Callbacks = append([]payments.PlannedCallback{{URL: order.CallbackURL}}, urls.confirmation()...)
	order.CallbackURL, order.Sent = "", kept
	return nil
}

// mostIDs is the number of ids that recordPush tries.
const mostIDs = 100

// recordPush records a push with an id that is free. The id of a push has a tenth of a second: if it is taken, the next one
// is used.
func recordPush(ctx context.Context, s operatorapi.Sandbox, order *operatorapi.Order, now time.Time) error {
	var err error
	for range mostIDs {
		order.Reference = checkoutID(now, order.MSISDN)
		if err = s.Collect(ctx, *order); !operatorapi.IsRefused(err, operatorapi.Duplicate) {
			return err
		}
		if err := refuseRinging(ctx, s, order.MSISDN); err != nil { // a push to another process was faster
			return err
		}
		now = now.Add(time.Second / 10)
	}
	return err
}

// query answers with the state of a push.
func query(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body struct {
		signed
		CheckoutRequestID string `json:"CheckoutRequestID"`
	}
	if err := decodeExpress(r, queryFields, &body); err != nil {
		return operatorapi.Answer{}, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	if err := body.check(s, now); err != nil {
		return operatorapi.Answer{}, err
	}
	if !checkouts.MatchString(body.CheckoutRequestID) {
		return operatorapi.Answer{}, refusedField("CheckoutRequestID", "the CheckoutRequestID of a push")
	}
	p, err := s.Find(ctx, body.CheckoutRequestID, pushCall)
	if operatorapi.IsRefused(err, operatorapi.NotFound) {
		err = operatorapi.Refuse(unknownPush)
	}
	if err != nil {
		return operatorapi.Answer{}, err
	}
	if p.Status == payments.ServiceUnavailable && p.Reason == "" && !p.Vague {
		return operatorapi.Answer{}, operatorapi.Refuse(busy)
	}
	told := resultOf(p.Transaction, p.StatusView)
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		ResponseCode        string `json:"ResponseCode"`
		ResponseDescription string `json:"ResponseDescription"`
		MerchantRequestID   string `json:"MerchantRequestID"`
		CheckoutRequestID   string `json:"CheckoutRequestID"`
		ResultCode          string `json:"ResultCode"`
		ResultDesc          string `json:"ResultDesc"`
	}{"0", queried, merchantRequestID(p.Reference), p.Reference, told.code, told.query}}, nil
}
