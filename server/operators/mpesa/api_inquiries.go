package mpesa

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	statusCommand  = "TransactionStatusQuery"
	balanceCommand = "AccountBalance"
	// acceptedBalance is the text of an accepted balance query. It has no period (Documented).
	acceptedBalance = "Accept the service request successfully"
)

// identifierTypes are the types of PartyA: a number, a till and a short code (Documented).
var identifierTypes = []string{"1", "2", "4"}

// The quirks of results.
var (
	doubledParty = operatorapi.Quirk{
		Name: "mpesaDoubledPartyName", Off: true,
		About: "mpesaDoubledPartyName is whether the result of M-Pesa's status query names the credit party DebitPartyName, as the debit party, which\n" +
			"is what the sample in Safaricom's documents has. If it is false, the name is CreditPartyName. Default false.",
	}
	numericBalance = operatorapi.Quirk{
		Name: "mpesaNumericBalanceCodes", Off: true,
		About: "mpesaNumericBalanceCodes is whether ResultType and ResultCode are numbers in the result of M-Pesa's balance query. If it is false,\n" +
			"they are texts, as in the sample in Safaricom's documents. Default false.",
	}
)

func inquiryRoutes() []operatorapi.Route {
	party := []operatorapi.Field{
		{Name: "PartyA", Types: textOrNumber, Pattern: shortCodeForm, About: "The short code of the sandbox."},
		{Name: "IdentifierType", Types: textOrNumber, Pattern: "^[124]$"}, {Name: "Remarks", Types: textOrNumber, Max: maxRemarks, Optional: true},
	}
	status := append(initiatorFields("Initiator"), []operatorapi.Field{
		{Name: "CommandID", Enum: []string{statusCommand}},
		{Name: "TransactionID", Types: textOrNull, Max: maxConversation, Optional: true, About: "The receipt. Without it, one of the next two is needed."},
		{Name: "OriginalConversationID", Types: textOrNull, Max: maxConversation, Optional: true, About: "The OriginatorConversationID of a payout or of a reversal."},
		{Name: "OriginatorConversationID", Types: textOrNull, Max: maxConversation, Optional: true, About: "The same, as older clients name it.",
			Mark: operatorapi.ThirdParty, Source: operatorapi.PublishedClients},
		{Name: "Occasion", Types: textOrNull, Max: maxRemarks, Optional: true},
	}...)
	balance := append(initiatorFields("Initiator"), operatorapi.Field{Name: "CommandID", Enum: []string{balanceCommand}})
	status, balance = append(append(status, party...), resultFields...), append(append(balance, party...), resultFields...)
	const common = `"Initiator": "` + exampleInitiator + `", "PartyA": "` + exampleShortCode + `", "IdentifierType": "4", "Remarks": "OK", ` +
		`"ResultURL": "https://shop.example/results", "QueueTimeOutURL": "https://shop.example/timeouts", "SecurityCredential": "`
	return []operatorapi.Route{
		{
			Name: "transactionstatus", Method: http.MethodPost, Path: "/mpesa/transactionstatus/v1/query", Handle: askStatus, Refuse: c2bErrors.ofRoute,
			Doc: operatorapi.Doc{
				Summary: "Asks for the state of a transaction, which the result tells", Mark: operatorapi.Documented, Source: portal,
				Body: `{"CommandID": "` + statusCommand + `", "TransactionID": "` + exampleReceipt + `", "Occasion": "OK", ` +
					common + exampleCredential + `"}`,
				Request: status, Status: http.StatusOK, Answer: acceptanceExample(acceptedRequest), Response: acceptanceFields,
				Refused: []operatorapi.Reason{wrongField}, Test: exchanges + "status",
			},
		},
		{
			Name: "accountbalance", Method: http.MethodPost, Path: "/mpesa/accountbalance/v1/query", Handle: askBalance, Refuse: b2cErrors.ofRoute,
			Doc: operatorapi.Doc{
				Summary: "Asks for the float, which the result tells", Mark: operatorapi.Documented, Source: portal,
				Body:    `{"CommandID": "` + balanceCommand + `", ` + common + exampleCredential + `"}`,
				Request: balance, Status: http.StatusOK, Answer: acceptanceExample(acceptedBalance), Response: acceptanceFields,
				Refused: []operatorapi.Reason{wrongField}, Test: exchanges + "balance",
			},
		},
	}
}

