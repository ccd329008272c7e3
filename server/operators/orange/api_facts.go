package orange

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

const (
	guide    = "Orange developer portal, WebPay guide"
	recorded = "answers recorded by clients"
)

// facts are the facts for the page of fidelity that are not in the routes.
var facts = []operatorapi.Fact{
	operatorapi.Documented.Fact("a token of `v3` lives for 3600 seconds of the sandbox's time, a number", guide, "TestOrangeTokens"),
	operatorapi.ThirdParty.Fact("a token of `v2`: `\"7776000\"`, a text; it ends after a day of real time", operatorapi.PublishedClients,
		"TestOrangeTokens").Differs("it lives for 90 days"),
	operatorapi.Documented.Fact("a token that is missing, wrong or expired: 401 with code 40, 41 or 42", guide, "TestOrangeTokens"),
	operatorapi.Documented.Fact("another method of a path: 405 with code 61", guide, "TestOrangeTokens"),
	operatorapi.Assumed.Fact("a country in the path that has not two letters: 400 with code 20, whose cause is ours",
		operatorapi.OurChoice, "TestOrangeRefusals"),
	operatorapi.Assumed.Fact("not given: 25 and 26 (no header but `Authorization` is needed), 63 (a request that is too slow ends with "+
		"its connection), 1201 (which action is forbidden is not known)",
		operatorapi.OurChoice, "TestOrangeRefusals").Differs("has them"),
	operatorapi.Documented.Fact("`Accept` is ignored", guide, "TestOrangeTokens").Differs(
		"`v3` answers 406 without `Accept: application/json`"),
	operatorapi.Documented.Fact("errors have `code`, `message` and `description`", guide, "TestOrangeRefusals"),
	operatorapi.ThirdParty.Fact("1202, 1203, 1204: merchant key, currency, order id", "one copy of the vendor's table",
		"TestOrangeRefusals"),
	operatorapi.ThirdParty.Fact("a field that is missing is 23, one that is wrong 24", recorded, "TestOrangeRefusals"),
	operatorapi.ThirdParty.Fact("transactionstatus names the field that is missing as `Key: 'GetTransactionStatusInfo.OrderId'`; the "+
		"end of the text is ours, and that of webpayment without the key too",
		recorded, "TestOrangeRefusals"),
	operatorapi.Documented.Fact("a request without a body is 21, one that is no JSON 22; the descriptions are ours", guide,
		"TestOrangeRefusals"),
	operatorapi.Documented.Fact("`currency` is `OUV` under `dev`, which means the first environment, and is booked one to one in its "+
		"currency",
		guide, "TestOrangePayment"),
	operatorapi.Documented.Fact("`amount` is a number or a text", guide, "TestOrangeRefusals"),
	operatorapi.ThirdParty.Fact("`order_id` is a text; a number is refused with 24", recorded, "TestOrangeRefusals"),
	operatorapi.Assumed.Fact("the three URLs may be of `localhost`", operatorapi.OurChoice, "TestOrangeRefusals").Differs(
		"refuses `localhost` and `127.0.0.1`"),
	operatorapi.Documented.Fact("`order_id` has at most 30 characters, and is refused while it is an open order's or a reference", guide,
		"TestOrangeOrders"),
	operatorapi.Assumed.Fact("the id of an order that ended without a payment may be used again", operatorapi.OurChoice,
		"TestOrangeOrders"),
	operatorapi.Documented.Fact("states `INITIATED`, `PENDING`, `SUCCESS`, `FAILED`, `EXPIRED`; `txnid` only after a success", guide,
		"TestOrangeStates"),
	operatorapi.Assumed.Fact("an order that nobody confirms is `EXPIRED` after 10 minutes of the sandbox's time", operatorapi.OurChoice,
		"TestOrangeOrders"),
	operatorapi.Assumed.Fact("an order whose payer cancels on the page is `FAILED`, and no notification is sent", operatorapi.OurChoice,
		"TestOrangePage"),
	operatorapi.Assumed.Fact("a status of an order, amount or token that do not belong together: 404 with code 60", operatorapi.OurChoice,
		"TestOrangeOrders"),
	operatorapi.Assumed.Fact("the page asks for number and code at once, and five wrong codes end the order", operatorapi.OurChoice,
		"TestOrangePage").Differs("its page asks for them one after the other"),
	operatorapi.Assumed.Fact("the code of a number: `GET /v1/test_clients/{msisdn}/otp`, or its handset; `123456` for test numbers",
		operatorapi.OurChoice, "TestOrangePage").Differs("the payer gets it from the menu, `#144*82#` in Côte d'Ivoire"),
	operatorapi.Documented.Fact("after a decision the browser goes to `return_url`, if the payer cancels to `cancel_url`, without "+
		"parameters",
		guide, "TestOrangePage"),
	operatorapi.Documented.Fact("the notification: once, unsigned, `status`, `notif_token`, `txnid`; none if nobody confirmed", guide,
		"TestOrangeNotification"),
	operatorapi.Documented.Fact("`txnid` is a minute, a letter and five digits, `MP150709.1341.A00073`", guide, "TestOrangeStates").Differs(
		"here two payments of a minute may have the same one"),
	operatorapi.Documented.Fact("429, 500, 503 have codes 53, 1, 5", guide, "TestOrangeFaults"),
	operatorapi.Assumed.Fact("every refusal has the header `X-Cauri-Reason`", operatorapi.OurChoice, "TestOrangeRefusals").Differs(
		"has no such header"),
	operatorapi.Assumed.Fact("callbacks have the header `User-Agent: Cauri-Callbacks/` with Cauri's version", operatorapi.OurChoice,
		"TestUserAgentOfCallbacks").Differs("unknown. Do not decide by it"),
}
