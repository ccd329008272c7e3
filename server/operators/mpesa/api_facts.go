package mpesa

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

const (
	portal   = "Daraja portal"
	gateway  = "Apigee's documents and community"
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
	operatorapi.Assumed.Fact("429 has `500.003.02`", operatorapi.OurChoice, "TestMPesaFaults").Differs("500"),
	operatorapi.Documented.Fact("503 is a page of HTML, also of the token call", "complaints of developers", "TestMPesaFaults").Differs(
		"another page, of the network before Daraja"),
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
	operatorapi.ThirdParty.Fact("names of fields count with their capitals: `CallbackURL` is not `CallBackURL`", operatorapi.PublishedClients,
		"TestMPesaRefusals"),
	operatorapi.ThirdParty.Fact("a blank after `TransactionType` is taken", operatorapi.PublishedClients, "TestMPesaRefusals"),
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
	operatorapi.Documented.Fact("1019 and `E3008`, which a fault gives a failure; `E3008` is a text in the callback too",
		observed, "TestMPesaReasons").Differs("its sandbox gives them to any push on some days"),
	operatorapi.Assumed.Fact("`fidelity: Vague`: every failure is 9999", operatorapi.OurChoice, "TestMPesaOutcomes"),
}

const (
	payoutsTest   = "TestMPesaPayouts"
	inquiriesTest = "TestMPesaInquiries"
)

// payoutFacts are the facts about B2C and Pochi.
var payoutFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("B2C, v3: an `OriginatorConversationID` that is taken: 500 `500.002.1001`", portal, "TestMPesaPayoutsAreMadeOnce"),
	operatorapi.ThirdParty.Fact("B2C, v1, has no `OriginatorConversationID`, and clients send none to Pochi: one is made", operatorapi.PublishedClients,
		payoutsTest),
	operatorapi.Documented.Fact("Pochi takes an `OriginatorConversationID`, and the commands of B2C too", portal, payoutsTest),
	operatorapi.Documented.Fact("the result goes once to `ResultURL`; `ResultParameters` only of a success, `ReferenceData` always", portal, payoutsTest),
	operatorapi.Documented.Fact("fewer than 10 shillings: result 2; more than 250,000: result 3", portal, "TestMPesaPayoutFailures").Differs(
		"the limits of a day, and of a customer's balance, are 500,000"),
	operatorapi.Assumed.Fact("a recipient whose account is full: result 8; one that is blocked: 2006; a number that nobody has: 2040", operatorapi.OurChoice,
		"TestMPesaPayoutFailures"),
	operatorapi.Documented.Fact("a failed payout has a full `TransactionID`", portal, "TestMPesaPayoutFailures"),
	operatorapi.Documented.Fact("a wrong token: 401 `401.002.01`", portal, "TestMPesaPayoutRefusals").Differs("its message ends with the token"),
	operatorapi.Documented.Fact("an unknown path: 404 `404.002.01` below those of payouts and balances, `404.003.01` of C2B and status, `404.001.01` elsewhere",
		portal, "TestMPesaPayoutRefusals"),
	operatorapi.Assumed.Fact("`PartyA` is a short code of the sandbox: else 400 `400.002.02`", operatorapi.OurChoice, "TestMPesaPayoutRefusals"),
	operatorapi.Assumed.Fact("`QueueTimeOutURL` gets nothing, since no request waits here", operatorapi.OurChoice, payoutsTest).Differs(
		"a request that waits too long is told there, with a body that is not documented"),
	operatorapi.Assumed.Fact("the float is the utility account; the other accounts have 0.00, and nothing is charged", operatorapi.OurChoice, payoutsTest),
	operatorapi.Documented.Fact("`SecurityCredential` is the Base64 of 256 bytes", portal, "TestMPesaCredentials"),
	operatorapi.Assumed.Fact("`SecurityCredential` for the certificate of this installation, `GET /certificate`: the password has to be right. For another "+
		"certificate, such as Safaricom's, which clients have built in: it is accepted unread, with the right name of the initiator",
		operatorapi.OurChoice, "TestMPesaCredentials").Differs("the password is checked"),
	operatorapi.Documented.Fact("a wrong initiator: result 2001", portal, "TestMPesaCredentials"),
}

// reversalFacts are the facts about reversals.
var reversalFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("a payment is given back once: then result `R000001`; one that does not exist, or was not paid: `R000002`", portal,
		"TestMPesaReversals"),
	operatorapi.Assumed.Fact("a part of a payment: 400 `400.002.02`; a payment of which `/v1` gave back a part: result `R000001`", operatorapi.OurChoice,
		"TestMPesaReversals"),
	operatorapi.Documented.Fact("the code of a failed reversal is a text, and its `TransactionID` ends in `0000000`", portal, "TestMPesaReversals"),
	operatorapi.Documented.Fact("`RecieverIdentifierType` is spelled so, and is 11", portal, "TestMPesaPayoutRefusals"),
	operatorapi.ThirdParty.Fact("`RecieverIdentifierType` 4 is taken too", operatorapi.PublishedClients, "TestMPesaReversals"),
}

// inquiryFacts are the facts about the status of transactions, and about balances.
var inquiryFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("a status query has a receipt, or an `OriginalConversationID`", portal, inquiriesTest),
	operatorapi.ThirdParty.Fact("`OriginatorConversationID` is another name of `OriginalConversationID`", operatorapi.PublishedClients, inquiriesTest),
	operatorapi.ThirdParty.Fact("the result of a status query has `CreditPartyName`; `quirks: {mpesaDoubledPartyName: true}` names it `DebitPartyName`",
		"results in published code", inquiriesTest).Differs("the sample of the portal has `DebitPartyName` twice"),
	operatorapi.Assumed.Fact("the status of a transaction that does not exist: result `R000002`", operatorapi.OurChoice, inquiriesTest),
	operatorapi.Assumed.Fact("`TransactionStatus` is `Completed`, `Pending`, `Cancelled`, `Expired` or `Declined`", operatorapi.OurChoice, inquiriesTest),
	operatorapi.Documented.Fact("a status query with a wrong token: 400 `400.003.01`; with a wrong field: 400 `400.003.02`", portal, "TestMPesaPayoutRefusals"),
	operatorapi.Documented.Fact("`ResultType` and `ResultCode` of a balance are texts; `quirks: {mpesaNumericBalanceCodes: true}` makes them numbers", portal,
		inquiriesTest),
	operatorapi.ThirdParty.Fact("an account is name, currency, and current, available, reserved and uncleared balance", operatorapi.PublishedClients, inquiriesTest),
	operatorapi.Assumed.Fact("a balance query of a wrong initiator: result 18", operatorapi.OurChoice, "TestMPesaCredentials").Differs("18, 20 or 21"),
	operatorapi.Assumed.Fact("results of queries come after 2 seconds of the sandbox's time", operatorapi.OurChoice, inquiriesTest).Differs("within minutes"),
}

// productFacts are the facts about the products that no app has here.
var productFacts = []operatorapi.Fact{
	operatorapi.ThirdParty.Fact("B2B, tax, B2B Express, Ratiba, Bill Manager, identity and organization are not built: 401, "+
		"\"Invalid API call as no apiproduct match found\"", gateway, exchanges+"products").Differs("an app that has the product gets an answer"),
}
