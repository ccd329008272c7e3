package mpesa

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// queryFlickers has the answers of the query of a push under a fault with statusFlickers. While the payer has not answered,
// Safaricom's sandbox answers in three ways: the right one, 200 with an error code and no message, and 500 (Documented; the
// text of the last is ThirdParty). After the outcome, 4 of 17 answers were the last one (Documented; Assumed: the text).
var queryFlickers = operatorapi.Flicker{
	Pending: []operatorapi.WrongAnswer{nil, told{http.StatusOK, transactionFailed, ""}.answer, beingProcessed.answer},
	Ended:   []operatorapi.WrongAnswer{nil, nil, nil, beingProcessed.answer},
}

// beingProcessed says nothing about a push: it comes while a push has no outcome, and after it was paid.
var beingProcessed = told{http.StatusInternalServerError, transactionFailed, "The transaction is being processed"}

// flickerFacts are the facts about a fault with statusFlickers.
var flickerFacts = []operatorapi.Fact{
	operatorapi.Documented.Fact("under `statusFlickers`, a query while the phone rings: 4999, 200 with `errorCode` `500.001.1001` and an empty `errorMessage`, or "+
		"500 `500.001.1001`, with equal chances (assumed)", observed, "TestMPesaFlickers").Differs("without the fault always 4999"),
	operatorapi.ThirdParty.Fact("the text of that 500 is \"The transaction is being processed\"", operatorapi.PublishedClients, "TestMPesaFlickers"),
	operatorapi.Documented.Fact("under `statusFlickers`, one query in four after the outcome is 500 `500.001.1001`", observed, "TestMPesaFlickers").Differs(
		"4 of 17; their text is not known"),
}
