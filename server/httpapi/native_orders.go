package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// recordNative records a transaction once. A taken reference is a duplicate, whatever took it: no operator repeats an answer.
func (n *nativeSandbox) recordNative(
	ctx context.Context, kind payments.Type, o operatorapi.Order, try func(context.Context, *sandboxes.Sandbox, *intent) (recorded, error),
) error {
	asked := newIntent(kind, o.Reference, func(string) []byte { return ledger.NativeHash(o.Operation) })
	made, replayed, err := n.server.once(ctx, n.who, asked, func(ctx context.Context, sandbox *sandboxes.Sandbox) (recorded, error) {
		return try(ctx, sandbox, asked)
	})
	if err != nil {
		return err
	}
	if replayed {
		return operatorapi.Refuse(operatorapi.Duplicate)
	}
	n.awaited = made.event
	if o.CallbackURL != "" {
		n.awaited = cmp.Or(n.server.toldFirst(ctx, faults.AtCallback, n.who.sandbox, made.transaction), n.awaited)
	}
	return nil
}

// additions are what is kept beside the transaction of an order.
func (n *nativeSandbox) additions(sandbox *sandboxes.Sandbox, o operatorapi.Order) (ledger.Additions, error) {
	all := n.who.additions(sandbox, o.Reference)
	sent, err := json.Marshal(o.Sent)
	if err != nil {
		return all, fmt.Errorf("keeping what was sent: %w", err)
	}
	all.Native = &ledger.NativeRequest{Operation: o.Operation, Sent: sent, CallbackURL: o.CallbackURL, LatencyPercent: sandbox.LatencyPercent}
	if sandbox.ClockMode == sandboxes.ManualClock {
		all.Native.LatencyPercent = 0 // as for answers, which cannot wait for a clock that stands
	}
	return all, nil
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Collect implements [operatorapi.Sandbox].
func (n *nativeSandbox) Collect(ctx context.Context, o operatorapi.Order) error {
	s := n.server
	return n.recordNative(ctx, payments.Collection, o, func(
		ctx context.Context, sandbox *sandboxes.Sandbox, asked *intent,
	) (made recorded, err error) {
		p := faults.Place{Type: payments.Collection, Country: o.Environment.Country, Store: sandbox.FirstStore}
		if err := n.disturbOrder(ctx, sandbox, &o, p); err != nil {
			return recorded{}, err
		}
		const presume = false
		c, err := s.decideCollection(ctx, sandbox, &wire.CreatePaymentRequest{
			Amount: o.Amount, Currency: string(o.Environment.Currency), Operator: string(n.api.Operator), Country: string(o.Environment.Country),
			MSISDN: o.MSISDN, Reference: o.Reference, Application: sandbox.FirstStore, OrderRef: o.OrderRef, Description: optional(o.Description),
		}, presume)
		if err != nil {
			return recorded{}, err
		}
		n.asParty(c, o.Party, sandbox)
		c.RequestStamp = n.server.stamp(sandbox, asked.hash)
		if c.Additions, err = n.additions(sandbox, o); err != nil {
			return recorded{}, err
		}
		if err := s.ledger.CreateCollection(ctx, sandbox.Tenant, c); err != nil {
			return recorded{}, err
		}
		return recorded{transaction: &c.Transaction}, nil
	})
}

// asParty lets a number that no SIM has behave as the operator's own sandbox has it.
func (n *nativeSandbox) asParty(c *ledger.NewCollection, party *payments.TestNumber, sandbox *sandboxes.Sandbox) {
	if party == nil {
		return
	}
	latency := n.server.latencyOf(party.Status, sandbox, c.Transaction.Reference)
	if party.Latency > 0 {
		latency = ledger.Latency{Simulated: party.Latency, Waited: party.Latency}
	}
	c.ByPayer[payments.PayerUnknown] = ledger.StatusAndLatency{Status: party.Status, Latency: latency}
	c.TestBehavior = party.Behavior
}

// Disburse implements [operatorapi.Sandbox].
func (n *nativeSandbox) Disburse(ctx context.Context, o operatorapi.Order) error {
	s := n.server
	return n.recordNative(ctx, payments.Disbursement, o, func(
		ctx context.Context, sandbox *sandboxes.Sandbox, asked *intent,
	) (made recorded, err error) {
		p := faults.Place{Type: payments.Disbursement, Country: o.Environment.Country, Store: sandbox.FirstStore}
		if err := n.disturbOrder(ctx, sandbox, &o, p); err != nil {
			return recorded{}, err
		}
		d, err := s.decideDisbursement(sandbox, &wire.DisbursementRequest{
			Amount: o.Amount, Currency: string(o.Environment.Currency), Operator: string(n.api.Operator), Country: string(o.Environment.Country),
			MSISDN: o.MSISDN, Reference: o.Reference, Application: sandbox.FirstStore, OrderRef: o.OrderRef, Description: optional(o.Description),
		}, asked)
		if err != nil {
			return recorded{}, err
		}
		if party := o.Party; party != nil {
			d.Unknown = party.CollectionOutcome() // a payout has its outcome at once
			d.Latency.Unknown = s.latencyOf(d.Unknown, sandbox, o.Reference)
		}
		d.RequestStamp = n.server.stamp(sandbox, asked.hash)
		if d.Additions, err = n.additions(sandbox, o); err != nil {
			return recorded{}, err
		}
		if err := s.ledger.CreateDisbursement(ctx, sandbox.Tenant, d); err != nil {
			return recorded{}, err
		}
		return recorded{transaction: &d.Transaction}, nil
	})
}

// Refund implements [operatorapi.Sandbox].
func (n *nativeSandbox) Refund(ctx context.Context, o operatorapi.Order) error {
	s := n.server
	return n.recordNative(ctx, payments.Refund, o, func(
		ctx context.Context, sandbox *sandboxes.Sandbox, asked *intent,
	) (made recorded, err error) {
		parent, _, err := s.ledger.FindReference(ctx, sandbox.Tenant, o.Parent)
		if err != nil {
			return recorded{}, wire.RefundRefusal(err)
		}
		p := faults.Place{Type: payments.Refund, Country: parent.Country, Store: parent.Store}
		if err := n.disturbOrder(ctx, sandbox, &o, p); err != nil {
			return recorded{}, err
		}
		if err := parent.CheckRefund(&o.Amount); err != nil {
			return recorded{}, wire.RefundRefusal(err)
		}
		r := ledger.NewRefund{
			ParentID: parent.ID, Amount: &o.Amount, Clocked: sandbox.Clocked, Latency: s.payoutLatency(sandbox, o.Reference), Reference: o.Reference,
			RequestHash: asked.hash,
		}
		if r.ID, err = payments.NewID(s.now(), s.random); err != nil {
			return recorded{}, err
		}
		if r.Additions, err = n.additions(sandbox, o); err != nil {
			return recorded{}, err
		}
		t, _, err := s.ledger.CreateRefund(ctx, sandbox.Tenant, r)
		if err != nil {
			return recorded{}, wire.RefundRefusal(err)
		}
		return recorded{transaction: t}, nil
	})
}

// Find implements [operatorapi.Sandbox].
func (n *nativeSandbox) Find(ctx context.Context, reference string, operations ...string) (operatorapi.Payment, error) {
	if !isReference(reference) {
		return operatorapi.Payment{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	t, sent, err := n.server.ledger.FindNative(ctx, n.who.sandbox.Tenant, reference)
	if err != nil {
		return operatorapi.Payment{}, err
	}
	if t.Operator != n.api.Operator || !slices.Contains(operations, t.NativeCall) {
		return operatorapi.Payment{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	market := sandboxes.Market{Operator: t.Operator, Country: t.Country}
	p := operatorapi.Payment{
		Transaction: t, Operation: t.NativeCall, Sent: sent, Telling: operatorapi.Telling{Vague: n.who.sandbox.Environments[market].Vague},
	}
	return p, n.disturbTold(ctx, &p)
}

// isReference reports whether a text can be a reference at all.
func isReference(text string) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= 80 && !strings.ContainsRune(text, 0)
}

// FindCollection implements [operatorapi.Sandbox].
func (n *nativeSandbox) FindCollection(ctx context.Context, reference string) (*payments.Transaction, error) {
	if !isReference(reference) {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	t, _, err := n.server.ledger.FindReference(ctx, n.who.sandbox.Tenant, reference)
	if err == nil && (t.Type != payments.Collection || t.Operator != n.api.Operator) {
		err = ledger.ErrNotFound
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	return t, err
}
