package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

var transactionIDParameter = &huma.Param{
	Name: "id", In: "path", Required: true, Description: "Transaction id.",
	Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^TX_[0-9A-HJKMNP-TV-Z]{26}$"},
}

var CreatePayment = Operation{
	ID: "createPayment", Method: http.MethodPost, Path: "/v1/payments", Tag: tagCollections, Summary: "Create a payment",
	Description: "Collects money from a customer.\n\n" +
		"The outcome is the `scenario` if one is given. Otherwise a payment above the environment's limit ends `LIMIT_EXCEEDED`, " +
		"and the SIM registry decides: a number that is not registered ends `UNKNOWN_MSISDN`, or is `PENDING` where the environment " +
		"passes unknown numbers through; a blocked SIM ends `ACCOUNT_BLOCKED`; one with less than `customerTotal` ends " +
		"`INSUFFICIENT_FUNDS`; any other is `PENDING` until its holder answers.\n\n" +
		"A final outcome is answered after the operator's simulated latency, a pending one at once. The final status of a pending " +
		"payment comes by webhook, and stands in the payment.",
	Body: wire.CreatePayment.Schema,
	answers: []described{
		{http.StatusCreated, "The payment was recorded, whatever its outcome: see `status`.", paymentSchema, []string{"Location"}},
		{http.StatusOK, "The same request was made before; this is its payment as it stands now.", paymentSchema, []string{"Idempotent-Replayed"}},
	},
	errors: []string{"not_found", "env_not_found", "duplicate_reference", "quota_exceeded"},
	Examples: []Example{
		{name: "pending", Summary: "The payer is asked to confirm", Status: http.StatusCreated, Answer: wire.PaymentOf(pendingCollection()), Body: `{
  "amount": 25000,
  "currency": "RWF",
  "msisdn": "` + exampleMSISDN + `",
  "reference": "` + exampleReference + `",
  "application": "shop"
}`},
		{name: "succeeds", Summary: "A forced success, with all fields", Status: http.StatusCreated, Answer: wire.PaymentOf(settledCollection()), Body: settledRequest},
		{name: "fails", Summary: "A forced failure", Status: http.StatusCreated, Answer: wire.PaymentOf(failedCollection()), Body: `{
  "amount": 25000,
  "currency": "RWF",
  "msisdn": "` + exampleMSISDN + `",
  "reference": "` + failedCollection().Reference + `",
  "application": "shop",
  "scenario": "low_balance"
}`},
		{name: "succeeds-again", Summary: "A request that was made before", Status: http.StatusOK, Answer: wire.PaymentOf(settledCollection()), Body: settledRequest},
	},
}

const settledRequest = `{
  "amount": 25000,
  "currency": "RWF",
  "operator": "mtn",
  "country": "RW",
  "msisdn": "` + exampleMSISDN + `",
  "reference": "` + settledReference + `",
  "application": "shop",
  "order_ref": "order-1042",
  "order_url": "https://shop.example/orders/1042",
  "description": "Two tickets",
  "scenario": "success"
}`

var GetPayment = Operation{
	ID: "getPayment", Method: http.MethodGet, Path: "/v1/payments/{id}", Tag: tagCollections, Summary: "Read a transaction",
	Description: "Reads a transaction of any type: a payment, a refund or a disbursement.\n\n" +
		"Where no webhook can be received, ask every 4 seconds while a payment is `PENDING`.",
	Parameters: []*huma.Param{transactionIDParameter},
	answers:    []described{{http.StatusOK, "The transaction as it stands now.", paymentSchema, nil}},
	errors:     []string{"not_found"},
	Examples: []Example{{
		name: "settled", Summary: "A payment that succeeded", Status: http.StatusOK, Answer: wire.PaymentOf(settledCollection()),
		Parameters: map[string]any{"id": settledID.String()},
	}},
}

var ListPayments = Operation{
	ID: "listPayments", Method: http.MethodGet, Path: "/v1/payments", Tag: tagCollections, Summary: "List transactions",
	Description: "Transactions of all types, newest first, a page at a time. Follow `nextCursor` until it is null: pages neither repeat nor " +
		"leave out a transaction while others are made.\n\n" +
		"A parameter with a value that it cannot have is refused, never corrected; one that is not known is ignored.",
	Parameters: describedParameters(wire.PaymentParameters, listParameterDescriptions, listParameterOrder),
	answers:    []described{{http.StatusOK, "A page.", listSchema, nil}},
	errors:     []string{"invalid_params"},
	Examples: []Example{{
		name: "reconcile", Summary: "What succeeded since a moment", Status: http.StatusOK,
		Parameters: map[string]any{"status": payments.Success, "created_after": "2026-05-31T00:00:00Z", "limit": 100},
		Answer:     wire.PaymentList{Data: []wire.Payment{wire.PaymentOf(settledCollection())}},
	}},
}
