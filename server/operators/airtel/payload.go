// Package airtel has the payloads (payload.go) and a client (client.go) of Airtel's own API, and a simulation of that
// API (api.go). Package operators explains the marks Documented, ThirdParty and Assumed.
package airtel

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// Payload is a transaction in the format of Airtel's Open API (Documented). The fields Subscriber and Transaction come
// from the request, Data and Status from the answer. No key is omitted: a code that does not exist is empty.
type Payload struct {
	Simulated   bool        `json:"_simulated"`
	Reference   string      `json:"reference"`
	Subscriber  Subscriber  `json:"subscriber"`
	Transaction Transaction `json:"transaction"`
	Data        Data        `json:"data"`
	Status      Status      `json:"status"`
}

// Subscriber is the customer of a payment.
type Subscriber struct {
	Country  string `json:"country"`
	Currency string `json:"currency"`
	MSISDN   string `json:"msisdn"`
}

// Transaction is the requested payment.
type Transaction struct {
	Amount   int64  `json:"amount"`
	Country  string `json:"country"`
	Currency string `json:"currency"`
	ID       string `json:"id"` // id of the request
}

// Data is the part of an answer about the payment.
type Data struct {
	Transaction Result `json:"transaction"`
}

// Result is the state of a payment.
type Result struct {
	ID      string `json:"id"` // Airtel's id
	Message string `json:"message"`
	Status  string `json:"status"`
}

// Status is the result of a request.
type Status struct {
	Code         string `json:"code"` // the HTTP status
	Message      string `json:"message"`
	ResultCode   string `json:"result_code"`   // code of the gateway
	ResponseCode string `json:"response_code"` // code of the payment product
	Success      bool   `json:"success"`
}

// Statuses of a transaction (Documented).
const (
	succeeded  = "TS"
	failed     = "TF"
	inProgress = "TIP"
	expired    = "TE"
)

// Result codes of the gateway (Documented).
const (
	processed   = "ESB000010"
	duplicateID = "ESB000041"
)

// answer is Airtel's report of an outcome: the status of the transaction, the response codes of collections and of
// payouts, and the message. Payouts have the code of collections if payout is empty.
type answer struct{ status, collection, payout, message string }

// answers are the answers of Airtel. The codes are Documented unless another mark is given. The texts are Assumed.
var answers = map[payments.Status]answer{
	payments.Success:            {succeeded, "DP00800001001", "DP00900001001", "Success"},
	payments.Pending:            {inProgress, "DP00800001006", "", "In process"},
	payments.PINInvalid:         {failed, "DP00800001002", "", "Incorrect PIN"},
	payments.InsufficientFunds:  {failed, "DP00800001007", "DP00900001007", "Not enough balance"},
	payments.Timeout:            {expired, "DP00800001029", "", "Transaction expired"},
	payments.AccountBlocked:     {failed, "DP00800001010", "", "Transaction not permitted to payee"},
	payments.UserCancelled:      {failed, "DP00800001008", "", "Refused"},
	payments.UnknownMSISDN:      {failed, "DP00800001012", "DP00900001012", "Invalid mobile number"}, // Assumed for collections
	payments.LimitExceeded:      {failed, "DP00800001003", "DP00900001003", "Amount limit exceeded"},
	payments.ServiceUnavailable: {failed, "", "", "Service unavailable"},
	payments.DuplicateReference: {failed, "", "DP00900001011", "Transaction id already exists"},
}

// Raw returns the encoded payload of a transaction.
func Raw(t *payments.Transaction) json.RawMessage { return adapter.Encode(NewPayload(t)) }

// Unavailable returns the payload of a collection that ended with [payments.ServiceUnavailable] because Airtel's API
// could not be used. Its message is the parameter reason.
func Unavailable(t *payments.Transaction, reason string) json.RawMessage {
	p := NewPayload(adapter.Ended(t, payments.ServiceUnavailable))
	p.Data.Transaction.Message, p.Status.Message = reason, reason
	return adapter.Encode(p)
}

// NewPayload returns the payload of a transaction of any type and status.
func NewPayload(t *payments.Transaction) *Payload {
	answer := answers[t.Status]
	country, currency := string(t.Country), adapter.CurrencyCode(t)
	return &Payload{
		Simulated:   true,
		Reference:   t.Reference,
		Subscriber:  Subscriber{Country: country, Currency: currency, MSISDN: adapter.Subscriber(t)},
		Transaction: Transaction{Amount: t.Amount, Country: country, Currency: currency, ID: t.Reference},
		Data: Data{
			Transaction: Result{ID: t.ProviderTxID(), Message: answer.message, Status: answer.status},
		},
		Status: newStatus(t, answer),
	}
}

func newStatus(t *payments.Transaction, answer answer) Status {
	s := Status{
		Code:         "200", // Assumed: also for a refused payment
		Message:      answer.message,
		ResultCode:   processed,
		ResponseCode: answer.collection,
		Success:      answer.status == succeeded || answer.status == inProgress,
	}
	if adapter.IsPayout(t) && answer.payout != "" {
		s.ResponseCode = answer.payout
	}
	switch t.Status {
	case payments.DuplicateReference:
		s.ResultCode = duplicateID
	case payments.ServiceUnavailable:
		s.Code, s.ResultCode = "503", "" // an unavailable gateway has no result code
	}
	return s
}