// inquiryBody is the body of an inquiry: of the state of a transaction, or of a balance.
type inquiryBody struct {
	Initiator                text   `json:"Initiator"`
	SecurityCredential       string `json:"SecurityCredential"`
	CommandID                string `json:"CommandID"`
	TransactionID            text   `json:"TransactionID"`
	OriginalConversationID   text   `json:"OriginalConversationID"`
	OriginatorConversationID text   `json:"OriginatorConversationID"`
	PartyA                   text   `json:"PartyA"`
	IdentifierType           text   `json:"IdentifierType"`
	ResultURL                string `json:"ResultURL"`
	QueueTimeOutURL          string `json:"QueueTimeOutURL"`
	Remarks                  text   `json:"Remarks"`
	Occasion                 text   `json:"Occasion"`
}

// read reads and checks the body of an inquiry. isInitiator is whether its initiator is right.
func (b *inquiryBody) read(
	ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, command string,
) (i *inquiry, isRight bool, err error) {
	if err := decode(r, "Initiator", b); err != nil {
		return nil, false, err
	}
	if err := checkInitiatorName("Initiator", b.Initiator); err != nil {
		return nil, false, err
	}
	if err := checkCommand(b.CommandID, command); err != nil {
		return nil, false, err
	}
	for _, f := range []struct {
		name  string
		value text
	}{
		{"TransactionID", b.TransactionID}, {"OriginalConversationID", b.OriginalConversationID},
		{"OriginatorConversationID", b.OriginatorConversationID},
	} {
		if !operatorapi.IsText(string(f.value), maxConversation) {
			return nil, false, refusedField(f.name, operatorapi.TextForm(0, maxConversation))
		}
	}
	if command == statusCommand && b.TransactionID == "" && b.original() == "" {
		return nil, false, refusedField("TransactionID", "a receipt, or an OriginalConversationID beside it")
	}
	if err := checkParty(s, "PartyA", b.PartyA); err != nil {
		return nil, false, err
	}
	if err := checkIdentifier("IdentifierType", b.IdentifierType, identifierTypes...); err != nil {
		return nil, false, err
	}
	if err := checkResultURLs(s, b.QueueTimeOutURL, b.ResultURL); err != nil {
		return nil, false, err
	}
	if err := checkRemarks(b.Remarks, 0); err != nil {
		return nil, false, err
	}
	if !operatorapi.IsText(string(b.Occasion), maxRemarks) {
		return nil, false, refusedField("Occasion", operatorapi.TextForm(0, maxRemarks))
	}
	if isRight, err = isInitiator(ctx, s, string(b.Initiator), b.SecurityCredential); err != nil {
		return nil, false, err
	}
	i, err = newInquiry(ctx, s, b.ResultURL)
	return i, isRight, err
}

// original returns the OriginatorConversationID of the transaction that is asked for, under either name.
func (b *inquiryBody) original() text {
	return cmp.Or(b.OriginalConversationID, b.OriginatorConversationID)
}

// StatusResult is the result of a status query. The keys have the order of the sample (Documented).
type StatusResult struct {
	ConversationID           string            `json:"ConversationID"`
	OriginatorConversationID string            `json:"OriginatorConversationID"`
	ReferenceData            ReferenceData     `json:"ReferenceData"`
	ResultCode               any               `json:"ResultCode"`
	ResultDesc               string            `json:"ResultDesc"`
	ResultParameters         *ResultParameters `json:"ResultParameters,omitempty"`
	ResultType               int               `json:"ResultType"`
	TransactionID            string            `json:"TransactionID"`
}

// askStatus queues the state of a transaction.
func askStatus(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body inquiryBody
	i, isRight, err := body.read(ctx, s, r, statusCommand)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	told := StatusResult{
		ConversationID: i.conversation, OriginatorConversationID: i.originator, TransactionID: genericID(i.at),
		ResultCode: 0, ResultDesc: results[payments.Success].callback, ReferenceData: ReferenceData{KeyValue{Key: "Occasion"}},
	}
	if body.Occasion != "" {
		told.ReferenceData.ReferenceItem.Value = string(body.Occasion)
	}
	var found *payments.Transaction
	if isRight {
		found, err = body.find(ctx, s, i)
	}
	switch {
	case operatorapi.IsRefused(err, operatorapi.NotFound):
		told.ResultCode, told.ResultDesc = invalidOriginal.code, invalidOriginal.callback // Assumed
	case err != nil:
		return operatorapi.Answer{}, err
	case !isRight:
		told.ResultCode, told.ResultDesc = asNumber(invalidInitator.code), invalidInitator.callback
	default:
		e := s.Environments()[0]
		holder, err := s.Holder(ctx, e, found.MSISDN)
		if err != nil && !operatorapi.IsRefused(err, operatorapi.NotFound) {
			return operatorapi.Answer{}, err
		}
		told.ResultParameters = &ResultParameters{stateOf(found, string(body.PartyA), nameOf(holder), e.Has(doubledParty))}
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: i.accepted(acceptedRequest)}, i.notify(ctx, s, notice{Status: &told})
}

