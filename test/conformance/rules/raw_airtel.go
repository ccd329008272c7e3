package rules

import "github.com/cauri-dev/cauri/test/conformance/suite"

func airtelRules() []suite.Rule {
	return shape{operator: "airtel", payer: suite.AirtelPayer, blocked: suite.AirtelBlocked, rejects: true, payload: airtelPayload}.rules()
}

// airtelCodes are Airtel's transaction status and response code. Failures without a code have a different form.
var airtelCodes = map[string]struct{ status, collection, payout string }{
	"SUCCESS":             {"TS", "DP00800001001", "DP00900001001"},
	"PENDING":             {"TIP", "DP00800001006", ""},
	"PIN_INVALID":         {"TF", "DP00800001002", ""},
	"INSUFFICIENT_FUNDS":  {"TF", "DP00800001007", "DP00900001007"},
	"TIMEOUT":             {"TE", "DP00800001029", ""},
	"ACCOUNT_BLOCKED":     {"TF", "DP00800001010", "DP00800001010"},
	"USER_CANCELLED":      {"TF", "DP00800001008", ""},
	"UNKNOWN_MSISDN":      {"TF", "DP00800001012", "DP00900001012"},
	"LIMIT_EXCEEDED":      {"TF", "DP00800001003", ""},
	"SERVICE_UNAVAILABLE": {"TF", "", ""},
	"DUPLICATE_REFERENCE": {"TF", "", ""},
}

// airtelPayload has the payer and the transaction as separate objects, next to data and status of the answer.
func airtelPayload(t suite.Object) suite.Object {
	return suite.Object{
		"reference":   t["reference"],
		"subscriber":  suite.Object{"country": t["country"], "currency": t["currency"], "msisdn": nativeNumber(t)},
		"transaction": suite.Object{"amount": t["amount"], "country": t["country"], "currency": t["currency"], "id": t["reference"]},
		"data": suite.Object{"transaction": suite.Object{
			"id": t["providerTxId"], "message": suite.AnyText, "status": airtelCodes[suite.TextOf(t, "status")].status,
		}},
		"status": airtelStatus(t),
	}
}

func airtelStatus(t suite.Object) suite.Object {
	codes := airtelCodes[suite.TextOf(t, "status")]
	status := suite.Object{"code": "200", "message": suite.AnyText, "success": suite.AnyBoolean}
	if code := codes.collection; code != "" {
		status["response_code"] = code
	}
	if code := codes.payout; code != "" && isPayout(t) {
		status["response_code"] = code
	}
	switch t["status"] {
	case "SUCCESS":
		status["success"], status["result_code"] = true, "ESB000010"
	case "PENDING":
		// in process is neither
	case "SERVICE_UNAVAILABLE":
		status["success"], status["code"] = false, "503"
	case "DUPLICATE_REFERENCE":
		status["success"], status["result_code"] = false, "ESB000041"
	default:
		status["success"] = false
	}
	return status
}
