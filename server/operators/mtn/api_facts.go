package mtn

import "github.com/cauri-dev/cauri/server/operators/native"

const (
	portal    = "MTN portal"
	recorded  = "MTN portal; recorded by sandbox users"
	observed  = "recorded by sandbox users"
	clients   = "published clients"
	ourChoice = "our choice"
)

// facts are what is known of the API beside its calls.
var facts = []native.Fact{
	fact("`Ocp-Apim-Subscription-Key` is checked before everything else, also as the query `subscription-key`; without it, or with a wrong "+
		"one, 401 and the gateway's body", native.Documented, portal, "TestStrangersGetNothingFromOperators"),
	fact("a wrong user or password: 401 `login_failed`", native.ThirdParty, clients, "TestMTNTokens"),
	fact("a token that is missing, wrong, expired or of another product: 401 `invalid_token`, without a `statusCode`", native.Assumed,
		ourChoice, "TestStrangersGetNothingFromOperators"),
	fact("a token lives for an hour of the sandbox's time, and a day of real time at most", native.Assumed, ourChoice, "TestMTNTokens"),
	fact("one API user serves all three products", native.Assumed, ourChoice, "TestMTNProvisioning"),
	fact("an older API key of a user stops working when a new one is made", native.Assumed, ourChoice, "TestMTNProvisioning"),
	fact("order of checks: key, call, token, target, reference, body, currency, callback host, duplicate", native.Assumed, ourChoice,
		"TestMTNRefusals"),
	fact("`X-Target-Environment`: `mtnivorycoast`, `mtnbenin`, `mtnrwanda`, `sandbox`; others 500 `NOT_ALLOWED_TARGET_ENVIRONMENT`",
		native.Documented, portal, "TestMTNRefusals"),
	fact("under the target `sandbox`, EUR is taken, and balances are told in EUR", native.Documented, recorded, "TestMTNAccount"),
	fact("`amount`: a text; `5.0` is 5, a number is taken too, and a fraction other than zero is refused, as the currencies have none",
		native.Assumed, ourChoice, "TestMTNRefusals"),
	fact("400 has no body", native.Assumed, ourChoice, "TestMTNRefusals"),
	fact("`payerMessage`, `payeeNote`: up to 160 characters, no apostrophe", native.Documented, portal, "TestMTNRefusals"),
	fact("parties other than `MSISDN` are refused with 400: no account here has another name", native.Assumed, ourChoice, "TestMTNRefusals"),
	fact("a reference that is taken: 409 `RESOURCE_ALREADY_EXIST`, whatever the body", native.Documented, recorded,
		"TestMTNEveryCallThatMovesMoney"),
	fact("order of fields of the status; `financialTransactionId` has ten digits and only a success has it", native.Documented, observed,
		"TestMTNRequestToPay"),
	fact("`reason` is a text", native.Documented, observed, "TestMTNFailures"),
	fact("too little money `NOT_ENOUGH_FUNDS`, unknown payer `PAYER_NOT_FOUND`, limit `PAYER_LIMIT_REACHED`, no answer `EXPIRED`, refused by "+
		"the payer `APPROVAL_REJECTED`, unavailable `SERVICE_UNAVAILABLE`", native.Documented, portal, "TestMTNFailures"),
	fact("a wrong PIN: `APPROVAL_REJECTED`; a blocked payee: `PAYEE_NOT_ALLOWED_TO_RECEIVE`", native.Assumed, ourChoice, "TestMTNFailures"),
	fact("a blocked payer: `SENDER_ACCOUNT_NOT_ACTIVE`", native.ThirdParty, clients, "TestMTNFailures"),
	fact("`fidelity: Vague`: every failure is `INTERNAL_PROCESSING_ERROR`", native.Documented, recorded, "TestMTNFailures"),
	fact("test numbers 46733123450 to 454, and 56733123453; a payout to one of them has its outcome at once", native.Documented, recorded,
		"TestMTNFailures"),
	fact("test numbers 46733123455 to 464: accepted, then failed with their reason", native.Assumed, portal, "TestMTNFailures"),
	fact("test values 1 to 13 of `referenceIdToRefund`: accepted, then failed with their reason; 6 succeeds", native.Assumed, portal,
		"TestMTNTestPartiesOfPayouts"),
	fact("account holders 46733123450 to 455, and the e-mail addresses `notfound@email.com` and `notactive@email.com`", native.Documented,
		portal, "TestMTNAccount"),
	fact("the other e-mail addresses of tests: `notallowed@email.com`, `notallowedtargetenvironment@email.com`, "+
		"`internalprocessingerror@email.com`, `serviceunavailable@email.com`", native.Assumed, portal, "TestMTNAccount"),
	fact("every other number: by its test client; without one, by `unknownMsisdnPolicy`, where MTN's own sandbox always succeeds",
		native.Documented, recorded, "TestMTNFailures"),
	fact("callbacks: once, unsigned, without the reference, `Content-Type: application/json; charset=utf-8`", native.Documented, recorded,
		"TestCallbacksOfOperators"),
	fact("callbacks: POST for v1_0, PUT for v2_0 (the vendor's pages differ)", native.Assumed, portal, "TestCallbacksOfOperators"),
	fact("callbacks of an API user go to its `providerCallbackHost` only: 500 `INVALID_CALLBACK_URL_HOST`", native.Documented, recorded,
		"TestMTNProvisioning"),
	fact("over the rate limit: 429 and the gateway's body", native.Assumed, ourChoice,
		"TestSuspendedSandboxesAndLimitsInTheShapeOfTheOperator"),
	fact("suspended, over the quota, database unavailable: 503 `SERVICE_UNAVAILABLE`", native.Documented, portal,
		"TestSuspendedSandboxesAndLimitsInTheShapeOfTheOperator"),
	fact("not here: consent (`bc-authorize`, `oauth2`), pre-approvals, invoices, cash transfers",
		native.Documented, portal, "TestStrangersGetNothingFromOperators"),
}

func fact(what string, mark native.Mark, source, test string) native.Fact {
	return native.Fact{What: what, Mark: mark, Source: source, Test: test}
}
