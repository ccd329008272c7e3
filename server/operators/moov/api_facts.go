package moov

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

const (
	clients   = "published clients"
	ourChoice = "our choice"
)

// facts are the facts for the page of fidelity that are not in the routes.
var facts = []operatorapi.Fact{
	fact("Benin is SOAP, Togo JSON; a country without an enabled environment, and Côte d'Ivoire, answer 404 without a body", operatorapi.Assumed,
		ourChoice, "TestMoovOfCountries"),
	fact("a token is `counter:username:password`, by AES-256-CBC with the key that all clients have, in Base64; with the initialization "+
		"vector zero, or with one in front", operatorapi.ThirdParty, clients, "TestMoovTokens"),
	differs(fact("a token does not expire, and its counter is not compared", operatorapi.Assumed, ourChoice, "TestMoovTokens"),
		"unknown whether a counter may come twice"),
	fact("a wrong token: status 98 of SOAP, code 99 of JSON, with HTTP 200", operatorapi.ThirdParty, clients, "TestStrangersGetNothingFromMoov"),
	fact("SOAP: `Push` waits for the payer, and answers with the outcome", operatorapi.ThirdParty, clients, "TestMoovPushWaitsForThePayer"),
	differs(fact("after 50 s, or if too many answers are held, `Push` answers status 100", operatorapi.Assumed, ourChoice,
		"TestMoovPushThatNobodyAnswers"), "clients wait for 10 s to a minute; unknown how long Moov does"),
	fact("SOAP: `PushWithPending` answers status 100 at once, without a reference", operatorapi.ThirdParty, clients, "TestMoovPush"),
	fact("SOAP: `getTransactionStatus` finds the reference of the client, and that of Moov", operatorapi.ThirdParty, clients, "TestMoovPush"),
	fact("SOAP: `transferFlooz`, `cashintrans` and `airtimetrans` pay from the float", operatorapi.ThirdParty, clients, "TestMoovPayouts"),
	fact("SOAP: `getBalance` is the float with two decimals, `getMobileAccountStatus` the test client of a number", operatorapi.ThirdParty, clients,
		"TestMoovAccounts"),
	fact("statuses of Benin: 0, 100, 3, 7, 8, 10, 11, 12, 13, 91, 92, 94, 95, 98, 99, 555; too little money is 10 of the payer, 8 of the merchant",
		operatorapi.ThirdParty, clients, "TestMoovFailures"),
	differs(fact("of the statuses, 91 is an incomplete request and 92 no answer of the payer", operatorapi.ThirdParty, clients, "TestMoovFailures"),
		"one client reads 91 as a timeout and 94 as incomplete"),
	fact("a wrong PIN and a taken reference: status 95; a locked account: 7; unavailable: 99", operatorapi.Assumed, ourChoice, "TestMoovFailures"),
	fact("codes of Togo: 0, 1, 3, 4, 9, 10, 99; every failure of a payment is 10, and `message` says which", operatorapi.ThirdParty, clients,
		"TestMoovFailures"),
	fact("`fidelity: Vague`: status 95, code 10, with the text FAILED", operatorapi.Assumed, ourChoice, "TestMoovFailures"),
	fact("SOAP: any prefix and namespace, any order of fields, a declared encoding of UTF-16, any `Content-Type`, no `SOAPAction`",
		operatorapi.ThirdParty, clients, "TestMoovEnvelopes"),
	fact("SOAP: answers have the literal prefixes `soap:` and `ns2:`", operatorapi.ThirdParty, clients, "TestMoovEnvelopes"),
	fact("SOAP: what cannot be read, and an unknown operation, are faults with HTTP 500; an amount that is no number is `For input string`",
		operatorapi.ThirdParty, clients, "TestMoovRefusals"),
	fact("SOAP: the WSDL is at `UssdPush?wsdl` and needs no token", operatorapi.Assumed, ourChoice, "TestMoovWSDL"),
	differs(fact("Moov's reference is the code of the transaction, of 26 letters and digits", operatorapi.Assumed, ourChoice, "TestMoovPush"),
		"15 to 17 digits, such as `72024103000000009`"),
	fact("numbers have their country code or not; Benin's have 10 digits, or the 8 of the time before", operatorapi.ThirdParty, clients,
		"TestMoovRefusals"),
	differs(fact("Togo's callback: JSON, once, unsigned, to `environments[].callbackURL`", operatorapi.ThirdParty, clients, "TestMoovCallbacks"),
		"one old client reads a form. Take both"),
	differs(fact("Benin's callback is the same", operatorapi.Assumed, ourChoice, "TestMoovCallbacks"), "no callback of Benin is known"),
	fact("over the limit 429, suspended or over the quota 503: a fault of SOAP, code 100 of JSON", operatorapi.Assumed, ourChoice, "TestMoovFaults"),
	fact("not here: refunds, of which no client knows a call, and the SOAP of Togo of 2014", operatorapi.ThirdParty, clients, "TestMoovOfCountries"),
}

func fact(what string, mark operatorapi.Mark, source, test string) operatorapi.Fact {
	return operatorapi.Fact{What: what, Mark: mark, Source: source, Test: test}
}

// differs returns a fact with the known difference of Moov's own API.
func differs(f operatorapi.Fact, theirs string) operatorapi.Fact {
	f.Real = theirs
	return f
}
