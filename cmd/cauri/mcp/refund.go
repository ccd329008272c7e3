package mcp

import (
	"cmp"
	"context"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

type refundInput struct {
	Transaction string `json:"transaction" example:"TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE" doc:"Id of the collection."`
	Amount      *int64 `json:"amount,omitempty" minimum:"1" maximum:"1000000000000" doc:"In whole units; left out: all that is left."`
	Reference   string `json:"reference,omitempty" doc:"The same refund with the same reference is recorded once. Left out: a new one."`
	Description string `json:"description,omitempty"`
	WaitSeconds *int64 `json:"wait_seconds,omitempty" minimum:"0" maximum:"120" doc:"How long to wait for the end; 30 if left out."`
}

var refundPayment = define(tool{
	name: "refund_payment", title: "Refund a payment",
	description: "Refunds a successful collection, wholly or in part, and waits for the end of the refund.",
}, func(ctx context.Context, c *call, in *refundInput) (*transactionOutput, error) {
	request := wire.RefundRequest{Amount: in.Amount, Reference: cmp.Or(in.Reference, newReference())}
	if in.Description != "" {
		request.Description = &in.Description
	}
	made, err := c.sandbox.API.Refund(ctx, in.Transaction, request)
	if err != nil {
		return nil, c.uncertain(c.about(err, in.Transaction), request.Reference)
	}
	if made, err = c.await(ctx, made, waitOf(in.WaitSeconds)); err != nil {
		return nil, err
	}
	return c.ended(ctx, &made)
})

// about adds to a refusal that concerns a transaction the step that explains the transaction.
func (c *call) about(err error, id string) error {
	f := failureOf(err)
	if f.Code != "not_found" && f.Code != codeUnreachable {
		f.Next = append(f.Next, step{Tool: "explain", Arguments: arguments("id", id), Because: "tells what happened to it, and what is left of it"})
	}
	return f
}

type payoutInput struct {
	Amount      int64  `json:"amount" minimum:"1" maximum:"1000000000000" doc:"In whole units of the currency."`
	MSISDN      string `json:"msisdn" doc:"The recipient's number."`
	Currency    string `json:"currency,omitempty" enum:"$currencies" doc:"Of a number that is neither a test client nor a test number, as the two below."`
	Operator    string `json:"operator,omitempty" enum:"$operators"`
	Country     string `json:"country,omitempty" enum:"$countries"`
	Reference   string `json:"reference,omitempty" doc:"The same payout with the same reference is recorded once. Left out: a new one."`
	OrderRef    string `json:"order_ref,omitempty"`
	Application string `json:"application,omitempty" doc:"Slug of the store; the sandbox's first if left out."`
	Description string `json:"description,omitempty"`
	WaitSeconds *int64 `json:"wait_seconds,omitempty" minimum:"0" maximum:"120" doc:"How long to wait for the end; 30 if left out."`
}

func (in *payoutInput) check(wrong fieldErrors) { checkNumber(in.MSISDN, wrong) }

var makePayout = define(tool{
	name: "make_payout", title: "Pay money out",
	description: "Pays money out from the merchant's float to a number (disbursement), and waits for the end.",
}, func(ctx context.Context, c *call, in *payoutInput) (*transactionOutput, error) {
	like := wire.CreatePaymentRequest{MSISDN: in.MSISDN, Currency: in.Currency, Operator: in.Operator, Country: in.Country, Amount: in.Amount}
	if err := c.complete(ctx, &like, ""); err != nil {
		return nil, err
	}
	request := wire.DisbursementRequest{
		Amount: in.Amount, MSISDN: in.MSISDN, Currency: like.Currency, Operator: like.Operator, Country: like.Country, OrderRef: in.OrderRef,
		Reference: cmp.Or(in.Reference, newReference()),
	}
	if in.Description != "" {
		request.Description = &in.Description
	}
	var made wire.Disbursement
	err := c.forStore(in.Application, func(store string) (err error) {
		request.Application = store
		made, err = c.sandbox.API.PayOut(ctx, request)
		return err
	})
	if err != nil {
		return nil, c.uncertain(err, request.Reference)
	}
	whole, err := c.sandbox.API.Payment(ctx, made.TxID)
	if err != nil {
		f := failureOf(err)
		f.Transaction, f.Reference = made.TxID, request.Reference
		return nil, f
	}
	if whole, err = c.await(ctx, whole, waitOf(in.WaitSeconds)); err != nil {
		return nil, err
	}
	return c.ended(ctx, &whole)
})

type answerInput struct {
	Answer      string `json:"answer" enum:"approve,cancel,wrong_pin"`
	Transaction string `json:"transaction,omitempty" example:"TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE" doc:"Id of the pending payment. Send it or msisdn."`
	MSISDN      string `json:"msisdn,omitempty" doc:"Number of the payer, for whatever it is asked."`
	WaitSeconds *int64 `json:"wait_seconds,omitempty" minimum:"0" maximum:"120" doc:"How long to wait for the end; 30 if left out."`
}

func (in *answerInput) check(wrong fieldErrors) {
	if (in.Transaction == "") == (in.MSISDN == "") {
		wrong.add("transaction", "or msisdn is needed: send one of them")
	}
	checkNumber(in.MSISDN, wrong)
}

var answerPayer = define(tool{
	name: "answer_payer", title: "Answer as the payer",
	description: "Answers a payment that waits for its payer: approve, cancel, or a wrong PIN. Then waits for the end of the payment.",
}, func(ctx context.Context, c *call, in *answerInput) (*transactionOutput, error) {
	msisdn, id, err := c.prompt(ctx, in)
	if err != nil {
		return nil, err
	}
	made, err := c.sandbox.API.Answer(ctx, msisdn, id, in.Answer)
	if err != nil {
		return nil, c.about(err, id)
	}
	if made, err = c.await(ctx, made, waitOf(in.WaitSeconds)); err != nil {
		return nil, err
	}
	return c.ended(ctx, &made)
})

// prompt returns the payer and the payment that is to be answered: of a number, the oldest.
func (c *call) prompt(ctx context.Context, in *answerInput) (msisdn, id string, err error) {
	if in.Transaction != "" {
		found, err := c.sandbox.API.Payment(ctx, in.Transaction)
		return found.MSISDN, in.Transaction, err
	}
	waiting, err := c.sandbox.API.Prompts(ctx, in.MSISDN, 1)
	if err != nil {
		return "", "", err
	}
	if len(waiting) == 0 {
		return "", "", &failure{Code: "no_prompt", Message: "No payment waits for an answer of " + in.MSISDN + ".", Next: []step{{
			Tool: "list_transactions", Arguments: arguments("status", "PENDING"), Because: "lists the payments that wait",
		}}}
	}
	return in.MSISDN, waiting[0].ID, nil
}
