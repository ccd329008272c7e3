package airtel

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

const (
	portal   = "Airtel portal"
	observed = "Airtel portal; recorded by clients"
	recorded = "recorded by clients"
	kong     = "published clients; Kong's OAuth plugin, whose texts Airtel's errors have"
	rwanda   = "recorded in Rwanda; a published Postman collection"
)

// facts are the facts for the page of fidelity that are not in the routes.
var facts = []operatorapi.Fact{
	operatorapi.Documented.Fact("a token lives for 180 seconds of the sandbox's time, which `expires_in` tells as a number", rwanda,
		"TestAirtelTokens").Differs("its portal shows a text, which `quirks: {airtelNumericExpiry: false}` gives; some countries answer 7200"),
	operatorapi.Documented.Fact("a wrong token: 401 `invalid_token`", observed, "TestStrangersGetNothingFromAirtel"),
	operatorapi.ThirdParty.Fact("the token call takes client id and secret in JSON, in a form, and by Basic authentication", kong,
		"TestAirtelTokens").Differs("its portal shows JSON only"),
	operatorapi.ThirdParty.Fact("a wrong client: `invalid_client`, with 400 if it is in the body and with 401 by Basic authentication", kong,
		"TestAirtelTokens"),
	operatorapi.Documented.Fact("`X-Country` is checked first: without it, or with one that the sandbox has no environment for, 400 "+
		"`ROUTER110`",
		observed, "TestAirtelRefusals"),
	operatorapi.Documented.Fact("`X-Currency`: without it 200 with `ESB000008`, with a wrong one \"Invalid/Missing Currency\"", observed,
		"TestAirtelRefusals"),
	operatorapi.Documented.Fact("`country` and `currency` inside of bodies are optional", observed, "TestAirtelRefusals"),
	operatorapi.Documented.Fact("numbers have no country code; one with it is taken too", portal, "TestAirtelRefusals"),
	operatorapi.Documented.Fact("a number of another length: `DP00900001013` of disbursements", observed, "TestAirtelRefusals"),
	operatorapi.Documented.Fact("amounts of zero, below it or with decimals: `DP00800001004`; `5.0` is 5", observed, "TestAirtelRefusals"),
	operatorapi.Documented.Fact("a body that is no JSON: 415 for another type, without a body; 200 with `ESB000008` for a missing field",
		observed, "TestAirtelRefusals"),
	operatorapi.Documented.Fact("a `transaction.id` that is taken: `code` 500 with `DP00800001000` and `ESB000041`, of disbursements "+
		"`DP00900001017`, whatever the body",
		"Airtel's collection of examples", "TestAirtelPayment"),
	operatorapi.ThirdParty.Fact("`transaction.id` and `reference` may be numbers; answers repeat the digits as a text",
		operatorapi.PublishedClients, "TestAirtelRefusals"),
	operatorapi.Documented.Fact("`msisdn` of a user is a text without the country code", recorded, exchanges+"account").Differs(
		"its portal shows a number"),
	operatorapi.Documented.Fact("a balance has commas between thousands and two decimals, `37,600.00`", observed, exchanges+"account"),
	operatorapi.Documented.Fact("`data.transaction.id` repeats the id of the request, and only a success has `airtel_money_id`", observed,
		"TestAirtelPayment"),
	operatorapi.Documented.Fact("`airtel_money_id` is a minute, a letter and five digits, `MP210603.1234.L06941`", observed,
		"TestAirtelPayment").Differs("in some countries digits alone; here two payments of a minute may have the same one, and a refund takes the newest"),
	operatorapi.Documented.Fact("states `TS`, `TF`, `TIP`, `TE`, and the response codes of failures", portal, "TestAirtelFailures"),
	operatorapi.Assumed.Fact("a failure in an enquiry has `success` false and `ESB000011`", operatorapi.OurChoice, "TestAirtelFailures"),
	operatorapi.Assumed.Fact("`fidelity: Vague`: every failure is the ambiguous `DP00800001000` or `DP00900001000`", operatorapi.OurChoice,
		"TestAirtelFailures"),
	operatorapi.Documented.Fact("an unknown id: `ESB000045` with `DP00800001025`, of disbursements `DP00900001015`", portal,
		"TestAirtelPayment"),
	operatorapi.Documented.Fact("a refund returns what is left of the collection", portal, "TestAirtelRefund").Differs(
		"newer documents of some countries have partial refunds"),
	operatorapi.Documented.Fact("the PIN: RSA with OAEP and SHA-256, or with PKCS#1 v1.5, by the key of `encryption-keys`", portal,
		"TestAirtelPINs"),
	operatorapi.ThirdParty.Fact("the PIN: OAEP with SHA-256 and MGF1 by SHA-1, and OAEP with SHA-1, as Java's and PHP's libraries have them",
		operatorapi.PublishedClients, "TestAirtelPINs").Differs("its documents have OAEP with SHA-256 for both"),
	operatorapi.Assumed.Fact("a wrong PIN, another key and another padding are `ROUTER115`; what is no Base64, or has not the length of the "+
		"key, is `ROUTER116`", operatorapi.OurChoice, "TestAirtelPINs"),
	operatorapi.Documented.Fact("requests are not signed: `x-signature` and `x-key` are ignored", portal, "TestAirtelPayment").Differs(
		"some countries need them"),
	operatorapi.Documented.Fact("the callback of a payment goes once to `environments[].callbackURL`: `TS` or `TF`", portal,
		"TestAirtelCallbacks"),
	operatorapi.Documented.Fact("with `callbackHash`, `hash` is the HMAC-SHA256 of the body without it, in Base64", portal,
		"TestAirtelCallbacks"),
	operatorapi.Assumed.Fact("429, 404, 500 and 503 have the envelope of errors with `ESB000001`", operatorapi.OurChoice,
		"TestAirtelFaults"),
	operatorapi.Assumed.Fact("callbacks have the header `User-Agent: Cauri-Callbacks/` with Cauri's version", operatorapi.OurChoice,
		"TestUserAgentOfCallbacks").Differs("unknown. Do not decide by it"),
}
