package mpesa

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

const (
	portal   = "Daraja portal"
	observed = "answers of Safaricom's sandbox, recorded in September and October 2026"
)

// commonFacts are the facts that concern every call.
var commonFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("a token has 28 characters and lives for 3599 seconds of the sandbox's time, which `expires_in` tells as a text", observed,
		"TestMPesaTokens"),
	operatorapi.Documented.Fact("each call of the token makes a token, and older ones stay valid", portal, "TestMPesaTokens"),
	operatorapi.Documented.Fact("a wrong key or secret: 400 `400.008.01`", observed, "TestMPesaTokens").Differs("in production, an empty body"),
	operatorapi.Documented.Fact("a wrong token: 404 `404.001.03`", portal, "TestMPesaTokens"),
	operatorapi.Documented.Fact("another method of a path: 405 `405.001`", portal, "TestMPesaRefusals"),
	operatorapi.Assumed.Fact("429 and 503 have `500.003.02`", operatorapi.OurChoice, "TestMPesaFaults").Differs("500"),
	operatorapi.Documented.Fact("fields may be texts or numbers", portal, "TestMPesaRefusals"),
	operatorapi.Documented.Fact("every time is Nairobi's, UTC+3", observed, "TestMPesaPush"),
	operatorapi.Documented.Fact("short code 174379 with the public passkey is taken beside the sandbox's own", portal, "TestMPesaPush"),
	operatorapi.Documented.Fact("`MerchantRequestID` and `requestId` are 24 hexadecimal digits in four groups, and up to 7 decimal ones", portal,
		"TestMPesaPush"),
	operatorapi.Documented.Fact("a receipt begins with letters of year, month and day", portal+"; nine samples", "TestReceipts").Differs(
		"the other 7 characters are not known; here two payments of a minute may have the same receipt"),
}

// pushFacts are the facts about M-Pesa Express.
var pushFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("the password is the Base64 of short code, passkey and timestamp: else 500 `500.001.1001` \"Wrong credentials\"", portal,
		"TestMPesaRefusals"),
	operatorapi.Assumed.Fact("any well-formed `Timestamp` is taken; `quirks: {mpesaStrictTimestamp: true}` refuses one that is an hour or more away from "+
		"Nairobi's time", operatorapi.OurChoice, "TestMPesaTimestamps").Differs("sources differ"),
	operatorapi.Documented.Fact("a wrong field: 400 `400.002.02` \"Bad Request - Invalid\" and its name", portal, "TestMPesaRefusals"),
	operatorapi.Documented.Fact("without `TransactionDesc`, the answer names `Remarks`", observed, "TestMPesaRefusals"),
	operatorapi.Documented.Fact("another content type, or a body that is no JSON: 400 with the first field", portal, "TestMPesaRefusals"),
	operatorapi.Documented.Fact("`AccountReference` may have more than 12 characters; `TransactionDesc` more than 13 (assumed)", observed,
		"TestMPesaRefusals"),
	operatorapi.Documented.Fact("`CheckoutRequestID` is `ws_CO_`, the time in Nairobi with one digit more, and the national number", observed,
		"TestMPesaPush"),
	operatorapi.Documented.Fact("a second push while the phone rings: 500 `500.001.1001` \"Unable to lock subscriber\"", portal, "TestMPesaLocks"),
	operatorapi.Assumed.Fact("the same amount of the same payer within 2 minutes is an ordinary push", operatorapi.OurChoice, "TestMPesaLocks").Differs(
		"ResultCode 17"),
	operatorapi.Assumed.Fact("that `PartyB` fits `TransactionType` is not checked", operatorapi.OurChoice, "TestMPesaRefusals").Differs("ResultCode 2028"),
	operatorapi.Assumed.Fact("nobody answers: 1037 after a minute of the sandbox's time, or after `pendingTimeout` if that is shorter", operatorapi.OurChoice,
		"TestMPesaPromptEnds").Differs("after 26 seconds, observed twice"),
	operatorapi.Documented.Fact("the callback goes once to `CallBackURL`, unsigned, with the header `BusinessShortCode`", observed, "TestMPesaCallbacks"),
	operatorapi.Documented.Fact("codes are numbers in the callback and texts in the query, whose texts differ", observed, "TestMPesaOutcomes"),
	operatorapi.Documented.Fact("a failed push has no `CallbackMetadata`", portal, "TestMPesaOutcomes"),
	operatorapi.ThirdParty.Fact("`Balance` in `CallbackMetadata` has no value", operatorapi.PublishedClients, "TestMPesaOutcomes"),
	operatorapi.Documented.Fact("a query while the phone rings: 4999", observed, "TestMPesaOutcomes").Differs("it answers in three ways"),
	operatorapi.Documented.Fact("a query of an unknown push: 500 `500.001.1001` \"The transaction does not Exist\"", observed, "TestMPesaRefusals"),
	operatorapi.Assumed.Fact("an account that is blocked: 8006; a number that nobody has: 1037", operatorapi.OurChoice, "TestMPesaOutcomes"),
	operatorapi.Assumed.Fact("`SERVICE_UNAVAILABLE`: the query answers 500 `500.003.02`, the callback has 1025", operatorapi.OurChoice, "TestMPesaOutcomes"),
	operatorapi.Assumed.Fact("`fidelity: Vague`: every failure is 9999", operatorapi.OurChoice, "TestMPesaOutcomes"),
}
