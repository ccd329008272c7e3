package orange

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

const (
	guide     = "Orange developer portal, WebPay guide"
	recorded  = "answers recorded by clients"
	clients   = "published clients"
	ourChoice = "our choice"
)

// facts are the facts for the page of fidelity that are not in the routes.
var facts = []operatorapi.Fact{
	fact("a token of `v3` lives for 3600 seconds of the sandbox's time, a number", operatorapi.Documented, guide, "TestOrangeTokens"),
	differs(fact("a token of `v2`: `\"7776000\"`, a text; it ends after a day of real time", operatorapi.ThirdParty, clients, "TestOrangeTokens"),
		"it lives for 90 days"),
	fact("a token that is missing, wrong or expired: 401 with code 40, 41 or 42", operatorapi.Documented, guide, "TestOrangeTokens"),
	fact("another method of a path: 405 with code 61", operatorapi.Documented, guide, "TestOrangeTokens"),
	fact("a country in the path that has not two letters: 400 with code 20, whose cause is ours", operatorapi.Assumed, ourChoice, "TestOrangeRefusals"),
	differs(fact("not given: 25 and 26 (no header but `Authorization` is needed), 63 (a request that is too slow ends with its connection), 1201 (which "+
		"action is forbidden is not known)", operatorapi.Assumed, ourChoice, "TestOrangeRefusals"), "has them"),
	differs(fact("`Accept` is ignored", operatorapi.Documented, guide, "TestOrangeTokens"), "`v3` answers 406 without `Accept: application/json`"),
	fact("errors have `code`, `message` and `description`", operatorapi.Documented, guide, "TestOrangeRefusals"),
	fact("1202, 1203, 1204: merchant key, currency, order id", operatorapi.ThirdParty, "one copy of the vendor's table", "TestOrangeRefusals"),
	fact("a field that is missing is 23, one that is wrong 24", operatorapi.ThirdParty, recorded, "TestOrangeRefusals"),
	fact("transactionstatus names the field that is missing as `Key: 'GetTransactionStatusInfo.OrderId'`; the end of the text is ours, and that of "+
		"webpayment without the key too", operatorapi.ThirdParty, recorded, "TestOrangeRefusals"),
	fact("a request without a body is 21, one that is no JSON 22; the descriptions are ours", operatorapi.Documented, guide, "TestOrangeRefusals"),
	fact("`currency` is `OUV` under `dev`, which means the first environment, and is booked one to one in its currency", operatorapi.Documented,
		guide, "TestOrangePayment"),
	fact("`amount` is a number or a text", operatorapi.Documented, guide, "TestOrangeRefusals"),
	differs(fact("the three URLs may be of `localhost`", operatorapi.Assumed, ourChoice, "TestOrangeRefusals"), "refuses `localhost` and `127.0.0.1`"),
	fact("`order_id` has at most 30 characters, and is refused while it is an open order's or a reference", operatorapi.Documented, guide,
		"TestOrangeOrders"),
	fact("the id of an order that ended without a payment may be used again", operatorapi.Assumed, ourChoice, "TestOrangeOrders"),
	fact("states `INITIATED`, `PENDING`, `SUCCESS`, `FAILED`, `EXPIRED`; `txnid` only after a success", operatorapi.Documented, guide,
		"TestOrangeStates"),
	fact("an order that nobody confirms is `EXPIRED` after 10 minutes of the sandbox's time", operatorapi.Assumed, ourChoice, "TestOrangeOrders"),
	fact("an order whose payer cancels on the page is `FAILED`, and no notification is sent", operatorapi.Assumed, ourChoice, "TestOrangePage"),
	fact("a status of an order, amount or token that do not belong together: 404 with code 60", operatorapi.Assumed, ourChoice, "TestOrangeOrders"),
	differs(fact("the page asks for number and code at once, and five wrong codes end the order", operatorapi.Assumed, ourChoice, "TestOrangePage"),
		"its page asks for them one after the other"),
	differs(fact("the code of a number: `GET /v1/test_clients/{msisdn}/otp`, or its handset; `123456` for test numbers", operatorapi.Assumed,
		ourChoice, "TestOrangePage"), "the payer gets it from the menu, `#144*82#` in Côte d'Ivoire"),
	fact("after a decision the browser goes to `return_url`, if the payer cancels to `cancel_url`, without parameters", operatorapi.Documented, guide,
		"TestOrangePage"),
	fact("the notification: once, unsigned, `status`, `notif_token`, `txnid`; none if nobody confirmed", operatorapi.Documented, guide,
		"TestOrangeNotification"),
	differs(fact("`txnid` begins with a time and ends with the code of the transaction", operatorapi.Assumed, ourChoice, "TestOrangeStates"),
		"forms such as `MP150709.1341.A00073`"),
	fact("429, 500, 503 have codes 53, 1, 5", operatorapi.Documented, guide, "TestOrangeFaults"),
	differs(fact("every refusal has the header `X-Cauri-Reason`", operatorapi.Assumed, ourChoice, "TestOrangeRefusals"), "has no such header"),
}

func fact(what string, mark operatorapi.Mark, source, test string) operatorapi.Fact {
	return operatorapi.Fact{What: what, Mark: mark, Source: source, Test: test}
}

// differs returns a fact with the known difference of Orange's own API.
func differs(f operatorapi.Fact, theirs string) operatorapi.Fact {
	f.Real = theirs
	return f
}
