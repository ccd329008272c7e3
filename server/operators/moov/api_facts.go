package moov

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

// facts are the facts for the page of fidelity that are not in the routes.
var facts = []operatorapi.Fact{
	operatorapi.Assumed.Fact("Benin is SOAP, Togo JSON; a country without an enabled environment, and Côte d'Ivoire, answer 404 "+
		"without a body",
		operatorapi.OurChoice, "TestMoovOfCountries"),
	operatorapi.ThirdParty.Fact("a token is `counter:username:password`, by AES-256-CBC with the key that all clients have, in Base64; "+
		"with the initialization vector zero, or with one in front",
		operatorapi.PublishedClients, "TestMoovTokens"),
	operatorapi.Assumed.Fact("a token does not expire, and its counter is not compared", operatorapi.OurChoice, "TestMoovTokens").Differs(
		"unknown whether a counter may come twice"),
	operatorapi.ThirdParty.Fact("a wrong token: status 98 of SOAP, code 99 of JSON, with HTTP 200; SOAP does not read the header `Authorization`",
		operatorapi.PublishedClients,
		"TestStrangersGetNothingFromMoov"),
	operatorapi.ThirdParty.Fact("SOAP: `Push` waits for the payer, and answers with the outcome", operatorapi.PublishedClients,
		"TestMoovPushWaitsForThePayer"),
	operatorapi.Assumed.Fact("after 50 s, or if too many answers are held, `Push` answers status 100", operatorapi.OurChoice,
		"TestMoovPushThatNobodyAnswers").Differs("clients wait for 10 s to a minute; unknown how long Moov does"),
	operatorapi.ThirdParty.Fact("SOAP: `PushWithPending` answers status 100 at once, without a reference", operatorapi.PublishedClients,
		"TestMoovPush"),
	operatorapi.ThirdParty.Fact("SOAP: `getTransactionStatus` finds the reference of the client, and that of Moov",
		operatorapi.PublishedClients, "TestMoovPush"),
	operatorapi.ThirdParty.Fact("SOAP: `transferFlooz`, `cashintrans` and `airtimetrans` pay from the float", operatorapi.PublishedClients,
		"TestMoovPayouts"),
	operatorapi.ThirdParty.Fact("SOAP: in the answer of `cashintrans` and `airtimetrans`, `referenceid` is the client's and `transid` Moov's; of "+
		"the others `referenceid` is Moov's",
		"samples of two published clients", "TestMoovPayouts"),
	operatorapi.ThirdParty.Fact("SOAP: `getBalance` is the float with two decimals, `getMobileAccountStatus` the test client of a number",
		operatorapi.PublishedClients, "TestMoovAccounts"),
	operatorapi.ThirdParty.Fact("statuses of Benin: 0, 100, 3, 7, 8, 10, 11, 12, 13, 91, 92, 94, 95, 98, 99, 555; too little money is "+
		"10 of the payer, 8 of the merchant",
		operatorapi.PublishedClients, "TestMoovFailures"),
	operatorapi.ThirdParty.Fact("of the statuses, 91 is an incomplete request and 92 no answer of the payer", operatorapi.PublishedClients,
		"TestMoovFailures").Differs("one client reads 91 as a timeout and 94 as incomplete"),
	operatorapi.Assumed.Fact("a wrong PIN and a taken reference: status 95; a locked account: 7; unavailable: 99", operatorapi.OurChoice,
		"TestMoovFailures"),
	operatorapi.ThirdParty.Fact("codes of Togo: 0, 1, 3, 4, 9, 10, 99; every failure of a payment is 10, and `message` says which",
		operatorapi.PublishedClients, "TestMoovFailures"),
	operatorapi.Assumed.Fact("`fidelity: Vague`: status 95, code 10, with the text FAILED", operatorapi.OurChoice, "TestMoovFailures"),
	operatorapi.ThirdParty.Fact("SOAP: any prefix and namespace, any order of fields, a declared encoding of UTF-16, any "+
		"`Content-Type`, no `SOAPAction`",
		operatorapi.PublishedClients, "TestMoovEnvelopes"),
	operatorapi.Assumed.Fact("SOAP: a document in ISO-8859-1 or Windows-1252 that says so is read; answers are in UTF-8", operatorapi.OurChoice,
		"TestMoovEnvelopes"),
	operatorapi.Assumed.Fact("an unknown path: 404 without a body, whatever the token is", operatorapi.OurChoice, "TestMoovUnknownPaths"),
	operatorapi.ThirdParty.Fact("SOAP: answers have the literal prefixes `soap:` and `ns2:`", operatorapi.PublishedClients,
		"TestMoovEnvelopes"),
	operatorapi.ThirdParty.Fact("SOAP: what cannot be read, and an unknown operation, are faults with HTTP 500; an amount that is no "+
		"number is `For input string`",
		operatorapi.PublishedClients, "TestMoovRefusals"),
	operatorapi.Assumed.Fact("SOAP: the WSDL is at `UssdPush?wsdl`, and at the paths of operations, and needs no token", operatorapi.OurChoice, "TestMoovWSDL"),
	operatorapi.ThirdParty.Fact("Moov's reference has 17 digits, such as `72024103000000009`: a 7 and the day first", operatorapi.PublishedClients,
		"TestMoovPush").Differs("some have 15 or 16 digits; here two transactions of a minute may have the same one"),
	operatorapi.ThirdParty.Fact("numbers have their country code or not; Benin's have 10 digits, or the 8 of the time before",
		operatorapi.PublishedClients, "TestMoovRefusals"),
	operatorapi.ThirdParty.Fact("Togo's callback: JSON, once, unsigned, to `environments[].callbackURL`", operatorapi.PublishedClients,
		"TestMoovCallbacks").Differs("one old client reads a form. Take both"),
	operatorapi.Assumed.Fact("Benin's callback is the same", operatorapi.OurChoice, "TestMoovCallbacks").Differs(
		"no callback of Benin is known"),
	operatorapi.Assumed.Fact("over the limit 429, suspended or over the quota 503: a fault of SOAP, code 100 of JSON",
		operatorapi.OurChoice, "TestMoovFaults"),
	operatorapi.ThirdParty.Fact("not here: refunds, of which no client knows a call, and the SOAP of Togo of 2014",
		operatorapi.PublishedClients, "TestMoovOfCountries"),
	operatorapi.Assumed.Fact("callbacks have the header `User-Agent: Cauri-Callbacks/` with Cauri's version", operatorapi.OurChoice,
		"TestUserAgentOfCallbacks").Differs("unknown. Do not decide by it"),
}
