package mpesa

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// c2bCall is the name of a payment that its payer started. It is stored with the transaction.
const c2bCall = "c2b"

// wrongPayload is the refusal of a body that cannot be read.
const wrongPayload operatorapi.Reason = "invalid_payload"

// c2bErrors are the errors of C2B, and of the transaction status.
var c2bErrors = family{
	badToken: told{http.StatusBadRequest, "400.003.01", "Invalid Access Token"},
	notFound: told{http.StatusNotFound, "404.003.01", "Resource not found"},
	method:   told{http.StatusNotFound, "404.001.04", "Invalid Authenticator Header"},
	badField: "400.003.02",
	others: map[operatorapi.Reason]told{
		wrongPayload:    {http.StatusBadRequest, "400.002.05", "Invalid Request Payload"},
		unknownMerchant: {http.StatusBadRequest, "400.003.02", "Bad Request"}, // Assumed
	},
}

// The values of ResponseType. They decide about a payment whose validation has no answer (Documented).
const (
	completed = "Completed"
	cancelled = "Cancelled"
)

// simulated is the description in the answer to a payment. It ends with a period (Documented).
const simulated = "Accept the service request successfully."

func c2bRoutes() (all []operatorapi.Route) {
	for _, version := range []string{"v1", "v2"} {
		mask := version == "v2"
		all = append(all, registerRoute(version, mask), simulateRoute(version))
	}
	return all
}

func registerRoute(version string, mask bool) operatorapi.Route {
	return operatorapi.Route{
		Name: "registerurl", Method: http.MethodPost, Path: "/mpesa/c2b/" + version + "/registerurl", Refuse: c2bErrors.ofRoute,
		Handle: func(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
			return register(ctx, s, r, mask)
		},
		Doc: operatorapi.Doc{
			Summary: "Sets the URLs of a short code for validations and confirmations", Mark: operatorapi.Documented, Source: portal,
			Body: `{"ShortCode": "` + exampleShortCode + `", "ResponseType": "` + completed + `", "ConfirmationURL": "https://shop.example/confirmation", ` +
				`"ValidationURL": "https://shop.example/validation"}`,
			Request: []operatorapi.Field{
				{Name: "ShortCode", Types: textOrNumber, Pattern: shortCodeForm, About: "That of the sandbox, or " + publicShortCode + "."},
				{Name: "ResponseType", Enum: []string{completed, cancelled}, About: "What happens to a payment if the validation has no answer within 8 seconds."},
				{Name: "ConfirmationURL", Max: maxURL, About: "Where each paid payment is told, once."},
				operatorapi.Field{
					Name: "ValidationURL", Max: maxURL, Optional: true, About: "Where each payment is asked about first. Without it, nothing is asked.",
				}.Assumed(),
			},
			Status:   http.StatusOK,
			Answer:   `{"OriginatorCoversationID": "6e86-45dd-91ac-fd5d4178ab523408729", "ResponseCode": "0", "ResponseDescription": "Success"}`,
			Response: c2bFields, Refused: []operatorapi.Reason{wrongPayload, wrongField, unknownMerchant}, Test: exchanges + c2bCall,
		},
	}
}

func simulateRoute(version string) operatorapi.Route {
	return operatorapi.Route{
		Name: "simulate", Method: http.MethodPost, Path: "/mpesa/c2b/" + version + "/simulate", Orders: true, Refuse: c2bErrors.ofRoute, Handle: simulate,
		Doc: operatorapi.Doc{
			Summary: "Makes a number pay the short code: a collection that its payer started", Mark: operatorapi.Documented, Source: portal,
			Body: `{"ShortCode": "` + exampleShortCode + `", "CommandID": "` + payBill + `", "Amount": 500, "Msisdn": "` + exampleNumber + `", ` +
				`"BillRefNumber": "order-1042"}`,
			Request: []operatorapi.Field{
				{Name: "ShortCode", Types: textOrNumber, Pattern: shortCodeForm, About: "That of the sandbox, or " + publicShortCode + "."},
				{Name: "CommandID", Enum: []string{payBill, buyGoods}},
				{Name: "Amount", Types: textOrNumber, Pattern: operatorapi.AmountForm, About: "Whole shillings."},
				{Name: "Msisdn", Types: textOrNumber, Pattern: numberForm, About: "Who pays."},
				operatorapi.Field{
					Name: "BillRefNumber", Types: []string{"string", "integer", "null"}, Optional: true, Max: maxReference,
					About: "The order_ref of /v1. A pay bill needs one. The bound is assumed.",
				},
			},
			Status:   http.StatusOK,
			Answer:   `{"OriginatorCoversationID": "53e3-4aa8-9fe0-8fb5e4092cdd3405976", "ResponseCode": "0", "ResponseDescription": "` + simulated + `"}`,
			Response: c2bFields, Refused: []operatorapi.Reason{wrongPayload, wrongField, unknownMerchant}, Test: exchanges + c2bCall,
		},
	}
}

