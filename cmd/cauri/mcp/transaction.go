package mcp

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// transaction has the fields of a payment that an agent needs, with their names in the API.
type transaction struct {
	ID               string   `json:"id"`
	Type             string   `json:"type"`
	Status           string   `json:"status"`
	Amount           int64    `json:"amount"`
	NetAmount        int64    `json:"netAmount"`
	Currency         string   `json:"currency"`
	Operator         string   `json:"operator"`
	Country          string   `json:"country"`
	MSISDN           string   `json:"msisdn"`
	Reference        string   `json:"reference"`
	OrderRef         string   `json:"orderRef,omitempty"` // absent if it is the reference
	Application      string   `json:"application"`
	ParentTxID       *string  `json:"parentTxId,omitempty"`
	Scenario         *string  `json:"scenario,omitempty"`
	CreatedAt        string   `json:"createdAt"`
	CompletedAt      *string  `json:"completedAt,omitempty"`
	RefundableAmount *int64   `json:"refundableAmount,omitempty"`
	Effects          []string `json:"effects,omitempty"` // what faults did
	Description      *foreign `json:"description,omitempty"`
}

func transactionOf(p *wire.Payment) *transaction {
	t := &transaction{
		ID: p.ID, Type: p.Type, Status: p.Status, Amount: p.Amount, NetAmount: p.NetAmount, Currency: p.Currency, Operator: p.Operator,
		Country: p.Country, MSISDN: p.MSISDN, Reference: p.Reference, Application: p.Application, ParentTxID: p.ParentTxID,
		Scenario: p.Scenario, CreatedAt: p.CreatedAt, CompletedAt: p.CompletedAt, RefundableAmount: p.RefundableAmount, Effects: p.Effects,
	}
	if p.OrderRef != p.Reference {
		t.OrderRef = p.OrderRef
	}
	if p.Description != nil {
		t.Description = foreignOf(*p.Description)
	}
	return t
}

// transactionOutput is the output of a tool that makes a transaction.
type transactionOutput struct {
	head
	Transaction *transaction `json:"transaction,omitempty"`
}

// pollInterval is the pause between two looks at what a call waits for.
const pollInterval = 200 * time.Millisecond

// await waits until a transaction is final, at most some seconds. It returns the transaction as it is then.
func (c *call) await(ctx context.Context, made wire.Payment, seconds int64) (wire.Payment, error) {
	soon, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	told := time.Now()
	for made.Status == string(payments.Pending) {
		if !pause(soon, pollInterval) {
			return made, ctx.Err()
		}
		found, err := c.sandbox.API.Payment(soon, made.ID)
		switch {
		case err == nil:
			made = found
		case ctx.Err() != nil:
			return made, ctx.Err()
		case soon.Err() == nil:
			f := failureOf(err)
			f.Transaction, f.Reference = made.ID, made.Reference
			return made, f
		}
		if time.Since(told) > progressInterval {
			told = time.Now()
			c.tell("The " + made.Type + " " + made.ID + " is pending")
		}
	}
	return made, nil
}

// pause waits, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// ended describes a transaction after the wait for its end, with what explains an end that is not a success.
func (c *call) ended(ctx context.Context, made *wire.Payment) (*transactionOutput, error) {
	out := &transactionOutput{Transaction: transactionOf(made)}
	switch made.Status {
	case string(payments.Success):
		out.say("The %s of %d %s is successful.", made.Type, made.Amount, made.Currency)
		out.add(step{Tool: "explain", Arguments: arguments("id", made.ID), Because: "tells what happened, also to its webhook"})
	case string(payments.Pending):
		return out, c.pending(ctx, out, made)
	default:
		out.Cause = string(advice.OutcomeCode(payments.Status(made.Status)))
		out.say("The %s of %d %s ended %s.", made.Type, made.Amount, made.Currency, made.Status)
		out.add(step{Tool: "explain", Arguments: arguments("id", made.ID), Because: "tells why it ended so"})
	}
	return out, nil
}

// soonDue is how long a call of a tool may reasonably wait for something by itself.
const soonDue = 30 * time.Second

// pending says what a pending transaction waits for.
func (c *call) pending(ctx context.Context, out *transactionOutput, made *wire.Payment) error {
	out.say("The %s of %d %s is pending.", made.Type, made.Amount, made.Currency)
	out.add(step{Tool: "explain", Arguments: arguments("id", made.ID), Because: "tells who waits for whom"})
	clock, err := c.sandbox.API.Clock(ctx)
	if err != nil {
		return err
	}
	if made.Type == string(payments.Collection) {
		out.add(step{Tool: "answer_payer", Arguments: arguments("transaction", made.ID, "answer", "approve"), Because: "answers in the place of the payer"})
	}
	if clock.Mode == manualClock || farAway(&clock) {
		out.add(step{Tool: "advance_clock", Arguments: arguments("next", true), Because: "advances the clock to what is due next, such as the end of the payment"})
	}
	return nil
}

// manualClock is the mode of a clock that stands.
const manualClock = "Manual"

// farAway reports whether nothing is due soon.
func farAway(c *wire.Clock) bool {
	now, err := time.Parse(time.RFC3339Nano, c.Now)
	if err != nil || c.NextDueAt == nil {
		return false
	}
	due, err := time.Parse(time.RFC3339Nano, *c.NextDueAt)
	return err == nil && due.Sub(now) > soonDue
}

// newReference returns a random reference, for a transaction without one.
func newReference() string { return "MCP-" + rand.Text() }
