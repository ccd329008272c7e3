package main

import "fmt"

func mtnRules() []rule {
	return shape{operator: "mtn", payer: payer, blocked: blocked, rejects: true, payload: mtnPayload}.rules()
}

// mtnReasons are the reasons that MTN gives for a failure.
var mtnReasons = map[string]string{
	"PIN_INVALID":         "APPROVAL_REJECTED",
	"INSUFFICIENT_FUNDS":  "NOT_ENOUGH_FUNDS",
	"TIMEOUT":             "EXPIRED",
	"ACCOUNT_BLOCKED":     "SENDER_ACCOUNT_NOT_ACTIVE",
	"USER_CANCELLED":      "APPROVAL_REJECTED",
	"UNKNOWN_MSISDN":      "PAYER_NOT_FOUND",
	"LIMIT_EXCEEDED":      "PAYER_LIMIT_REACHED",
	"SERVICE_UNAVAILABLE": "SERVICE_UNAVAILABLE",
	"DUPLICATE_REFERENCE": "RESOURCE_ALREADY_EXIST",
}

// mtnPayload is the shape of a request to pay, and with the payee in the payer's place that of a transfer.
func mtnPayload(t object) object {
	party, noParty := "payer", "payee"
	if isPayout(t) {
		party, noParty = noParty, party
	}
	message := any(t["description"])
	if message == nil {
		message = "Payment"
	}
	return changed(mtnOutcome(t), object{
		"amount":       fmt.Sprint(t["amount"]),
		"currency":     t["currency"],
		"externalId":   t["reference"],
		party:          object{"partyIdType": "MSISDN", "partyId": nativeNumber(t)},
		noParty:        absent,
		"payerMessage": message,
		"payeeNote":    t["reference"],
	})
}

func mtnOutcome(t object) object {
	switch t["status"] {
	case "SUCCESS":
		return object{"status": "SUCCESSFUL", "financialTransactionId": t["providerTxId"], "reason": absent}
	case "PENDING":
		return object{"status": "PENDING", "financialTransactionId": absent, "reason": absent}
	}
	reason := mtnReasons[textOf(t, "status")]
	if isPayout(t) && t["status"] == "UNKNOWN_MSISDN" {
		reason = "PAYEE_NOT_FOUND"
	}
	return object{"status": "FAILED", "financialTransactionId": absent, "reason": reason}
}