// c2bFields are the fields of answers. The name of the first lacks a letter (Documented).
var c2bFields = []operatorapi.Field{
	{Name: "OriginatorCoversationID"}, {Name: "ResponseCode", Enum: []string{"0"}, About: "Accepted, and not yet paid."}, {Name: "ResponseDescription"},
}

func c2bAnswer(description string) operatorapi.Answer {
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		OriginatorCoversationID string `json:"OriginatorCoversationID"`
		ResponseCode            string `json:"ResponseCode"`
		ResponseDescription     string `json:"ResponseDescription"`
	}{drawnID(), "0", description}}
}

// decodePayload decodes the body, a JSON object, and refuses any other one with [wrongPayload].
func decodePayload(r *operatorapi.Request, into any) error {
	if !r.IsJSON() {
		return operatorapi.Refuse(wrongPayload).Expect("Content-Type", "application/json")
	}
	return r.Decode(wrongPayload, into)
}

// c2bURLs are what a shop has registered for a short code.
type c2bURLs struct {
	ResponseType string `json:"response_type"`
	Confirmation string `json:"confirmation"`
	Validation   string `json:"validation,omitempty"`
	Masked       bool   `json:"masked,omitempty"` // whether the payer's number is masked, and not hashed
}

// settingOf returns the name of a setting of a short code in an environment.
func settingOf(what string, in payments.Country, shortCode string) string {
	return what + " " + string(in) + " " + shortCode
}

// register stores the URLs of a short code in place of those that it had.
func register(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, mask bool) (operatorapi.Answer, error) {
	var body struct {
		ShortCode       text   `json:"ShortCode"`
		ResponseType    string `json:"ResponseType"`
		ConfirmationURL string `json:"ConfirmationURL"`
		ValidationURL   string `json:"ValidationURL"`
	}
	if err := decodePayload(r, &body); err != nil {
		return operatorapi.Answer{}, err
	}
	if err := checkShortCode(s, "ShortCode", body.ShortCode); err != nil {
		return operatorapi.Answer{}, err
	}
	if body.ResponseType != completed && body.ResponseType != cancelled {
		return operatorapi.Answer{}, refusedField("ResponseType", completed+" or "+cancelled+", spelled so")
	}
	if err := checkC2BURL(s, "ConfirmationURL", body.ConfirmationURL); err != nil {
		return operatorapi.Answer{}, err
	}
	if body.ValidationURL != "" {
		if err := checkC2BURL(s, "ValidationURL", body.ValidationURL); err != nil {
			return operatorapi.Answer{}, err
		}
	}
	name := settingOf(c2bCall, s.Environments()[0].Country, string(body.ShortCode))
	return c2bAnswer("Success"), s.Keep(ctx, name, c2bURLs{body.ResponseType, body.ConfirmationURL, body.ValidationURL, mask})
}

// forbidden matches the words that a URL may not have (Documented). The first two are forbidden in any place, and the others
// as words (Assumed).
var forbidden = regexp.MustCompile(`(?i)m[-_. ]?pesa|safaricom|(?:^|[^a-z])(?:exe|exec|cmd|sql|query)(?:$|[^a-z])`)

// checkC2BURL refuses a URL that cannot be registered.
func checkC2BURL(s operatorapi.Sandbox, field, address string) error {
	if err := checkURL(s, field, address); err != nil {
		return err
	}
	if _, rest, _ := strings.Cut(address, "://"); forbidden.MatchString(rest) {
		return refusedField(field, "a URL without the words mpesa, safaricom, exe, exec, cmd, sql and query")
	}
	return nil
}

