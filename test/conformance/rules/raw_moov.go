package rules

import "github.com/cauri-dev/cauri/test/conformance/suite"

func moovRules() []suite.Rule {
	return shape{operator: "moov", payer: suite.MoovPayer, blocked: suite.MoovBlocked, rejects: true, payload: moovPayload}.rules()
}

// moovCodes are Moov's response codes. Outcomes that Moov does not distinguish share a code.
var moovCodes = map[string]string{
	"SUCCESS":             "0",
	"PENDING":             "100",
	"PIN_INVALID":         "95",
	"INSUFFICIENT_FUNDS":  "51",
	"TIMEOUT":             "92",
	"ACCOUNT_BLOCKED":     "7",
	"USER_CANCELLED":      "92",
	"UNKNOWN_MSISDN":      "555",
	"LIMIT_EXCEEDED":      "13",
	"SERVICE_UNAVAILABLE": "99",
	"DUPLICATE_REFERENCE": "95",
}

func moovPayload(t suite.Object) suite.Object {
	message := any(suite.AnyText)
	if t["status"] == "SUCCESS" {
		message = "Success"
	}
	return suite.Object{
		"responseCode":      moovCodes[suite.TextOf(t, "status")],
		"responseMessage":   message,
		"transactionId":     t["providerTxId"],
		"externalReference": t["reference"],
		"amount":            t["amount"],
		"currency":          t["currency"],
		"phoneNumber":       nativeNumber(t),
		"timestamp":         suite.Timestamp,
	}
}
