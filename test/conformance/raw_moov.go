package main

func moovRules() []rule {
	return shape{operator: "moov", payer: moovPayer, blocked: moovBlocked, rejects: true, payload: moovPayload}.rules()
}

// moovCodes are Moov's response codes. Outcomes that Moov does not tell apart have the same.
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

func moovPayload(t object) object {
	message := any(anyText)
	if t["status"] == "SUCCESS" {
		message = "Success"
	}
	return object{
		"responseCode":      moovCodes[textOf(t, "status")],
		"responseMessage":   message,
		"transactionId":     t["providerTxId"],
		"externalReference": t["reference"],
		"amount":            t["amount"],
		"currency":          t["currency"],
		"phoneNumber":       nativeNumber(t),
		"timestamp":         timestamp,
	}
}
