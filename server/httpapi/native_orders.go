package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// record is a call of package service that records an order.
type record func(context.Context, *service.Caller, service.Ask) (service.Recorded, error)

// recordNative records an order once. A taken reference is a duplicate, whatever took it: no operator repeats an answer.
func (n *nativeSandbox) recordNative(ctx context.Context, o operatorapi.Order, record record) error {
	sent, err := json.Marshal(o.Sent)
	if err != nil {
		return fmt.Errorf("keeping what was sent: %w", err)
	}
	o.Operator = n.api.Operator
	made, err := record(ctx, n.who, service.Ask{
		Order:       o.Order,
		Fingerprint: func(string) []byte { return ledger.NativeHash(o.Operation) },
		Call:        &service.OperatorCall{Operation: o.Operation, Sent: sent, CallbackURL: o.CallbackURL, Party: o.Party},
	})
	if err == nil && made.Replayed {
		err = operatorapi.Refuse(operatorapi.Duplicate)
	}
	n.awaited = made.BeforeAnswer
	return err
}

// Collect implements [operatorapi.Sandbox].
func (n *nativeSandbox) Collect(ctx context.Context, o operatorapi.Order) error {
	return n.recordNative(ctx, o, n.server.service.Collect)
}

// Disburse implements [operatorapi.Sandbox].
func (n *nativeSandbox) Disburse(ctx context.Context, o operatorapi.Order) error {
	return n.recordNative(ctx, o, n.server.service.Disburse)
}

// Refund implements [operatorapi.Sandbox].
func (n *nativeSandbox) Refund(ctx context.Context, o operatorapi.Order) error {
	return n.recordNative(ctx, o, n.server.service.Refund)
}

// Find implements [operatorapi.Sandbox].
func (n *nativeSandbox) Find(ctx context.Context, reference string, operations ...string) (operatorapi.Payment, error) {
	if !isReference(reference) {
		return operatorapi.Payment{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	t, sent, err := n.server.ledger.FindNative(ctx, n.who.Sandbox.Tenant, reference)
	if err != nil {
		return operatorapi.Payment{}, err
	}
	if t.Operator != n.api.Operator || !slices.Contains(operations, t.NativeCall) {
		return operatorapi.Payment{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	market := sandboxes.Market{Operator: t.Operator, Country: t.Country}
	p := operatorapi.Payment{
		Transaction: t, Operation: t.NativeCall, Sent: sent, Telling: operatorapi.Telling{Vague: n.who.Sandbox.Environments[market].Vague},
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
	t, _, err := n.server.ledger.FindReference(ctx, n.who.Sandbox.Tenant, reference)
	if err == nil && (t.Type != payments.Collection || t.Operator != n.api.Operator) {
		err = ledger.ErrNotFound
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	return t, err
}
