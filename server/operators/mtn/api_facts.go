package mtn

import (
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	portal   = "MTN portal"
	recorded = "MTN portal; recorded by sandbox users"
	observed = "recorded by sandbox users"
)

// facts are the facts for the page of fidelity that are not in the routes.
var facts = []operatorapi.Fact{
	operatorapi.Documented.Fact("`Ocp-Apim-Subscription-Key` is checked before everything else, also as the query `subscription-key`; "+
		"without it, or with a wrong one, 401 and the gateway's body",
		portal, "TestStrangersGetNothingFromOperators"),
	operatorapi.ThirdParty.Fact("a wrong user or password: 401 `login_failed`", operatorapi.PublishedClients, "TestMTNTokens"),
	operatorapi.Assumed.Fact("a token that is missing, wrong, expired or of another product: 401 `invalid_token`, without a `statusCode`",
		operatorapi.OurChoice, "TestStrangersGetNothingFromOperators"),
	operatorapi.Assumed.Fact("a token lives for an hour of the sandbox's time, and a day of real time at most", operatorapi.OurChoice,
		"TestMTNTokens").Differs("an hour"),
	operatorapi.Assumed.Fact("one API user serves all three products", operatorapi.OurChoice, "TestMTNProvisioning").Differs(
		"its sandbox ties a user to the product whose subscription key made it; tokens of the others are refused with 500 " +
			"`NOT_ALLOWED_TARGET_ENVIRONMENT`"),
	operatorapi.Assumed.Fact("an older API key of a user stops working when a new one is made", operatorapi.OurChoice,
		"TestMTNProvisioning"),
	operatorapi.Assumed.Fact("order of checks: key, call, token, target, reference, body, currency, callback host, duplicate",
		operatorapi.OurChoice, "TestMTNRefusals"),
	operatorapi.Documented.Fact("`X-Target-Environment`: "+payments.AllOf(targets("`"))+", and `sandbox`; others 500 "+
		"`NOT_ALLOWED_TARGET_ENVIRONMENT`",
		portal, "TestMTNRefusals"),
	operatorapi.Documented.Fact("under the target `sandbox`, EUR is taken, and balances are told in EUR", recorded,
		"TestMTNAccount").Differs("its sandbox takes EUR only"),
	operatorapi.Assumed.Fact("`amount`: a text; `5.0` is 5, a number is taken too, and a fraction other than zero is refused, as "+
		"amounts here have none",
		operatorapi.OurChoice, "TestMTNRefusals").Differs("decimals count where the currency has them, such as EUR"),
	operatorapi.Assumed.Fact("400 has no body", operatorapi.OurChoice, "TestMTNRefusals"),
	operatorapi.Documented.Fact("`payerMessage`, `payeeNote`: up to 160 characters, no apostrophe", portal, "TestMTNRefusals"),
	operatorapi.ThirdParty.Fact("`payerMessage` has no `&`", observed, "TestMTNRefusals"),
	operatorapi.Assumed.Fact("`payeeNote` has no `&` either", operatorapi.OurChoice, "TestMTNRefusals"),
	operatorapi.ThirdParty.Fact("`X-Callback-Url` without a value: 400", observed, "TestMTNRefusals"),
	operatorapi.Documented.Fact("a POST without `Content-Length`: 411 with a page of the gateway, also without a body", observed,
		"TestPOSTWithoutALength").Differs("checks it before the subscription key"),
	operatorapi.Documented.Fact("a number that begins with 0, such as `0248888736`, is taken", "MTN portal, samples",
		"TestMTNNumbersOfItsSamples").Differs("whose it is there is unknown. Here the country's code of the target is put in front of it"),
	operatorapi.Assumed.Fact("`externalId`, `partyId` and `referenceIdToRefund` may be numbers", operatorapi.OurChoice, "TestMTNRefusals"),
	operatorapi.Assumed.Fact("parties other than `MSISDN` are refused with 400: no account here has another name", operatorapi.OurChoice,
		"TestMTNRefusals").Differs("knows `EMAIL` and `PARTY_CODE` too"),
	operatorapi.Documented.Fact("a reference that is taken: 409 `RESOURCE_ALREADY_EXIST`, whatever the body", recorded,
		"TestMTNEveryCallThatMovesMoney"),
	operatorapi.Documented.Fact("order of fields of the status; `financialTransactionId` has ten digits and only a success has it",
		observed, "TestMTNRequestToPay"),
	operatorapi.Documented.Fact("`reason` is a text", observed, "TestMTNFailures"),
	operatorapi.Documented.Fact("too little money `NOT_ENOUGH_FUNDS`, unknown payer `PAYER_NOT_FOUND`, limit `PAYER_LIMIT_REACHED`, no "+
		"answer `EXPIRED`, refused by the payer `APPROVAL_REJECTED`, unavailable `SERVICE_UNAVAILABLE`",
		portal, "TestMTNFailures"),
	operatorapi.Assumed.Fact("a wrong PIN: `APPROVAL_REJECTED`; a blocked payee: `PAYEE_NOT_ALLOWED_TO_RECEIVE`", operatorapi.OurChoice,
		"TestMTNFailures"),
	operatorapi.ThirdParty.Fact("a blocked payer: `SENDER_ACCOUNT_NOT_ACTIVE`", operatorapi.PublishedClients, "TestMTNFailures"),
	operatorapi.Documented.Fact("`fidelity: Vague`: every failure is `INTERNAL_PROCESSING_ERROR`", recorded, "TestMTNFailures"),
	operatorapi.Documented.Fact("test numbers 46733123450 to 454, and 56733123453; a payout to one of them has its outcome at once",
		recorded, "TestMTNFailures").Differs("a payout to 46733123454 takes 4 to 45 seconds"),
	operatorapi.Assumed.Fact("test numbers 46733123455 to 464: accepted, then failed with their reason", portal,
		"TestMTNFailures").Differs("documented is which outcome each has; how it is told was not observed"),
	operatorapi.Assumed.Fact("test values 1 to 13 of `referenceIdToRefund`: accepted, then failed with their reason; 6 succeeds", portal,
		"TestMTNTestPartiesOfPayouts"),
	operatorapi.Documented.Fact("account holders 46733123450 to 455, and the e-mail addresses `notfound@email.com` and "+
		"`notactive@email.com`",
		portal, "TestMTNAccount"),
	operatorapi.Assumed.Fact("the other e-mail addresses of tests: `notallowed@email.com`, `notallowedtargetenvironment@email.com`, "+
		"`internalprocessingerror@email.com`, `serviceunavailable@email.com`",
		portal, "TestMTNAccount"),
	operatorapi.Documented.Fact("under the target `sandbox`, every other number pays, unless a test client has it", recorded,
		"TestMTNSandboxLetsAnyNumberPay").Differs("its sandbox has no test clients"),
	operatorapi.Assumed.Fact("under a country's target, a number without a test client follows `unknownMsisdnPolicy`", operatorapi.OurChoice,
		"TestMTNFailures").Differs("it is known if it has an account"),
	operatorapi.Documented.Fact("callbacks: once, unsigned, without the reference, `Content-Type: application/json; charset=utf-8`",
		recorded, "TestCallbacksOfOperators").Differs(
		"its pages differ: one attempt, or attempts for hours. Do not rely on one callback alone"),
	operatorapi.Assumed.Fact("callbacks: POST for v1_0, PUT for v2_0 (the vendor's pages differ)", portal,
		"TestCallbacksOfOperators").Differs("its pages differ: PUT or POST. Take both"),
	operatorapi.Documented.Fact("callbacks of an API user go to its `providerCallbackHost` only: 500 `INVALID_CALLBACK_URL_HOST`",
		recorded, "TestMTNProvisioning"),
	operatorapi.Assumed.Fact("over the rate limit: 429 and the gateway's body", operatorapi.OurChoice,
		"TestSuspendedSandboxesAndLimitsInTheShapeOfTheOperator"),
	operatorapi.Documented.Fact("suspended, over the quota, database unavailable: 503 `SERVICE_UNAVAILABLE`", portal,
		"TestSuspendedSandboxesAndLimitsInTheShapeOfTheOperator"),
	operatorapi.Assumed.Fact("callbacks: to http and https, any port, and to addresses where `spec.callbackHosts` allows them",
		operatorapi.OurChoice, "TestCallbacksGoWhereTheSandboxAllows").Differs("production calls names only, with https on port 443"),
	operatorapi.Assumed.Fact("balances are whole units", operatorapi.OurChoice, exchanges+"account").Differs(
		"production tells decimals, `35.83`"),
	operatorapi.Assumed.Fact("every refusal has the header `X-Cauri-Reason`", operatorapi.OurChoice, exchanges+payCall).Differs(
		"has no such header"),
	operatorapi.ThirdParty.Fact("any body is taken by the token calls: none, JSON, a form", operatorapi.PublishedClients,
		exchanges+"token").Differs(
		"its gateway was seen to answer a form with an HTML page, `Request Rejected`"),
	operatorapi.Documented.Fact("not here: consent (`bc-authorize`, `oauth2`), pre-approvals, invoices, cash transfers", portal,
		"TestStrangersGetNothingFromOperators").Differs("has them"),
}
