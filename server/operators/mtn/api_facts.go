package mtn

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

const (
	portal    = "MTN portal"
	recorded  = "MTN portal; recorded by sandbox users"
	observed  = "recorded by sandbox users"
	clients   = "published clients"
	ourChoice = "our choice"
)

// facts are the facts for the page of fidelity that are not in the routes.
var facts = []operatorapi.Fact{
	fact("`Ocp-Apim-Subscription-Key` is checked before everything else, also as the query `subscription-key`; without it, or with a wrong "+
		"one, 401 and the gateway's body", operatorapi.Documented, portal, "TestStrangersGetNothingFromOperators"),
	fact("a wrong user or password: 401 `login_failed`", operatorapi.ThirdParty, clients, "TestMTNTokens"),
	fact("a token that is missing, wrong, expired or of another product: 401 `invalid_token`, without a `statusCode`", operatorapi.Assumed,
		ourChoice, "TestStrangersGetNothingFromOperators"),
	differs(fact("a token lives for an hour of the sandbox's time, and a day of real time at most", operatorapi.Assumed, ourChoice, "TestMTNTokens"),
		"an hour"),
	differs(fact("one API user serves all three products", operatorapi.Assumed, ourChoice, "TestMTNProvisioning"),
		"its sandbox ties a user to the product whose subscription key made it; tokens of the others are refused with 500 `NOT_ALLOWED_TARGET_ENVIRONMENT`"),
	fact("an older API key of a user stops working when a new one is made", operatorapi.Assumed, ourChoice, "TestMTNProvisioning"),
	fact("order of checks: key, call, token, target, reference, body, currency, callback host, duplicate", operatorapi.Assumed, ourChoice,
		"TestMTNRefusals"),
	fact("`X-Target-Environment`: `mtnivorycoast`, `mtnbenin`, `mtnrwanda`, `sandbox`; others 500 `NOT_ALLOWED_TARGET_ENVIRONMENT`",
		operatorapi.Documented, portal, "TestMTNRefusals"),
	differs(fact("under the target `sandbox`, EUR is taken, and balances are told in EUR", operatorapi.Documented, recorded, "TestMTNAccount"),
		"its sandbox takes EUR only"),
	differs(fact("`amount`: a text; `5.0` is 5, a number is taken too, and a fraction other than zero is refused, as the currencies have none",
		operatorapi.Assumed, ourChoice, "TestMTNRefusals"),
		"decimals count where the currency has them, such as EUR"),
	fact("400 has no body", operatorapi.Assumed, ourChoice, "TestMTNRefusals"),
	fact("`payerMessage`, `payeeNote`: up to 160 characters, no apostrophe", operatorapi.Documented, portal, "TestMTNRefusals"),
	differs(fact("parties other than `MSISDN` are refused with 400: no account here has another name", operatorapi.Assumed, ourChoice, "TestMTNRefusals"),
		"knows `EMAIL` and `PARTY_CODE` too"),
	fact("a reference that is taken: 409 `RESOURCE_ALREADY_EXIST`, whatever the body", operatorapi.Documented, recorded,
		"TestMTNEveryCallThatMovesMoney"),
	fact("order of fields of the status; `financialTransactionId` has ten digits and only a success has it", operatorapi.Documented, observed,
		"TestMTNRequestToPay"),
	fact("`reason` is a text", operatorapi.Documented, observed, "TestMTNFailures"),
	fact("too little money `NOT_ENOUGH_FUNDS`, unknown payer `PAYER_NOT_FOUND`, limit `PAYER_LIMIT_REACHED`, no answer `EXPIRED`, refused by "+
		"the payer `APPROVAL_REJECTED`, unavailable `SERVICE_UNAVAILABLE`", operatorapi.Documented, portal, "TestMTNFailures"),
	fact("a wrong PIN: `APPROVAL_REJECTED`; a blocked payee: `PAYEE_NOT_ALLOWED_TO_RECEIVE`", operatorapi.Assumed, ourChoice, "TestMTNFailures"),
	fact("a blocked payer: `SENDER_ACCOUNT_NOT_ACTIVE`", operatorapi.ThirdParty, clients, "TestMTNFailures"),
	fact("`fidelity: Vague`: every failure is `INTERNAL_PROCESSING_ERROR`", operatorapi.Documented, recorded, "TestMTNFailures"),
	differs(fact("test numbers 46733123450 to 454, and 56733123453; a payout to one of them has its outcome at once", operatorapi.Documented, recorded,
		"TestMTNFailures"),
		"a payout to 46733123454 takes 4 to 45 seconds"),
	differs(fact("test numbers 46733123455 to 464: accepted, then failed with their reason", operatorapi.Assumed, portal, "TestMTNFailures"),
		"documented is which outcome each has; how it is told was not observed"),
	fact("test values 1 to 13 of `referenceIdToRefund`: accepted, then failed with their reason; 6 succeeds", operatorapi.Assumed, portal,
		"TestMTNTestPartiesOfPayouts"),
	fact("account holders 46733123450 to 455, and the e-mail addresses `notfound@email.com` and `notactive@email.com`", operatorapi.Documented,
		portal, "TestMTNAccount"),
	fact("the other e-mail addresses of tests: `notallowed@email.com`, `notallowedtargetenvironment@email.com`, "+
		"`internalprocessingerror@email.com`, `serviceunavailable@email.com`", operatorapi.Assumed, portal, "TestMTNAccount"),
	differs(fact("every other number: by its test client; without one, by `unknownMsisdnPolicy`",
		operatorapi.Documented, recorded, "TestMTNFailures"),
		"its sandbox lets every other number pay"),
	differs(fact("callbacks: once, unsigned, without the reference, `Content-Type: application/json; charset=utf-8`", operatorapi.Documented, recorded,
		"TestCallbacksOfOperators"),
		"its pages differ: one attempt, or attempts for hours. Do not rely on one callback alone"),
	differs(fact("callbacks: POST for v1_0, PUT for v2_0 (the vendor's pages differ)", operatorapi.Assumed, portal, "TestCallbacksOfOperators"),
		"its pages differ: PUT or POST. Take both"),
	fact("callbacks of an API user go to its `providerCallbackHost` only: 500 `INVALID_CALLBACK_URL_HOST`", operatorapi.Documented, recorded,
		"TestMTNProvisioning"),
	fact("over the rate limit: 429 and the gateway's body", operatorapi.Assumed, ourChoice,
		"TestSuspendedSandboxesAndLimitsInTheShapeOfTheOperator"),
	fact("suspended, over the quota, database unavailable: 503 `SERVICE_UNAVAILABLE`", operatorapi.Documented, portal,
		"TestSuspendedSandboxesAndLimitsInTheShapeOfTheOperator"),
	differs(fact("callbacks: to http and https, any port, and to addresses where `spec.callbackHosts` allows them", operatorapi.Assumed, ourChoice,
		"TestCallbacksGoWhereTheSandboxAllows"),
		"production calls names only, with https on port 443"),
	differs(fact("balances are whole units", operatorapi.Assumed, ourChoice, exchanges+"account"),
		"production tells decimals, `35.83`"),
	differs(fact("every refusal has the header `X-Cauri-Reason`", operatorapi.Assumed, ourChoice, exchanges+payCall),
		"has no such header"),
	differs(fact("any body is taken by the token calls: none, JSON, a form", operatorapi.ThirdParty, clients, exchanges+"token"),
		"its gateway was seen to answer 411 to a POST without `Content-Length`, and an HTML page, `Request Rejected`, to a form"),
	differs(fact("not here: consent (`bc-authorize`, `oauth2`), pre-approvals, invoices, cash transfers",
		operatorapi.Documented, portal, "TestStrangersGetNothingFromOperators"),
		"has them"),
}

// differs returns the fact with the difference to MTN's own API.
func differs(f operatorapi.Fact, how string) operatorapi.Fact {
	f.Real = how
	return f
}

func fact(what string, mark operatorapi.Mark, source, test string) operatorapi.Fact {
	return operatorapi.Fact{What: what, Mark: mark, Source: source, Test: test}
}
