package mpesa

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// reversalCall is the name of the call of reversals. It is stored with their transactions.
const reversalCall = "reversal"

const reversalCommand = "TransactionReversal"

// receiverTypes are the types of the receiver of a reversal. The first is Documented, the second ThirdParty.
var receiverTypes = []string{"11", "4"}

// The results of a reversal that records no refund (Documented).
var (
	alreadyReversed = result{code: "R000001"}.both("The transaction has already been reversed.")
	invalidOriginal = result{code: "R000002"}.both("The OriginalTransactionID is invalid.")
	invalidInitator = result{code: "2001"}.both(wrongInitiator)
)

func reversalRoutes() []operatorapi.Route {
	return []operatorapi.Route{{
		Name: reversalCall, Method: http.MethodPost, Path: "/mpesa/reversal/v1/request", Orders: true, Handle: reverse,
		Doc: operatorapi.Doc{
			Summary: "Gives a whole payment of a customer back: a refund", Mark: operatorapi.Documented, Source: portal,
			Body: `{"Initiator": "` + exampleInitiator + `", "SecurityCredential": "` + exampleCredential + `", "CommandID": "` + reversalCommand + `", ` +
				`"TransactionID": "` + exampleReceipt + `", "Amount": "500", "ReceiverParty": "` + exampleShortCode + `", "RecieverIdentifierType": "11", ` +
				`"ResultURL": "https://shop.example/results", "QueueTimeOutURL": "https://shop.example/timeouts", "Remarks": "Payment reversal"}`,
			Request: reversalFields(), Status: http.StatusOK,
			Answer: acceptanceExample(acceptedRequest), Response: acceptanceFields, Refused: []operatorapi.Reason{wrongField},
			Test: exchanges + reversalCall,
		},
	}}
}

func reversalFields() []operatorapi.Field {
	all := append(initiatorFields("Initiator"), []operatorapi.Field{
		{Name: "CommandID", Enum: []string{reversalCommand}},
		{Name: "TransactionID", Max: maxConversation, About: "The receipt of the payment, through whatever API it was made."},
		{Name: "Amount", Types: textOrNumber, Pattern: operatorapi.AmountForm, About: "The amount of the payment: there is no partial reversal."},
		{Name: "ReceiverParty", Types: textOrNumber, Pattern: shortCodeForm, About: "The short code of the sandbox."},
		{Name: "RecieverIdentifierType", Types: textOrNumber, Pattern: "^(11|4)$", About: "It is spelled so."},
		{Name: "Remarks", Types: textOrNumber, Max: maxRemarks},
		{Name: "Occasion", Types: textOrNull, Max: maxRemarks, Optional: true},
	}...)
	return append(all, resultFields...)
}

// reversalBody is the body of a reversal.
type reversalBody struct {
	Initiator              text            `json:"Initiator"`
	SecurityCredential     string          `json:"SecurityCredential"`
	CommandID              string          `json:"CommandID"`
	TransactionID          string          `json:"TransactionID"`
	Amount                 json.RawMessage `json:"Amount"`
	ReceiverParty          text            `json:"ReceiverParty"`
	RecieverIdentifierType text            `json:"RecieverIdentifierType"`
	ResultURL              string          `json:"ResultURL"`
	QueueTimeOutURL        string          `json:"QueueTimeOutURL"`
	Remarks                text            `json:"Remarks"`
	Occasion               text            `json:"Occasion"`
}