// registered returns the URLs of a short code; nil for none.
func registered(ctx context.Context, s operatorapi.Sandbox, in payments.Country, shortCode string) (*c2bURLs, error) {
	var urls c2bURLs
	err := s.Kept(ctx, settingOf(c2bCall, in, shortCode), &urls)
	if operatorapi.IsRefused(err, operatorapi.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &urls, nil
}

// simulate makes a number pay a short code.
func simulate(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body struct {
		ShortCode     text            `json:"ShortCode"`
		CommandID     string          `json:"CommandID"`
		Amount        json.RawMessage `json:"Amount"`
		Msisdn        text            `json:"Msisdn"`
		BillRefNumber text            `json:"BillRefNumber"`
	}
	if err := decodePayload(r, &body); err != nil {
		return operatorapi.Answer{}, err
	}
	if err := checkShortCode(s, "ShortCode", body.ShortCode); err != nil {
		return operatorapi.Answer{}, err
	}
	if !slices.Contains([]string{payBill, buyGoods}, body.CommandID) {
		return operatorapi.Answer{}, refusedField("CommandID", payBill+" or "+buyGoods)
	}
	amount, err := amountOf(body.Amount)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	payer, err := msisdnOf("Msisdn", body.Msisdn)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	isGoods, bill := body.CommandID == buyGoods, string(body.BillRefNumber)
	if bill == "" && !isGoods || !operatorapi.IsText(bill, maxReference) {
		return operatorapi.Answer{}, refusedField("BillRefNumber", operatorapi.TextForm(1, maxReference))
	}
	_, err = payShortCode(ctx, s, c2bPayment{
		ShortCode: string(body.ShortCode), Payer: payer, BillRef: bill, Amount: amount, Goods: isGoods,
	})
	return c2bAnswer(simulated), err
}

// c2bPayment is a payment that its payer starts: from the menu of the phone, or by scanning a code.
type c2bPayment struct {
	ShortCode, Payer string // Payer is in E.164
	BillRef          string // may be empty for a till
	Amount           int64
	Goods            bool   // whether the payer pays a till, and not a pay bill
	TransID          string // empty: a new one
	Code             string // RequestID of the QR code that the payer scanned; empty for none
}

// c2bResult is what came of a payment that its payer started.
type c2bResult struct {
	TransID string // the reference
	// Rejected is why the shop did not accept the payment: the code of its answer, or that it has not answered. It is
	// empty for a payment that was recorded.
	Rejected string
}

// unanswered is [c2bResult.Rejected] of a payment whose validation had no answer.
const unanswered = "no answer"

// payShortCode asks the shop about a payment, and then records it. The payer has confirmed it already. No money moves if
// the shop rejects the payment.
func payShortCode(ctx context.Context, s operatorapi.Sandbox, p c2bPayment) (c2bResult, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return c2bResult{}, err
	}
	drawn, err := s.RandomHex()
	if err != nil {
		return c2bResult{}, err
	}
	e, result := s.Environments()[0], c2bResult{TransID: cmp.Or(p.TransID, receiptFor(now, numberIn(drawn)))}
	urls, err := registered(ctx, s, e.Country, p.ShortCode)
	if err != nil {
		return c2bResult{}, err
	}
	kept := sent{ShortCode: p.ShortCode, Told: &c2bSent{BillRef: p.BillRef, Goods: p.Goods, Code: p.Code}}
	order := operatorapi.Order{
		Order: payments.Order{
			Details: payments.Details{Reference: result.TransID, MSISDN: p.Payer, Currency: string(e.Currency)},
			Country: e.Country, Amount: p.Amount, OrderRef: p.BillRef,
		},
		Operation: c2bCall, Confirmed: true,
	}
	if urls != nil {
		if result.Rejected, err = urls.ask(ctx, s, kept, result.TransID, order.Order, now); err != nil {
			return c2bResult{}, err
		}
		order.Callbacks = urls.confirmation()
	}
	if result.Rejected != "" {
		return result, s.ApplyFault(ctx)
	}
	order.Sent = kept
	return result, s.Collect(ctx, order)
}

// confirmation returns the callback that tells a payment.
func (u *c2bURLs) confirmation() []payments.PlannedCallback {
	return []payments.PlannedCallback{{URL: u.Confirmation, Kind: confirmationKind, When: payments.OnlySuccess}}
}

// validationLimit is how long a shop may take to answer a validation (Documented).
const validationLimit = 8 * time.Second

// ask asks the shop about a payment, if it has registered a URL for that. It returns why the shop rejects the payment; "" if
// the shop accepts it. It keeps in kept.Told how callbacks name the payer, and the id that the shop has given to the payment.
// A number that nobody has starts no payment: the shop is not asked.
func (u *c2bURLs) ask(
	ctx context.Context, s operatorapi.Sandbox, kept sent, transID string, o payments.Order, now time.Time,
) (rejected string, err error) {
	isKnown, err := kept.Told.name(ctx, s, s.Environments()[0], u, o.MSISDN)
	if err != nil || !isKnown || u.Validation == "" {
		return "", err
	}
	question := *kept.Told
	question.Asked = &c2bAsked{TransID: transID, At: now, Amount: o.Amount, Payer: o.MSISDN}
	asked := sent{ShortCode: kept.ShortCode, Told: &question}
	reply, err := s.Ask(ctx, operatorapi.Notice{URL: u.Validation, Kind: validationKind, Sent: asked}, validationLimit)
	if err != nil {
		return "", err
	}
	code, id, isAnswer := judged(reply)
	switch {
	case !isAnswer && u.ResponseType == cancelled:
		return unanswered, nil
	case isAnswer && code != accept:
		return code, nil
	}
	kept.Told.ThirdPartyID = id
	return "", nil
}

// accept is the ResultCode with which a shop accepts a payment.
const accept = "0"

// judged returns the code of a shop's answer to a validation, and the shop's id of the payment. isAnswer is false for an
// answer that cannot be read: it counts as none (Assumed).
func judged(reply *operatorapi.Reply) (code, id string, isAnswer bool) {
	var body struct {
		ResultCode        text `json:"ResultCode"`
		ThirdPartyTransID text `json:"ThirdPartyTransID"`
	}
	if reply == nil || reply.Status != http.StatusOK || json.Unmarshal(reply.Body, &body) != nil || body.ResultCode == "" {
		return "", "", false
	}
	if n, err := strconv.ParseFloat(string(body.ResultCode), 64); err == nil && n == 0 { // also 0.0
		body.ResultCode = accept
	}
	if operatorapi.IsText(string(body.ThirdPartyTransID), maxReference) {
		id = string(body.ThirdPartyTransID)
	}
	return string(body.ResultCode), id, true
}
