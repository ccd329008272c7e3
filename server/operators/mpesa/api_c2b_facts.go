package mpesa

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

// c2bFacts are the facts about C2B.
var c2bFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("`OriginatorCoversationID` lacks a letter", portal, "TestMPesaC2B"),
	operatorapi.Documented.Fact("C2B: a wrong token is 400 `400.003.01`, a wrong field `400.003.02`, a body that cannot be read `400.002.05`", portal,
		"TestMPesaC2BRefusals"),
	operatorapi.Assumed.Fact("C2B: an unknown short code, and a URL that cannot be registered, are 400 `400.003.02`", operatorapi.OurChoice,
		"TestMPesaC2BRefusals"),
	operatorapi.Documented.Fact("another method of a path of C2B or of the transaction status: 404 `404.001.04`", portal, "TestMPesaC2BRefusals"),
	operatorapi.Documented.Fact("`ResponseType` is `Completed` or `Cancelled`, spelled so", portal, "TestMPesaC2BRefusals"),
	operatorapi.Documented.Fact("a URL that is registered has none of the words mpesa, safaricom, exe, exec, cmd, sql, query", portal,
		"TestMPesaC2BRefusals").Differs("which variants of them, is not known"),
	operatorapi.Assumed.Fact("URLs may be of internal hosts and of public testers, if `spec.callbackHosts` allows them", operatorapi.OurChoice,
		"TestMPesaC2BRefusals").Differs("refuses them"),
	operatorapi.Documented.Fact("URLs are registered again as often as wanted", portal+", of its sandbox", "TestMPesaC2BRegistersAgain").Differs(
		"in production once"),
	operatorapi.Assumed.Fact("each short code has its own URLs, which end with a rotation of the API key and with a reset", operatorapi.OurChoice,
		"TestMPesaC2BOfEachSandbox"),
	operatorapi.Assumed.Fact("a validation is asked whenever a `ValidationURL` is registered", operatorapi.OurChoice, "TestMPesaC2BValidation").Differs(
		"external validation is off until Safaricom turns it on"),
	operatorapi.Documented.Fact("a validation that is answered with another code than 0 ends the payment, and no money moves", portal,
		"TestMPesaC2BValidation"),
	operatorapi.Documented.Fact("without an answer within 8 seconds, `ResponseType` decides", portal, "TestMPesaC2BValidation"),
	operatorapi.Assumed.Fact("an answer with another status than 200, or without `ResultCode`, is none", operatorapi.OurChoice, "TestMPesaC2BValidation"),
	operatorapi.Assumed.Fact("`simulate` answers after the validation", operatorapi.OurChoice, "TestMPesaC2BValidation").Differs("answers at once"),
	operatorapi.Documented.Fact("the `ThirdPartyTransID` of the shop's answer returns in the confirmation", portal, "TestMPesaC2BValidation"),
	operatorapi.Documented.Fact("all values of validation and confirmation are texts, and the balance of a validation is empty", portal, "TestMPesaC2B"),
	operatorapi.Documented.Fact("`MSISDN` is masked, `2547 ***** 126`, for URLs that were registered with v2", portal, "TestMPesaC2B"),
	operatorapi.ThirdParty.Fact("`MSISDN` is the SHA-256 of the number, in hexadecimal, for URLs that were registered with v1", operatorapi.PublishedClients,
		"TestMPesaC2B"),
	operatorapi.Documented.Fact("the confirmation goes once, after a paid payment, and unsigned", portal, "TestMPesaC2BConfirmation"),
	operatorapi.Documented.Fact("a paid push is confirmed too", portal, "TestMPesaC2BOfPush"),
	operatorapi.Documented.Fact("a push is validated before it is paid, with the `TransID` of its confirmation", portal, "TestMPesaC2BOfPush"),
	operatorapi.Assumed.Fact("a push is validated before the phone rings, and one that is rejected is 500 `500.001.1001`", operatorapi.OurChoice,
		"TestMPesaC2BOfPush").Differs("what the push then ends with, is not known"),
	operatorapi.Assumed.Fact("a payment of a number that nobody has is not asked about, and fails", operatorapi.OurChoice, "TestMPesaC2BConfirmation"),
}

// pullFacts are the facts about Pull.
var pullFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("Pull: a wrong token is 401 `401.001`, a short code that is unknown or not registered 400 `400.001`", portal,
		"TestMPesaPullRefusals"),
	operatorapi.Assumed.Fact("Pull: another wrong field is 400 `400.002.02`", operatorapi.OurChoice, "TestMPesaPullRefusals"),
	operatorapi.Documented.Fact("a short code that is registered again is answered 1001, with HTTP 200", portal, "TestMPesaPullRegisters"),
	operatorapi.Documented.Fact("the answer to a registration has `ResponseStatus`; with `quirks: {mpesaBlankKeys: true}`, `Response Status`",
		portal+"; its sandbox, which one program of two found with a blank", "TestMPesaPullRegisters"),
	operatorapi.Assumed.Fact("nothing is sent to the `CallBackURL` of a registration", operatorapi.OurChoice, "TestMPesaPullRegisters"),
	operatorapi.Documented.Fact("a query is sent with GET or POST, and has a body", portal+"; "+operatorapi.PublishedClients, "TestMPesaPull"),
	operatorapi.Documented.Fact("times of a query have an hour of one or two digits, and may have no seconds, or three digits of them", portal,
		"TestMPesaPullTimes"),
	operatorapi.ThirdParty.Fact("times of a query are Nairobi's", operatorapi.PublishedClients, "TestMPesaPullTimes"),
	operatorapi.Assumed.Fact("`trxDate` is in UTC, as its Z says", operatorapi.OurChoice, "TestMPesaPull"),
	operatorapi.Assumed.Fact("Pull lists what was paid to its short code; a payment of `/v1` is one to the sandbox's own", operatorapi.OurChoice, "TestMPesaPull"),
	operatorapi.Documented.Fact("what was paid more than 48 hours ago is not listed", portal, "TestMPesaPullForgets"),
	operatorapi.Documented.Fact("`OffSetValue` is a number of payments, and a page has 100", portal, "TestMPesaPullPages"),
	operatorapi.Documented.Fact("`Response` is a list in a list", portal, "TestMPesaPull"),
	operatorapi.Documented.Fact("`msisdn` is a number without the country code, and not masked", portal, "TestMPesaPull"),
	operatorapi.Documented.Fact("`sender` is `MPESA`", "Safaricom's sandbox, read by two programs", "TestMPesaPull"),
	operatorapi.ThirdParty.Fact("`transactiontype` of a till is `c2b-buy-goods-debit`", operatorapi.PublishedClients, "TestMPesaPull"),
	operatorapi.Assumed.Fact("pushes and payments of `/v1` are listed too, for each short code of the sandbox", operatorapi.OurChoice, "TestMPesaPull"),
	operatorapi.Documented.Fact("without payments, `ResponseCode` is 1001", portal, "TestMPesaPull").Differs("the list is under another key"),
	operatorapi.Assumed.Fact("without payments, `Response` is a list with an empty list", operatorapi.OurChoice, "TestMPesaPull"),
}