// find returns the transaction that is asked for.
func (b *inquiryBody) find(ctx context.Context, s operatorapi.Sandbox, i *inquiry) (*payments.Transaction, error) {
	if b.TransactionID != "" {
		return findReceipt(ctx, s, string(b.TransactionID), i.at)
	}
	p, err := s.Find(ctx, string(b.original()), payoutCall, pochiCall, reversalCall)
	if err == nil && p.Transaction.NativeSent == nil {
		p.Transaction.NativeSent = p.Sent
	}
	return p.Transaction, err
}

// states are the states of transactions that failed (Assumed). Others are Declined.
var states = map[payments.Status]string{
	payments.Success: "Completed", payments.Pending: "Pending", payments.UserCancelled: "Cancelled", payments.Timeout: "Expired",
}

// stateOf returns what a result says of a transaction. The parties of a payout change sides for a payment of a customer.
func stateOf(t *payments.Transaction, shortCode, name string, doubled bool) []KeyValue {
	s := keptOf(t.NativeSent) // empty for a transaction of /v1
	creditor := "CreditPartyName"
	if doubled {
		creditor = "DebitPartyName"
	}
	debit, credit := merchantName(shortCode, t), customer(t, &sent{Name: name})
	accountType, charges, why := "Utility Account", KeyValue{"DebitPartyCharges", "Fee For B2C Payment|KES|0.00"}, "Business Payment to Customer via API"
	switch t.Type {
	case payments.Collection:
		debit, credit = credit, debit
		accountType, charges, why = "MMF Account For Customer", KeyValue{Key: "DebitPartyCharges"}, "Pay Bill Online" // ThirdParty
	case payments.Refund:
		charges, why = KeyValue{Key: "DebitPartyCharges"}, "Organization Transaction Reversal" // Assumed
	}
	all := []KeyValue{
		{"DebitPartyName", debit}, {creditor, credit}, {"OriginatorConversationID", originatorOf(t)},
		{"InitiatedTime", t.CreatedAt.In(nairobi).Format(timestamp)}, {"DebitAccountType", accountType}, charges, {Key: "TransactionReason"},
		{"ReasonType", why}, {"TransactionStatus", cmp.Or(states[t.Status], "Declined")},
	}
	if t.Status.Terminal() {
		all = append(all, KeyValue{"FinalisedTime", completedAt(t)})
	}
	return append(
		all, KeyValue{"Amount", strconv.FormatInt(t.Amount, 10)}, KeyValue{"ConversationID", conversationOf(t, &s)},
		KeyValue{"ReceiptNo", receiptOf(t)},
	)
}

// originatorOf returns the OriginatorConversationID of a transaction: that of a push is its MerchantRequestID (Assumed).
func originatorOf(t *payments.Transaction) string {
	if t.Type == payments.Collection {
		return merchantRequestID(checkoutOf(t))
	}
	return t.Reference
}

// askBalance queues the float.
func askBalance(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body inquiryBody
	i, isRight, err := body.read(ctx, s, r, balanceCommand)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	e := s.Environments()[0]
	told := i.failure("18", "Initiator Credential Check Failure", timeoutURL("abresults"))
	if isRight {
		balance, err := s.Balance(ctx, e.Currency)
		if err != nil {
			return operatorapi.Answer{}, err
		}
		told.ResultCode, told.ResultDesc = "0", "The service request is processed successfully"
		told.ResultParameters = &ResultParameters{[]KeyValue{
			{"AccountBalance", accounts(shillings(balance))}, {"BOCompletedTime", i.at.In(nairobi).Format(timestamp)},
		}}
	}
	if told.ResultType = "0"; e.Has(numericBalance) {
		code, _ := told.ResultCode.(string)
		told.ResultType, told.ResultCode = 0, asNumber(code)
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: i.accepted(acceptedBalance)}, i.notify(ctx, s, notice{Result: &told})
}

// accounts returns the accounts of a merchant. The float is the utility account, and the others are empty (Assumed).
func accounts(float json.Number) string {
	const none = "0.00"
	return account("Working Account", none) + "&" + account("Float Account", none) + "&" + account("Utility Account", float) + "&" +
		account("Charges Paid Account", none) + "&" + account("Organization Settlement Account", none)
}
