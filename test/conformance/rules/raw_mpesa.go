package rules

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

func mpesaRules() []suite.Rule {
	return shape{operator: "mpesa", payer: suite.MPesaPayer, blocked: suite.MPesaBlocked, rejects: true, payload: mpesaPayload}.rules()
}

// mpesaCodes are the result codes of pushes and of payouts. Both are the same if there is one.
var mpesaCodes = map[string][]int{
	"SUCCESS": {0}, "PENDING": {4999}, "PIN_INVALID": {2001}, "INSUFFICIENT_FUNDS": {1}, "TIMEOUT": {1037}, "ACCOUNT_BLOCKED": {8006, 2006},
	"USER_CANCELLED": {1032}, "UNKNOWN_MSISDN": {1037, 2040}, "LIMIT_EXCEEDED": {3}, "SERVICE_UNAVAILABLE": {1025}, "DUPLICATE_REFERENCE": {1001},
}

// mpesaPayload is the callback of a push, or the result of a payout. Only a paid push has metadata.
func mpesaPayload(t suite.Object) suite.Object {
	status := suite.TextOf(t, "status")
	codes := mpesaCodes[status]
	payload := suite.Object{"ResultCode": codes[0], "ResultDesc": suite.AnyText}
	if isPayout(t) {
		payload["ResultCode"] = mpesaPayoutCode(t, codes[len(codes)-1])
		payload["OriginatorConversationID"], payload["ConversationID"], payload["TransactionID"] = t["reference"], suite.AnyText, suite.AnyText
		return payload
	}
	payload["MerchantRequestID"], payload["CheckoutRequestID"] = suite.AnyText, suite.AnyText
	payload["CallbackMetadata"] = suite.Absent
	if status == "SUCCESS" {
		number := json.Number(strings.TrimPrefix(suite.TextOf(t, "msisdn"), "+"))
		payload["CallbackMetadata"] = suite.Object{"Item": suite.Expecting("the amount and the number of the payment", func(items any) bool {
			shown := asJSON(items)
			return strings.Contains(shown, asJSON(suite.Object{"Name": "PhoneNumber", "Value": number})) &&
				strings.Contains(shown, fmt.Sprintf(`{"Name":"Amount","Value":%v.00}`, t["amount"]))
		})}
	}
	return payload
}

// mpesaPayoutCode is the result code of a payout. A limit depends on the amount, and the code of a failed reversal is a text.
func mpesaPayoutCode(t suite.Object, code int) any {
	if suite.TextOf(t, "status") == "LIMIT_EXCEEDED" {
		amount, err := strconv.ParseInt(fmt.Sprint(t["amount"]), 10, 64)
		switch isRefund := suite.TextOf(t, "type") == "refund"; {
		case err == nil && amount < 10 && !isRefund:
			code = 2
		case isRefund || err == nil && amount <= 250_000:
			code = 8
		}
	}
	if suite.TextOf(t, "type") == "refund" && code != 0 {
		return strconv.Itoa(code)
	}
	return code
}

func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
