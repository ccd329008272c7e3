package airtel

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

const (
	portal    = "Airtel portal"
	observed  = "Airtel portal; recorded by clients"
	clients   = "published clients"
	ourChoice = "our choice"
)

// facts are the facts for the page of fidelity that are not in the routes.
var facts = []operatorapi.Fact{
	differs(fact("a token lives for 180 seconds of the sandbox's time, which `expires_in` tells as a text", operatorapi.Documented, portal, "TestAirtelTokens"),
		"some countries answer 7200, and some a number"),
	fact("a token or a client that is wrong: 401 `invalid_token`, 401 `invalid_client`", operatorapi.Documented, observed,
		"TestStrangersGetNothingFromAirtel"),
	fact("the status 401 of a wrong client; the token call takes a form too", operatorapi.ThirdParty, clients, "TestAirtelTokens"),
	fact("`X-Country` is checked first: without it, or with one that the sandbox has no environment for, 400 `ROUTER110`", operatorapi.Documented,
		observed, "TestAirtelRefusals"),
	fact("`X-Currency`: without it 200 with `ESB000008`, with a wrong one \"Invalid/Missing Currency\"", operatorapi.Documented, observed,
		"TestAirtelRefusals"),
	fact("`country` and `currency` inside of bodies are optional", operatorapi.Documented, observed, "TestAirtelRefusals"),
	fact("numbers have no country code; one with it is taken too", operatorapi.Documented, portal, "TestAirtelRefusals"),
	fact("a number of another length: `DP00900001013` of disbursements", operatorapi.Documented, observed, "TestAirtelRefusals"),
	fact("amounts of zero, below it or with decimals: `DP00800001004`; `5.0` is 5", operatorapi.Documented, observed, "TestAirtelRefusals"),
	fact("a body that is no JSON: 415 for another type, without a body; 200 with `ESB000008` for a missing field", operatorapi.Documented, observed,
		"TestAirtelRefusals"),
	fact("a `transaction.id` that is taken: `ESB000041`, of disbursements `DP00900001017`, whatever the body", operatorapi.Documented, observed,
		"TestAirtelPayment"),
	fact("`data.transaction.id` repeats the id of the request, and only a success has `airtel_money_id`", operatorapi.Documented, observed,
		"TestAirtelPayment"),
	differs(fact("`airtel_money_id` begins with a time and ends with the code of the transaction", operatorapi.Assumed, ourChoice, "TestAirtelPayment"),
		"forms such as `MP210603.1234.L06941`, or digits"),
	fact("states `TS`, `TF`, `TIP`, `TE`, and the response codes of failures", operatorapi.Documented, portal, "TestAirtelFailures"),
	fact("a failure in an enquiry has `success` false and `ESB000011`", operatorapi.Assumed, ourChoice, "TestAirtelFailures"),
	fact("`fidelity: Vague`: every failure is the ambiguous `DP00800001000` or `DP00900001000`", operatorapi.Assumed, ourChoice, "TestAirtelFailures"),
	fact("an unknown id: `ESB000045` with `DP00800001025`, of disbursements `DP00900001015`", operatorapi.Documented, portal, "TestAirtelPayment"),
	differs(fact("a refund returns what is left of the collection", operatorapi.Documented, portal, "TestAirtelRefund"),
		"newer documents of some countries have partial refunds"),
	fact("the PIN: RSA with OAEP and SHA-256, or with PKCS#1 v1.5, by the key of `encryption-keys`", operatorapi.Documented, portal,
		"TestAirtelDisbursement"),
	fact("a wrong PIN is `ROUTER115`, one that cannot be decrypted `ROUTER116`", operatorapi.Assumed, ourChoice, "TestAirtelDisbursement"),
	differs(fact("requests are not signed: `x-signature` and `x-key` are ignored", operatorapi.Documented, portal, "TestAirtelPayment"),
		"some countries need them"),
	fact("the callback of a payment goes once to `environments[].callbackURL`: `TS` or `TF`", operatorapi.Documented, portal, "TestAirtelCallbacks"),
	fact("with `callbackHash`, `hash` is the HMAC-SHA256 of the body without it, in Base64", operatorapi.Documented, portal, "TestAirtelCallbacks"),
	fact("429, 404, 500 and 503 have the envelope of errors with `ESB000001`", operatorapi.Assumed, ourChoice, "TestAirtelFaults"),
}

func fact(what string, mark operatorapi.Mark, source, test string) operatorapi.Fact {
	return operatorapi.Fact{What: what, Mark: mark, Source: source, Test: test}
}

// differs returns a fact with the known difference of Airtel's own API.
func differs(f operatorapi.Fact, theirs string) operatorapi.Fact {
	f.Real = theirs
	return f
}
