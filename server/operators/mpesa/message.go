package mpesa

import (
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/ussd"
	"github.com/cauri-dev/cauri/server/payments"
)

// messageFacts are the facts about messages to payers.
var messageFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("the payer's message has receipt, amount, shop, account, time in Nairobi, balance and cost", observed, "TestPhonesScan").Differs(
		"it ends with what the payer may still pay on this day"),
}

// messageTime is the layout of the time in a message, in Nairobi (Documented).
const messageTime = "2/1/06 at 3:04 PM"

// messageOf returns the message that the payer of a collection gets (Documented). Assumed: a payment without an account,
// such as one through /v1, has its reference in that place. ok is false for anything else than a paid collection.
func messageOf(t *payments.Transaction) (m ussd.Message, ok bool) {
	if t.Type != payments.Collection || t.Status != payments.Success || t.CompletedAt == nil {
		return ussd.Message{}, false
	}
	m = ussd.Message{
		Before: receiptOf(t) + " Confirmed.", Amount: inMessage(t.Amount), After: "sent to " + t.Store + " for account", Reference: t.OrderRef,
		Rest: "on " + t.CompletedAt.In(nairobi).Format(messageTime),
	}
	if m.Reference == "" {
		m.Reference = t.Reference
	}
	if t.SIMBalanceAfter != nil {
		m.Rest += " New M-PESA balance is " + inMessage(*t.SIMBalanceAfter) + "."
	}
	m.Rest += " Transaction cost, " + inMessage(t.CustomerTotal()-t.Amount) + "."
	return m, true
}

// inMessage returns an amount as messages have it: KSH1,500.00.
func inMessage(amount int64) string {
	return "KSH" + english.texts.Digits(amount) + ".00"
}
