package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// defaultWait is how long a tool waits for the end of a transaction, in seconds.
const defaultWait = 30

type makePaymentInput struct {
	Amount      int64  `json:"amount" minimum:"1" maximum:"1000000000000" doc:"In whole units of the currency."`
	MSISDN      string `json:"msisdn,omitempty" doc:"The payer's number. Left out: one is chosen by the fields below."`
	Country     string `json:"country,omitempty" enum:"$countries" doc:"Chooses the payer."`
	Operator    string `json:"operator,omitempty" enum:"$operators" doc:"Chooses the payer."`
	Currency    string `json:"currency,omitempty" enum:"$currencies" doc:"Chooses the payer."`
	Outcome     string `json:"outcome,omitempty" enum:"$statuses" doc:"Chooses a payer whose payment ends so; SUCCESS if left out."`
	Scenario    string `json:"scenario,omitempty" enum:"$scenarios" doc:"Forces how this payment ends, whoever pays."`
	Reference   string `json:"reference,omitempty" doc:"The same request with the same reference is recorded once. Left out: a new one."`
	OrderRef    string `json:"order_ref,omitempty" doc:"The shop's order; the reference if left out."`
	Application string `json:"application,omitempty" doc:"Slug of the store; the sandbox's first if left out."`
	Description string `json:"description,omitempty"`
	WaitSeconds *int64 `json:"wait_seconds,omitempty" minimum:"0" maximum:"120" doc:"How long to wait for the end; 30 if left out."`
}

func (in *makePaymentInput) check(wrong fieldErrors) { checkNumber(in.MSISDN, wrong) }

// checkNumber checks the form of a number that may be empty. A number of a wrong length is one that nobody has.
func checkNumber(msisdn string, wrong fieldErrors) {
	if msisdn != "" && !payments.ValidMSISDN(msisdn) {
		wrong.add("msisdn", "is %q: write the whole number with + and the code of its country, digits only. list_payers has numbers", msisdn)
	}
}

var makePayment = define(tool{
	name: "make_payment", title: "Make a payment",
	description: "Makes a payment (collection) as the shop would, from a number or from a payer that is chosen, and waits for its end. " +
		"To test the shop itself, let the shop send the request.",
}, func(ctx context.Context, c *call, in *makePaymentInput) (*transactionOutput, error) {
	request := wire.CreatePaymentRequest{
		Amount: in.Amount, Currency: in.Currency, Operator: in.Operator, Country: in.Country, MSISDN: in.MSISDN, OrderRef: in.OrderRef,
		Reference: cmp.Or(in.Reference, newReference()), Scenario: in.Scenario,
	}
	if in.Description != "" {
		request.Description = &in.Description
	}
	if err := c.complete(ctx, &request, in.Outcome); err != nil {
		return nil, err
	}
	var made wire.Payment
	err := c.forStore(in.Application, func(store string) (err error) {
		request.Application = store
		made, err = c.sandbox.API.Pay(ctx, request)
		return err
	})
	if err != nil {
		return nil, c.uncertain(err, request.Reference)
	}
	if made, err = c.await(ctx, made, waitOf(in.WaitSeconds)); err != nil {
		return nil, err
	}
	return c.ended(ctx, &made)
})

func waitOf(asked *int64) int64 {
	if asked == nil {
		return defaultWait
	}
	return *asked
}

// complete sets the fields of a payment that follow from its payer. Without a number, it chooses a payer.
func (c *call) complete(ctx context.Context, r *wire.CreatePaymentRequest, outcome string) error {
	if r.MSISDN != "" && r.Currency != "" {
		return nil // the API detects the rest
	}
	all, err := c.payers(ctx)
	if err != nil {
		return err
	}
	if r.MSISDN != "" {
		for i := range all {
			if all[i].MSISDN == r.MSISDN {
				r.Currency, r.Operator, r.Country = all[i].Currency, cmp.Or(r.Operator, all[i].Operator), cmp.Or(r.Country, all[i].Country)
				return nil
			}
		}
		markets := payments.KnownWith(func(o payments.Operator, c payments.Country) bool {
			return slices.ContainsFunc(all, func(p payer) bool { return p.Operator == string(o) && p.Country == string(c) })
		})
		_, country, _ := operators.Detect(markets, r.MSISDN)
		currency, known := country.Currency()
		if !known {
			return invalid(fieldErrors{"currency": {"is needed for a number that is neither a test client nor a test number"}})
		}
		r.Currency = string(currency)
		return nil
	}
	chosen, err := choice{r.Country, r.Operator, r.Currency, outcome}.chosen(all, r.Amount)
	if err != nil {
		return err
	}
	r.MSISDN, r.Currency, r.Operator, r.Country = chosen.MSISDN, chosen.Currency, chosen.Operator, chosen.Country
	return nil
}

// forStore calls send with a store, or with those that the sandbox may have until it has one.
func (c *call) forStore(store string, send func(store string) error) (err error) {
	if store != "" {
		return send(store)
	}
	var refused *sandboxapi.RefusedError
	for _, store = range c.sandbox.Stores() {
		err = send(store)
		// An earlier call may have recorded the reference for another store.
		if !errors.As(err, &refused) || refused.Code != "not_found" && refused.Code != "duplicate_reference" {
			return err
		}
	}
	return err
}

// uncertain adds to a failure after which something may have been recorded how to find out.
func (c *call) uncertain(err error, reference string) error {
	f := failureOf(err)
	var refused *sandboxapi.RefusedError
	if f.Code == codeUnreachable || f.Code == codeTimeout || errors.As(err, &refused) && refused.Status >= http.StatusInternalServerError {
		f.Reference = reference
		f.Message += fmt.Sprintf(" It may have been recorded: call again with the reference %s, which records nothing twice.", reference)
		f.Next = append([]step{{
			Tool: "list_transactions", Arguments: arguments("reference", reference), Because: "tells whether it was recorded",
		}}, f.Next...)
	}
	return f
}
