package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
)

var transactionIDParameter = &huma.Param{
	Name: "id", In: "path", Required: true, Description: "Transaction id.",
	Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^TX_[0-9A-HJKMNP-TV-Z]{26}$"},
}

var CreatePayment = Operation{
	ID: "createPayment", Method: http.MethodPost, Path: "/v1/payments", Tag: tagCollections, Summary: "Create a payment",
	Description: "Collects money from a customer.\n\n" +
		"If the request has a `scenario`, it decides the outcome. Otherwise an amount above the environment's limit ends `LIMIT_EXCEEDED`. " +
		"Below the " +
		"limit, the SIM registry decides. A number that is not registered behaves as `GET /v1/test_numbers` says, if it is listed there. " +
		"Otherwise it ends `UNKNOWN_MSISDN`, or is `PENDING` if the environment passes unknown numbers through. A blocked SIM ends `ACCOUNT_BLOCKED`. A SIM with less than `customerTotal` ends `INSUFFICIENT_FUNDS`. Every other " +
		"payment is `PENDING` until the payer answers.\n\n" +
		"The response with a final outcome comes after the operator's simulated latency. The response with a pending payment comes at once. " +
		"A webhook and `GET /v1/payments/{id}` then tell its final status.",
	Body: decode.CreatePayment.Schema,
	answers: []described{
		{http.StatusCreated, "The payment was recorded, whatever its outcome: see `status`.", paymentSchema, []string{"Location", requests.ReasonHeader}},
		{http.StatusOK, "The same request was made before. This is its payment, as it is now.", paymentSchema, []string{"Idempotent-Replayed"}},
	},
	errors: []string{"not_found", "env_not_found", "duplicate_reference", "quota_exceeded"},
	Examples: []Example{
		{name: "approved", Summary: "A forced success, with all fields", Status: http.StatusCreated,
			Answer: view.PaymentOf(settledCollection(), nil), Body: settledRequest},
		{name: "asked", Summary: "The payer is asked to confirm", Status: http.StatusCreated, Answer: view.PaymentOf(pendingCollection(), nil),
			Body: `{
  "amount": 25000,
  "currency": "RWF",
  "msisdn": "` + exampleMSISDN + `",
  "reference": "` + exampleReference + `",
  "application": "shop"
}`},
		{name: "declined", Summary: "A forced failure", Status: http.StatusCreated, Answer: view.PaymentOf(failedCollection(), nil), Body: `{
  "amount": 25000,
  "currency": "RWF",
  "msisdn": "` + exampleMSISDN + `",
  "reference": "` + failedCollection().Reference + `",
  "application": "shop",
  "scenario": "low_balance"
}`},
		{name: "repeated", Summary: "A request that was made before", Status: http.StatusOK, Answer: view.PaymentOf(settledCollection(), nil),
			Body: settledRequest},
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
		"If you cannot receive webhooks, ask every 4 seconds while a payment is `PENDING`.",
	Parameters: []*huma.Param{transactionIDParameter},
	answers:    []described{{http.StatusOK, "The transaction, as it is now.", paymentSchema, nil}},
	errors:     []string{"not_found"},
	Examples: []Example{{
		name: "settled", Summary: "A payment that succeeded", Status: http.StatusOK, Answer: view.PaymentOf(settledCollection(), nil),
		Parameters: map[string]any{"id": settledID.String()},
	}},
}

var ListPayments = Operation{
	ID: "listPayments", Method: http.MethodGet, Path: "/v1/payments", Tag: tagCollections, Summary: "List transactions",
	Description: "Transactions of all types, newest first, in pages. To get all of them, follow `nextCursor` until it is null. New " +
		"transactions do not make " +
		"a page repeat or miss one.\n\n" +
		"A parameter with an invalid value is refused with `invalid_params`, and so is a misspelled parameter.",
	Parameters: describedParameters(decode.PaymentParameters, listParameterDescriptions, listParameterOrder),
	answers:    []described{{http.StatusOK, "A page.", listSchema, nil}},
	errors:     []string{"invalid_params"},
	Examples: []Example{{
		name: "reconcile", Summary: "What succeeded after a time", Status: http.StatusOK,
		Parameters: map[string]any{"status": payments.Success, "created_after": "2026-05-31T00:00:00Z", "limit": 100},
		Answer:     wire.PaymentList{Data: []wire.Payment{view.PaymentOf(settledCollection(), nil)}},
	}},
}