// check checks the fields in the order in which the documents list them (Assumed). It returns the amount.
func (b *reversalBody) check(s operatorapi.Sandbox) (int64, error) {
	if err := checkInitiatorName("Initiator", b.Initiator); err != nil {
		return 0, err
	}
	if err := checkCommand(b.CommandID, reversalCommand); err != nil {
		return 0, err
	}
	if b.TransactionID == "" || !operatorapi.IsText(b.TransactionID, maxConversation) {
		return 0, refusedField("TransactionID", "the receipt of a payment of this sandbox")
	}
	amount, err := amountOf(b.Amount)
	if err != nil {
		return 0, err
	}
	if err := checkParty(s, "ReceiverParty", b.ReceiverParty); err != nil {
		return 0, err
	}
	if err := checkIdentifier("RecieverIdentifierType", b.RecieverIdentifierType, receiverTypes...); err != nil {
		return 0, err
	}
	if err := checkResultURLs(s, b.QueueTimeOutURL, b.ResultURL); err != nil {
		return 0, err
	}
	if !operatorapi.IsText(string(b.Occasion), maxRemarks) {
		return 0, refusedField("Occasion", operatorapi.TextForm(0, maxRemarks))
	}
	return amount, checkRemarks(b.Remarks, minRemarks)
}

// reverse records a refund of a whole collection. If there is none to record, only the result says so (Documented).
func reverse(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body reversalBody
	if err := decode(r, "Initiator", &body); err != nil {
		return operatorapi.Answer{}, err
	}
	amount, err := body.check(s)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	i, err := newInquiry(ctx, s, body.ResultURL)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	failed, err := body.refund(ctx, s, i, amount)
	if err == nil && failed != nil {
		if err = s.ApplyFault(ctx); err == nil { // no transaction was recorded
			told := i.failure(failed.code, failed.callback, timeoutURL("reversalresults"))
			err = i.notify(ctx, s, notice{Result: &told})
		}
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: i.accepted(acceptedRequest)}, err
}

// refund records the refund. It returns the result if there is none to record.
func (b *reversalBody) refund(ctx context.Context, s operatorapi.Sandbox, i *inquiry, amount int64) (*result, error) {
	isRight, err := isInitiator(ctx, s, string(b.Initiator), b.SecurityCredential)
	if err != nil || !isRight {
		return &invalidInitator, err
	}
	parent, err := findReceipt(ctx, s, b.TransactionID, i.at)
	switch {
	case operatorapi.IsRefused(err, operatorapi.NotFound),
		err == nil && (parent.Type != payments.Collection || parent.Status != payments.Success):
		return &invalidOriginal, nil
	case err != nil:
		return nil, err
	case amount != parent.Amount:
		return nil, refusedField("Amount", "the amount of the payment: there is no partial reversal")
	case parent.Refundable() < amount:
		return &alreadyReversed, nil
	}
	holder, err := s.Holder(ctx, s.Environments()[0], parent.MSISDN)
	if err != nil && !operatorapi.IsRefused(err, operatorapi.NotFound) {
		return nil, err
	}
	order := operatorapi.Order{
		Operation: reversalCall, Callbacks: resultTo(b.ResultURL),
		Sent: sent{ShortCode: string(b.ReceiverParty), Conversation: i.conversation, Name: nameOf(holder), Original: b.TransactionID},
	}
	order.Reference, order.Parent, order.Amount = i.originator, parent.ID, amount
	if remarks := string(b.Remarks); remarks != "" {
		order.Description = &remarks
	}
	err = s.Refund(ctx, order)
	if errors.As(err, new(payments.ErrNotRefundable)) || errors.As(err, new(payments.ErrExceedsRefundable)) { // another request was first
		return &alreadyReversed, nil
	}
	return nil, err
}

// findReceipt returns the transaction with a receipt. A payment that its payer started has the receipt as its reference. The
// shop may have been asked between the receipt and the recording, so that a payment may have been created in the next minute.
func findReceipt(ctx context.Context, s operatorapi.Sandbox, receipt string, now time.Time) (*payments.Transaction, error) {
	minute, ok := minuteOf(receipt, now)
	if !ok {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	t, err := s.FindCollection(ctx, receipt)
	if err == nil && t.NativeCall == c2bCall || err != nil && !operatorapi.IsRefused(err, operatorapi.NotFound) {
		return t, err
	}
	isIt := func(t *payments.Transaction) bool { return receiptOf(t) == receipt }
	t, err = s.FindInMinute(ctx, minute, isIt)
	if operatorapi.IsRefused(err, operatorapi.NotFound) {
		return s.FindInMinute(ctx, minute.Add(time.Minute), isIt)
	}
	return t, err
}
