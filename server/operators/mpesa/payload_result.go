package mpesa

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// ResultPayload is a payout in the format of the result of B2C, or of a reversal (Documented).
type ResultPayload struct {
	Simulated bool `json:"_simulated"`
	Result
}

// Result is the result of a payout, of a reversal or of a balance query. Only a success has ResultParameters.
type Result struct {
	ResultType               any               `json:"ResultType"` // a number, and a text for a balance
	ResultCode               any               `json:"ResultCode"` // a number, or a text
	ResultDesc               string            `json:"ResultDesc"`
	OriginatorConversationID string            `json:"OriginatorConversationID"`
	ConversationID           string            `json:"ConversationID"`
	TransactionID            string            `json:"TransactionID"`
	ResultParameters         *ResultParameters `json:"ResultParameters,omitempty"`
	ReferenceData            ReferenceData     `json:"ReferenceData"`
}

// ResultParameters has what a result says of a success.
type ResultParameters struct {
	ResultParameter []KeyValue `json:"ResultParameter"`
}

// ReferenceData repeats something of the request.
type ReferenceData struct {
	ReferenceItem KeyValue `json:"ReferenceItem"`
}

// KeyValue is an item of a result. Some have no value.
type KeyValue struct {
	Key   string `json:"Key"`
	Value any    `json:"Value,omitempty"`
}

// timeoutURL returns the reference data of a product: the address to which M-Pesa tells Daraja that a request timed out
// (Documented).
func timeoutURL(product string) ReferenceData {
	return ReferenceData{KeyValue{"QueueTimeoutURL", "https://internalsandbox.safaricom.co.ke/mpesa/" + product + "/v1/submit"}}
}

// minPayout is the least amount of a payout (Documented). That of a push is smaller.
const minPayout = 10

// maxPayout returns the greatest amount of a payout in a country, which is that of a push (Documented).
func maxPayout(in payments.Country) int64 { return payments.Facts(payments.MPesa, in).MaxAmount }

const (
	wrongInitiator = "The initiator information is invalid."
	belowLimit     = "Declined due to limit rule."
	beyondBalance  = "Declined due to limit rule: would exceed the maximum balance."
)

// payoutResults are the results of payouts that differ from those of pushes (Assumed: for which outcome).
var payoutResults = map[payments.Status]result{
	payments.AccountBlocked: result{code: "2006"}.both("Declined due to account rule: The account status does not allow this transaction."),
	payments.UnknownMSISDN: result{code: "2040"}.both("Credit Party customer type (Unregistered or Registered Customer) can't be supported by the " +
		"service."),
}

// payoutResultOf returns the result of a payout or of a reversal as it is told.
func payoutResultOf(t *payments.Transaction, how operatorapi.StatusView) result {
	if how.Reason != "" || how.Vague {
		if told := resultOf(t, how); told.code != results[t.Status].code {
			return told
		}
	}
	switch {
	case t.Status != payments.LimitExceeded:
	case t.Type == payments.Disbursement && t.Amount < minPayout:
		return result{code: "2"}.both(belowLimit)
	case t.Type == payments.Refund || t.Amount <= maxPayout(t.Country): // the recipient's SIM cannot hold the amount
		return result{code: "8"}.both(beyondBalance)
	}
	if r, known := payoutResults[t.Status]; known {
		return r
	}
	return results[t.Status]
}

// rawResult returns the encoded payload of a payout or of a refund.
func rawResult(t *payments.Transaction) json.RawMessage {
	s := keptOf(t.NativeSent) // empty for a transaction of /v1
	return adapter.Encode(&ResultPayload{Simulated: true, Result: newResult(t, &s, operatorapi.StatusView{})})
}

