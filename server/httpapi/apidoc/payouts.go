package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/requests"
)

var CreateRefund = Operation{
	ID: "createRefund", Method: http.MethodPost, Path: "/v1/payments/{id}/refund", Tag: tagPayouts, Summary: "Refund a payment",
	Description: "Refunds all or part of a collection with status `SUCCESS`. Without an `amount`, or without a body, everything that is " +
		"left is " +
		"refunded.\n\n" +
		"The refunds of one payment never exceed its gross `amount` in total. A refund has no commission, and the commission of the payment is " +
		"not " +
		"returned. If the float is too low, the refund is recorded with `INSUFFICIENT_FUNDS` and no money moves. The payment keeps its status. " +
		"Its " +
		"`refundedAmount` and `refundableAmount` change.",
	Parameters: []*huma.Param{transactionIDParameter},
	Body:       decode.CreateRefund.Schema, BodyOptional: true,
	answers: []described{
		{http.StatusCreated, "The refund was recorded: see `status`.", paymentSchema, []string{"Location"}},
		{http.StatusOK, "The same request was made before. This is its refund, as it is now.", paymentSchema, []string{"Idempotent-Replayed"}},
	},
	errors: []string{"not_found", "duplicate_reference", "exceeds_refundable", "not_refundable", "quota_exceeded"},
	Examples: []Example{
		{
			name: "part", Summary: "Part of a payment", Status: http.StatusCreated, Answer: view.PaymentOf(partialRefund(), nil),
			Parameters: map[string]any{"id": settledID.String()}, Body: partialRefundRequest,
		},
		{
			name: "part-again", Summary: "A request that was made before", Status: http.StatusOK, Answer: view.PaymentOf(partialRefund(), nil),
			Parameters: map[string]any{"id": settledID.String()}, Body: partialRefundRequest,
		},
		{
			name: "rest", Summary: "The rest, without a body", Status: http.StatusCreated, Answer: view.PaymentOf(fullRefund(), nil),
			Parameters: map[string]any{"id": settledID.String()},
		},
	},
}

var partialRefundRequest = `{
  "amount": 5000,
  "reference": "` + partialRefund().Reference + `"
}`

var CreateDisbursement = Operation{
	ID: "createDisbursement", Method: http.MethodPost, Path: "/v1/disbursements", Tag: tagPayouts, Summary: "Pay out to a number",
	Description: "Pays from the merchant's float to any number, without a collection. A disbursement has no commission.\n\n" +
		"First the recipient decides. A blocked SIM ends `ACCOUNT_BLOCKED`. A test number that is not registered ends as " +
		"`GET /v1/test_numbers` says. Any other number ends `UNKNOWN_MSISDN`, or `SUCCESS` if the environment passes unknown numbers through. " +
		"Then the float decides: a float below the amount ends `INSUFFICIENT_FUNDS`.\n\n" +
		"A disbursement is a transaction: read it with `GET /v1/payments/{id}`, and list it with `type=disbursement`. It has no parent to " +
		"inherit an " +
		"order from: send the `order_ref` of its order.",
	Body: decode.CreateDisbursement.Schema,
	answers: []described{{
		http.StatusOK, "The disbursement was recorded, whatever its outcome: see `status`. If `idempotent` is true, an earlier request " +
			"recorded it.",
		disbursementSchema, []string{"Idempotent-Replayed", "Location", requests.ReasonHeader},
	}},
	errors: []string{"not_found", "env_not_found", "duplicate_reference", "quota_exceeded"},
	Examples: []Example{
		{name: "paid", Summary: "A payout that succeeds", Status: http.StatusOK, Answer: view.DisbursementOf(paidDisbursement(), false),
			Body: paidRequest},
		{name: "paid-again", Summary: "A request that was made before", Status: http.StatusOK, Answer: view.DisbursementOf(paidDisbursement(),
			true), Body: paidRequest},
		{name: "refused", Summary: "More than the float", Status: http.StatusOK, Answer: view.DisbursementOf(refusedDisbursement(), false),
			Body: `{
  "amount": 5000000,
  "currency": "RWF",
  "operator": "mtn",
  "country": "RW",
  "msisdn": "` + exampleMSISDN + `",
  "application": "shop",
  "reference": "` + refusedDisbursement().Reference + `"
}`},
	},
}

var paidRequest = `{
  "amount": 10000,
  "currency": "RWF",
  "operator": "mtn",
  "country": "RW",
  "msisdn": "` + exampleMSISDN + `",
  "application": "shop",
  "reference": "` + paidDisbursement().Reference + `",
  "description": "Weekly payout"
}`
