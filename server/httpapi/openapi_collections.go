package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/payments"
)

var transactionIDParameter = &huma.Param{
	Name: "id", In: "path", Required: true, Description: "Transaction id.",
	Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^TX_[0-9A-HJKMNP-TV-Z]{26}$"},
}

var createPaymentOperation = operation{
	id: "createPayment", method: http.MethodPost, path: "/v1/payments", tag: tagCollections, summary: "Create a payment",
	description: "Collects money from a customer.\n\n" +
		"The outcome is the `scenario` if one is given. Otherwise a payment above the environment's limit ends `LIMIT_EXCEEDED`, " +
		"and the SIM registry decides: a number that is not registered ends `UNKNOWN_MSISDN`, or is `PENDING` where the environment " +
		"passes unknown numbers through; a blocked SIM ends `ACCOUNT_BLOCKED`; one with less than `customerTotal` ends " +
		"`INSUFFICIENT_FUNDS`; any other is `PENDING` until its holder answers.\n\n" +
		"A final outcome is answered after the operator's simulated latency, a pending one at once. The final status of a pending " +
		"payment comes by webhook, and stands in the payment.",
	body: &wire.CreatePayment,
	answers: []described{
		{http.StatusCreated, "The payment was recorded, whatever its outcome: see `status`.", paymentSchema, []string{"Location"}},
		{http.StatusOK, "The same request was made before; this is its payment as it stands now.", paymentSchema, []string{"Idempotent-Replayed"}},
	},
	errors: []string{"not_found", "env_not_found", "duplicate_reference", "quota_exceeded"},
	examples: []example{
		{name: "pending", summary: "The payer is asked to confirm", status: http.StatusCreated, answer: wire.PaymentOf(pendingCollection()), body: `{
  "amount": 25000,
  "currency": "RWF",
  "msisdn": "` + exampleMSISDN + `",
  "reference": "` + exampleReference + `",
  "application": "shop"
}`},
		{name: "succeeds", summary: "A forced success, with all fields", status: http.StatusCreated, answer: wire.PaymentOf(settledCollection()), body: settledRequest},
		{name: "fails", summary: "A forced failure", status: http.StatusCreated, answer: wire.PaymentOf(failedCollection()), body: `{
  "amount": 25000,
  "currency": "RWF",
  "msisdn": "` + exampleMSISDN + `",
  "reference": "` + failedCollection().Reference + `",
  "application": "shop",
  "scenario": "low_balance"
}`},
		{name: "succeeds-again", summary: "A request that was made before", status: http.StatusOK, answer: wire.PaymentOf(settledCollection()), body: settledRequest},
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

var getPaymentOperation = operation{
	id: "getPayment", method: http.MethodGet, path: "/v1/payments/{id}", tag: tagCollections, summary: "Read a transaction",
	description: "Reads a transaction of any type: a payment, a refund or a disbursement.\n\n" +
		"Where no webhook can be received, ask every 4 seconds while a payment is `PENDING`.",
	parameters: []*huma.Param{transactionIDParameter},
	answers:    []described{{http.StatusOK, "The transaction as it stands now.", paymentSchema, nil}},
	errors:     []string{"not_found"},
	examples: []example{{
		name: "settled", summary: "A payment that succeeded", status: http.StatusOK, answer: wire.PaymentOf(settledCollection()),
		parameters: map[string]any{"id": settledID.String()},
	}},
}

var listPaymentsOperation = operation{
	id: "listPayments", method: http.MethodGet, path: "/v1/payments", tag: tagCollections, summary: "List transactions",
	description: "Transactions of all types, newest first, a page at a time. Follow `nextCursor` until it is null: pages neither repeat nor " +
		"leave out a transaction while others are made.\n\n" +
		"A parameter with a value that it cannot have is refused, never corrected; one that is not known is ignored.",
	parameters: describedParameters(wire.PaymentParameters, listParameterDescriptions, listParameterOrder),
	answers:    []described{{http.StatusOK, "A page.", listSchema, nil}},
	errors:     []string{"invalid_params"},
	examples: []example{{
		name: "reconcile", summary: "What succeeded since a moment", status: http.StatusOK,
		parameters: map[string]any{"status": payments.Success, "created_after": "2026-05-31T00:00:00Z", "limit": 100},
		answer:     wire.PaymentList{Data: []wire.Payment{wire.PaymentOf(settledCollection())}},
	}},
}