// newResult returns the result of a payout or of a reversal.
func newResult(t *payments.Transaction, s *sent, how operatorapi.StatusView) Result {
	r := payoutResultOf(t, how)
	told := Result{
		ResultType: 0, ResultCode: asNumber(r.code), ResultDesc: r.callback, OriginatorConversationID: t.Reference,
		ConversationID: conversationOf(t, s), TransactionID: receiptOf(t), ReferenceData: timeoutURL("b2cresults"),
	}
	if t.Type == payments.Refund {
		return newReversal(&told, t, s, r)
	}
	if t.Status == payments.Success {
		told.ResultParameters = &ResultParameters{[]KeyValue{
			{"TransactionAmount", t.Amount}, {"TransactionReceipt", told.TransactionID}, {"ReceiverPartyPublicName", customer(t, s)},
			{"TransactionCompletedDateTime", ended(t).Format("02.01.2006 15:04:05")},
			{"B2CUtilityAccountAvailableFunds", floatAfter(t)}, {"B2CWorkingAccountAvailableFunds", shillings(0)},
			{"B2CRecipientIsRegisteredCustomer", "Y"}, {"B2CChargesPaidAccountAvailableFunds", shillings(0)},
		}}
	}
	return told
}

// newReversal completes the result of a reversal. The code of a failure is a text, and the transaction has a generic id
// (Documented).
func newReversal(told *Result, t *payments.Transaction, s *sent, r result) Result {
	told.ReferenceData = timeoutURL("reversalresults")
	if t.Status != payments.Success {
		told.ResultCode, told.TransactionID = r.code, genericID(ended(t))
		return *told
	}
	parameters := []KeyValue{
		{"DebitAccountBalance", account("Utility Account", floatAfter(t))}, {"Amount", shillings(t.Amount)},
		{"TransCompletedTime", json.Number(completedAt(t))},
	}
	if s.Original != "" { // a refund of /v1 does not know it
		parameters = append(parameters, KeyValue{"OriginalTransactionID", s.Original})
	}
	told.ResultParameters = &ResultParameters{append(parameters,
		KeyValue{"Charge", shillings(0)}, KeyValue{"CreditPartyPublicName", customer(t, s)},
		KeyValue{"DebitPartyPublicName", merchantName(s.ShortCode, t)},
	)}
	return *told
}

// conversationOf returns the ConversationID of a transaction. The answer to its request has told it already.
func conversationOf(t *payments.Transaction, s *sent) string {
	if s.Conversation != "" {
		return s.Conversation
	}
	return conversationID(t.CreatedAt, t.Reference)
}

// customer returns the number and the name of the customer of a transaction. A name that is not known is constant.
func customer(t *payments.Transaction, s *sent) string {
	name := s.Name
	if name == "" {
		name = nameOf(operatorapi.Holder{})
	}
	return adapter.Subscriber(t) + " - " + name
}

// nameOf returns the name of an account holder, in capitals.
func nameOf(h operatorapi.Holder) string {
	first, last := h.Names()
	return strings.ToUpper(strings.TrimSpace(first + " " + strings.ReplaceAll(last, "-", " ")))
}

// merchantName returns the short code and the name of the merchant.
func merchantName(shortCode string, t *payments.Transaction) string {
	return strings.TrimPrefix(shortCode+" - "+t.Store, " - ")
}

// floatAfter returns the merchant's float after a transaction. It is the utility account (Assumed).
func floatAfter(t *payments.Transaction) json.Number {
	if t.MerchantBalanceAfter == nil {
		return shillings(0)
	}
	return shillings(*t.MerchantBalanceAfter)
}

// account returns an account as results write it: name, currency, and the current, available, reserved and uncleared
// balance (ThirdParty: the order).
func account(name string, balance json.Number) string {
	return fmt.Sprintf("%s|KES|%s|%[2]s|0.00|0.00", name, balance)
}

// ended returns the time at which a transaction ended, in Nairobi.
func ended(t *payments.Transaction) time.Time {
	if t.CompletedAt != nil {
		return t.CompletedAt.In(nairobi)
	}
	return t.CreatedAt.In(nairobi)
}

// genericID returns the id of a transaction that moved no money (Documented).
func genericID(at time.Time) string { return receiptDate(at) + "0000000" }
