package mpesa

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// The names of the calls of payouts. They are stored with their transactions.
const (
	payoutCall = "b2c"
	pochiCall  = "b2pochi"
)

const (
	pochiCommand = "BusinessPayToPochi"
	pochiPath    = "/mpesa/b2pochi/v1/paymentrequest"
)

// payoutCommands are the commands of payouts. Pochi takes them too (Documented).
var payoutCommands = []string{"SalaryPayment", "BusinessPayment", "PromotionPayment"}

const (
	minRemarks, maxRemarks = 2, 100
	maxConversation        = 80
)

// b2cErrors are the errors of payouts and of balances (Documented).
var b2cErrors = family{
	badToken: told{http.StatusUnauthorized, "401.002.01", "Error Occurred - Invalid Access Token"},
	notFound: told{http.StatusNotFound, "404.002.01", "Resource not found"},
	method:   wrongMethod, badField: "400.002.02", fieldText: "Bad Request - Invalid ",
	others: map[operatorapi.Reason]told{
		takenConversation: {http.StatusInternalServerError, "500.002.1001", "Duplicate OriginatorConversationID."},
	},
}

// acceptance is the answer to a request whose result comes later.
type acceptance struct {
	ConversationID           string `json:"ConversationID"`
	OriginatorConversationID string `json:"OriginatorConversationID"`
	ResponseCode             string `json:"ResponseCode"`
	ResponseDescription      string `json:"ResponseDescription"`
}

const acceptedRequest = "Accept the service request successfully."

// requested is a form of the call of payouts: its path, and what it has of its own.
type requested struct {
	call, path, summary string
	occasion            string // field of an occasion
	ownID, made         bool   // whether the client makes the OriginatorConversationID, and whether one is made if it does not
	mark                operatorapi.Mark
	source              string
}

var payoutForms = []requested{
	{payoutCall, "/mpesa/b2c/v3/paymentrequest", "Pays a customer from the float: a disbursement", "Occassion", true, false, operatorapi.Documented, portal},
	{
		payoutCall, "/mpesa/b2c/v1/paymentrequest", "The same, without an OriginatorConversationID: one is made", "Occasion", false, true,
		operatorapi.ThirdParty, operatorapi.PublishedClients,
	},
	{
		pochiCall, pochiPath, "Pays the business account of a customer: a disbursement", "Occassion", true, true,
		operatorapi.Documented, portal,
	},
}

func payoutRoutes() (all []operatorapi.Route) {
	for _, form := range payoutForms {
		refused := []operatorapi.Reason{wrongField}
		if form.ownID {
			refused = append(refused, takenConversation)
		}
		all = append(all, operatorapi.Route{
			Name: form.call, Method: http.MethodPost, Path: form.path, Orders: true, Handle: form.pay, Refuse: b2cErrors.ofRoute,
			Doc: operatorapi.Doc{
				Summary: form.summary, Mark: form.mark, Source: form.source,
				Body: form.example(), Request: form.fields(), Status: http.StatusOK,
				Answer: acceptanceExample(acceptedRequest), Response: acceptanceFields, Refused: refused, Test: exchanges + payoutCall,
			},
		})
	}
	return all
}

// commands returns the commands of a form of the call, with that of its example first.
func (f *requested) commands() []string {
	if f.call == pochiCall {
		return append([]string{pochiCommand}, payoutCommands...)
	}
	return payoutCommands
}

func (f *requested) fields() []operatorapi.Field {
	var all []operatorapi.Field
	if f.ownID {
		all = append(all, operatorapi.Field{
			Name: "OriginatorConversationID", Types: textOrNumber, Max: maxConversation,
			About: "The reference of /v1. It must be new. The bound is assumed.", Optional: f.made,
		})
	}
	all = append(all, initiatorFields("InitiatorName")...)
	all = append(
		all, operatorapi.Field{Name: "CommandID", Enum: f.commands()},
		operatorapi.Field{Name: "Amount", Types: textOrNumber, Pattern: operatorapi.AmountForm, About: "Whole shillings. Fewer than 10 or more than 250,000 fail."},
		operatorapi.Field{Name: "PartyA", Types: textOrNumber, Pattern: shortCodeForm, About: "The short code of the sandbox."},
		operatorapi.Field{Name: "PartyB", Types: textOrNumber, Pattern: numberForm, About: "The number that gets the money."},
		operatorapi.Field{Name: "Remarks", Types: textOrNumber, Max: maxRemarks},
	)
	all = append(all, resultFields...)
	return append(all, operatorapi.Field{Name: f.occasion, Types: textOrNull, Max: maxRemarks, Optional: true})
}

func (f *requested) example() string {
	var b strings.Builder
	b.WriteString("{")
	if f.ownID {
		b.WriteString(`"OriginatorConversationID": "` + f.call + `-1042", `)
	}
	b.WriteString(`"InitiatorName": "` + exampleInitiator + `", "SecurityCredential": "` + exampleCredential + `", "CommandID": "` +
		f.commands()[0] + `", "Amount": "500", "PartyA": "` + exampleShortCode + `", "PartyB": "` + exampleNumber + `", ` +
		`"Remarks": "Salary", "QueueTimeOutURL": "https://shop.example/timeouts", "ResultURL": "https://shop.example/results", "` + f.occasion + `": "November"}`)
	return b.String()
}

// initiatorFields returns the fields of an initiator. Calls differ in the name of the first.
func initiatorFields(name string) []operatorapi.Field {
	return []operatorapi.Field{
		{Name: name, About: "`mpesa-initiator-name` of the credentials Secret."},
		{Name: "SecurityCredential", About: "`mpesa-initiator-password`, encrypted for `GET /certificate`, in Base64; or a password encrypted for Safaricom's certificate."},
	}
}

