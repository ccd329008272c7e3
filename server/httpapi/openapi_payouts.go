package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"

	"github.com/danielgtaylor/huma/v2"
)

var createRefundOperation = operation{
	id: "createRefund", method: http.MethodPost, path: "/v1/payments/{id}/refund", tag: tagPayouts, summary: "Refund a payment",
	description: "Gives back all or part of a collection with status `SUCCESS`. Without an `amount`, or without a body, all that is left " +
		"is refunded.\n\n" +
		"Refunds of one payment never exceed its gross `amount` in sum. No commission is taken, and the one of the payment is not given back. " +
		"With too little float the refund is recorded with `INSUFFICIENT_FUNDS` and no money moves. The payment keeps its status; its " +
		"`refundedAmount` and `refundableAmount` change.",
	parameters: []*huma.Param{transactionIDParameter},
	body:       &wire.CreateRefund, bodyOptional: true,
	answers: []described{
		{http.StatusCreated, "The refund was recorded: see `status`.", paymentSchema, []string{"Location"}},
		{http.StatusOK, "The same request was made before; this is its refund as it stands now.", paymentSchema, []string{"Idempotent-Replayed"}},
	},
	errors: []string{"not_found", "duplicate_reference", "exceeds_refundable", "not_refundable", "quota_exceeded"},
	examples: []example{
		{
			name: "part", summary: "Part of a payment", status: http.StatusCreated, answer: wire.PaymentOf(partialRefund()),
			parameters: map[string]any{"id": settledID.String()}, body: partialRefundRequest,
		},
		{
			name: "part-again", summary: "A request that was made before", status: http.StatusOK, answer: wire.PaymentOf(partialRefund()),
			parameters: map[string]any{"id": settledID.String()}, body: partialRefundRequest,
		},
		{
			name: "rest", summary: "All that is left, without a body", status: http.StatusCreated, answer: wire.PaymentOf(fullRefund()),
			parameters: map[string]any{"id": settledID.String()},
		},
	},
}

var partialRefundRequest = `{
  "amount": 5000,
  "reference": "` + partialRefund().Reference + `"
}`

var createDisbursementOperation = operation{
	id: "createDisbursement", method: http.MethodPost, path: "/v1/disbursements", tag: tagPayouts, summary: "Pay out to a number",
	description: "Pays from the merchant's float to any number, linked to no collection. No commission is taken.\n\n" +
		"The recipient decides first: a blocked SIM ends `ACCOUNT_BLOCKED`, a number that is not registered `UNKNOWN_MSISDN` (or `SUCCESS`, " +
		"where the environment passes unknown numbers through); then the float: `INSUFFICIENT_FUNDS` if it is below the amount.\n\n" +
		"A disbursement is a transaction like any other: read it at `GET /v1/payments/{id}`, list it with `type=disbursement`. It has no parent " +
		"to inherit from: send the `order_ref` of its order.",
	body: &wire.CreateDisbursement,
	answers: []described{{
		http.StatusOK, "The disbursement was recorded, whatever its outcome: see `status`. `idempotent` tells whether that was before this request.",
		payoutSchema, []string{"Idempotent-Replayed", "Location"},
	}},
	errors: []string{"not_found", "env_not_found", "duplicate_reference", "quota_exceeded"},
	examples: []example{
		{name: "paid", summary: "A payout that succeeds", status: http.StatusOK, answer: wire.DisbursementOf(paidDisbursement(), false), body: paidRequest},
		{name: "paid-again", summary: "A request that was made before", status: http.StatusOK, answer: wire.DisbursementOf(paidDisbursement(), true), body: paidRequest},
		{name: "refused", summary: "More than the float", status: http.StatusOK, answer: wire.DisbursementOf(refusedDisbursement(), false), body: `{
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
