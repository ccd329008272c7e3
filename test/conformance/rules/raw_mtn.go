package rules

import (
	"fmt"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func mtnRules() []suite.Rule {
	return shape{operator: "mtn", payer: suite.Payer, blocked: suite.Blocked, rejects: true, payload: mtnPayload}.rules()
}

// mtnReasons are MTN's failure reasons.
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

// mtnPayload is the shape of a request to pay. A transfer has the same shape, with the payee instead of the payer.
func mtnPayload(t suite.Object) suite.Object {
	party, noParty := "payer", "payee"
	if isPayout(t) {
		party, noParty = noParty, party
	}
	message := any(t["description"])
	if message == nil {
		message = "Payment"
	}
	return suite.Changed(mtnOutcome(t), suite.Object{
		"amount":       fmt.Sprint(t["amount"]),
		"currency":     t["currency"],
		"externalId":   t["reference"],
		party:          suite.Object{"partyIdType": "MSISDN", "partyId": nativeNumber(t)},
		noParty:        suite.Absent,
		"payerMessage": message,
		"payeeNote":    t["reference"],
	})
}

func mtnOutcome(t suite.Object) suite.Object {
	switch t["status"] {
	case "SUCCESS":
		return suite.Object{"status": "SUCCESSFUL", "financialTransactionId": t["providerTxId"], "reason": suite.Absent}
	case "PENDING":
		return suite.Object{"status": "PENDING", "financialTransactionId": suite.Absent, "reason": suite.Absent}
	}
	reason := mtnReasons[suite.TextOf(t, "status")]
	if isPayout(t) && t["status"] == "UNKNOWN_MSISDN" {
		reason = "PAYEE_NOT_FOUND"
	}
	return suite.Object{"status": "FAILED", "financialTransactionId": suite.Absent, "reason": reason}
}