var resultFields = []operatorapi.Field{
	{Name: "QueueTimeOutURL", Max: maxURL, About: "It gets nothing, since no request waits here."}, {Name: "ResultURL", Max: maxURL, About: "It gets the result."},
}

var acceptanceFields = []operatorapi.Field{
	{Name: "ConversationID", Pattern: "^AG_[0-9]{8}_[0-9a-f]{20}$"}, {Name: "OriginatorConversationID"},
	{Name: "ResponseCode", Enum: []string{"0"}, About: "Accepted, and not yet done."}, {Name: "ResponseDescription"},
}

func acceptanceExample(description string) string {
	return `{"ConversationID": "AG_20261128_20106e9209f64bebd05b", "OriginatorConversationID": "` + exampleConversation + `", "ResponseCode": "0", ` +
		`"ResponseDescription": "` + description + `"}`
}

// payoutBody is the body of a payout. Some clients send numbers for texts (ThirdParty).
type payoutBody struct {
	OriginatorConversationID text            `json:"OriginatorConversationID"`
	InitiatorName            text            `json:"InitiatorName"`
	SecurityCredential       string          `json:"SecurityCredential"`
	CommandID                string          `json:"CommandID"`
	Amount                   json.RawMessage `json:"Amount"`
	PartyA                   text            `json:"PartyA"`
	PartyB                   text            `json:"PartyB"`
	Remarks                  text            `json:"Remarks"`
	QueueTimeOutURL          string          `json:"QueueTimeOutURL"`
	ResultURL                string          `json:"ResultURL"`
	Occassion                text            `json:"Occassion"`
	Occasion                 text            `json:"Occasion"`
}

// pay records a disbursement. A wrong initiator, and an amount beyond the limits, are told by the result (Documented).
func (f *requested) pay(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body payoutBody
	if err := decode(r, "InitiatorName", &body); err != nil { // which the portal names (Documented)
		return operatorapi.Answer{}, err
	}
	order, err := f.order(ctx, s, &body)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	e := s.Environments()[0]
	holder, err := s.Holder(ctx, e, order.MSISDN)
	if err != nil && !operatorapi.IsRefused(err, operatorapi.NotFound) { // a number that nobody has is told by the result
		return operatorapi.Answer{}, err
	}
	conversation := conversationID(now, order.Reference)
	order.Sent = sent{ShortCode: string(body.PartyA), Conversation: conversation, Name: nameOf(holder)}
	if err := s.Disburse(ctx, *order); err != nil {
		var refused *operatorapi.Refusal
		if errors.As(err, &refused) && refused.Reason == operatorapi.Duplicate {
			err = operatorapi.Refuse(takenConversation).Say("OriginatorConversationID: " + refused.Detail)
		}
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{
		Status: http.StatusOK, Body: acceptance{conversation, order.Reference, "0", acceptedRequest},
	}, nil
}

// order returns the order of a payout. It checks the fields in the order in which the documents list them (Assumed).
func (f *requested) order(ctx context.Context, s operatorapi.Sandbox, b *payoutBody) (*operatorapi.Order, error) {
	reference, occasion := string(b.OriginatorConversationID), b.Occassion
	switch {
	case !f.ownID, f.made && reference == "":
		made, err := madeID(s)
		if err != nil {
			return nil, err
		}
		reference = made
	case reference == "" || !operatorapi.IsText(reference, maxConversation):
		return nil, refusedField("OriginatorConversationID", operatorapi.TextForm(1, maxConversation))
	}
	if f.occasion == "Occasion" {
		occasion = b.Occasion
	}
	if err := checkInitiatorName("InitiatorName", b.InitiatorName); err != nil {
		return nil, err
	}
	if err := checkCommand(b.CommandID, f.commands()...); err != nil {
		if b.CommandID == pochiCommand {
			err = refusedField("CommandID", strings.Join(f.commands(), ", ")+"; "+pochiCommand+" is for "+pochiPath)
		}
		return nil, err
	}
	amount, err := amountOf(b.Amount)
	if err != nil {
		return nil, err
	}
	if err := checkParty(s, "PartyA", b.PartyA); err != nil {
		return nil, err
	}
	payee, err := msisdnOf("PartyB", b.PartyB)
	if err != nil {
		return nil, err
	}
	if err := checkRemarks(b.Remarks, minRemarks); err != nil {
		return nil, err
	}
	if err := checkResultURLs(s, b.QueueTimeOutURL, b.ResultURL); err != nil {
		return nil, err
	}
	if !operatorapi.IsText(string(occasion), maxRemarks) {
		return nil, refusedField(f.occasion, operatorapi.TextForm(0, maxRemarks))
	}
	isRight, err := isInitiator(ctx, s, string(b.InitiatorName), b.SecurityCredential)
	if err != nil {
		return nil, err
	}
	e, description := s.Environments()[0], string(b.Remarks)
	order := &operatorapi.Order{
		Order: payments.Order{
			Details: payments.Details{Reference: reference, MSISDN: payee, Currency: string(e.Currency), Description: &description},
			Country: e.Country, Amount: amount,
		},
		Operation: f.call, Callbacks: resultTo(b.ResultURL),
	}
	switch {
	case !isRight:
		order.Failed = payments.PINInvalid
	case amount < minPayout || amount > maxPayout(e.Country):
		order.Failed = payments.LimitExceeded
	}
	return order, nil
}

// madeID returns a new OriginatorConversationID.
func madeID(s operatorapi.Sandbox) (string, error) {
	drawn, err := s.RandomHex()
	if err != nil {
		return "", err
	}
	return darajaID(drawn), nil
}
