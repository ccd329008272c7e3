package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// record is a method of [service.Service] that records an order.
type record func(context.Context, *service.Caller, service.Order) (service.Recorded, error)

// recordOnce records an order. If the reference is taken, it refuses with [operatorapi.Duplicate], even for a
// repetition of the same order. Unlike /v1, operators do not repeat an answer.
func (s *sandbox) recordOnce(ctx context.Context, o operatorapi.Order, record record) error {
	sent, err := json.Marshal(o.Sent)
	if err != nil {
		return fmt.Errorf("keeping what was sent: %w", err)
	}
	o.Operator = s.api.Operator
	if o.CallbackURL != "" {
		o.Callbacks = []payments.PlannedCallback{{URL: o.CallbackURL}}
	}
	if err := s.exceptElsewhere(ctx, &o); err != nil {
		return err
	}
	if len(o.Callbacks) > payments.MaxCallbacks {
		return fmt.Errorf("an order has %d callbacks, and may have %d", len(o.Callbacks), payments.MaxCallbacks)
	}
	recorded, err := record(ctx, s.who, service.Order{
		Order:       o.Order,
		Fingerprint: func(string) []byte { return ledger.NativeHash(o.Operation) },
		Call: &service.OperatorCall{
			Operation: o.Operation, Sent: sent, Callbacks: o.Callbacks, Party: o.Party, AnyNumber: o.AnyNumber,
			Failed: o.Failed, PromptTime: o.PromptTime,
		},
	})
	var duplicate service.ErrDuplicateReference
	switch {
	case errors.As(err, &duplicate):
		err = operatorapi.Refuse(operatorapi.Duplicate).Say(whoseReference(&o, duplicate.Taken.Transaction))
	case err == nil && recorded.Replayed:
		err = operatorapi.Refuse(operatorapi.Duplicate).Say(whoseReference(&o, recorded.Transaction))
	}
	s.recorded, s.operation = recorded, o.Operation
	return err
}

// exceptElsewhere removes from an order what the operator's own sandbox does with its number, if the number is that of a
// test client of another operator or country: the operator does not know that number.
func (s *sandbox) exceptElsewhere(ctx context.Context, o *operatorapi.Order) error {
	if o.Party == nil && !o.AnyNumber || o.MSISDN == "" {
		return nil
	}
	sim, err := s.native.ledger.FindSIM(ctx, s.who.Sandbox.Tenant, o.MSISDN)
	if sim != nil && !sim.Of(o.Operator, o.Country) {
		o.Party, o.AnyNumber = nil, false
	}
	return err
}

// whoseReference says which transaction has the reference of an order, and how the two differ.
func whoseReference(o *operatorapi.Order, t *payments.Transaction) string {
	var differing []string
	if t.NativeCall == "" {
		differing = append(differing, "was made through /v1")
	} else if o.Operation != "" && t.NativeCall != o.Operation {
		differing = append(differing, "was made by another call")
	}
	if o.Amount != 0 && o.Amount != t.Amount {
		differing = append(differing, fmt.Sprintf("has the amount %d", t.Amount))
	}
	if o.MSISDN != "" && o.MSISDN != t.MSISDN {
		differing = append(differing, "has the number "+t.MSISDN)
	}
	if o.Currency != "" && o.Currency != t.Currency {
		differing = append(differing, "has the currency "+t.Currency)
	}
	if o.Parent != (payments.ID{}) && (t.ParentID == nil || *t.ParentID != o.Parent) {
		differing = append(differing, "refunds no or another payment")
	}
	if o.OrderRef != "" && o.OrderRef != t.OrderRef {
		differing = append(differing, "has another id of the order")
	}
	if o.Description != nil && (t.Description == nil || *t.Description != *o.Description) {
		differing = append(differing, "has another message")
	} else if o.Operation != "" && o.Description == nil && t.Description != nil {
		differing = append(differing, "has a message")
	}
	how := "was recorded with the same fields: an operator refuses a repetition too"
	if differing != nil {
		how = strings.Join(differing, ", ")
	}
	return fmt.Sprintf("the reference belongs to the %s %s with status %s, which %s", t.Type, t.ID, t.Status, how)
}

// Collect implements [operatorapi.Sandbox].
func (s *sandbox) Collect(ctx context.Context, o operatorapi.Order) error {
	if o.Confirmed {
		return s.recordOnce(ctx, o, s.collectConfirmed)
	}
	return s.recordOnce(ctx, o, s.native.service.Collect)
}

// collectConfirmed records a collection that its payer has confirmed already.
func (s *sandbox) collectConfirmed(ctx context.Context, who *service.Caller, order service.Order) (service.Recorded, error) {
	recorded, err := s.native.service.Collect(ctx, who, order)
	if err == nil && !recorded.Replayed {
		err = s.native.service.AnswerAtOnce(ctx, who, recorded.Transaction)
	}
	return recorded, err
}

// Disburse implements [operatorapi.Sandbox].
func (s *sandbox) Disburse(ctx context.Context, o operatorapi.Order) error {
	return s.recordOnce(ctx, o, s.native.service.Disburse)
}

// Refund implements [operatorapi.Sandbox].
func (s *sandbox) Refund(ctx context.Context, o operatorapi.Order) error {
	return s.recordOnce(ctx, o, s.native.service.Refund)
}

// Find implements [operatorapi.Sandbox].
func (s *sandbox) Find(ctx context.Context, reference string, operations ...string) (operatorapi.Payment, error) {
	if !isReference(reference) {
		return operatorapi.Payment{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	t, sent, err := s.native.ledger.FindNative(ctx, s.who.Sandbox.Tenant, reference)
	if errors.Is(err, ledger.ErrNotFound) {
		err = operatorapi.Refuse(operatorapi.NotFound)
	}
	if err != nil {
		return operatorapi.Payment{}, err
	}
	if t.Operator != s.api.Operator || !slices.Contains(operations, t.NativeCall) {
		return operatorapi.Payment{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	market := sandboxes.Market{Operator: t.Operator, Country: t.Country}
	p := operatorapi.Payment{
		Transaction: t, Operation: t.NativeCall, Sent: sent,
		StatusView: operatorapi.StatusView{Vague: s.who.Sandbox.Environments[market].Vague},
	}
	return p, s.applyStatusFault(ctx, &p)
}

// HasPending implements [operatorapi.Sandbox].
func (s *sandbox) HasPending(ctx context.Context, operation, msisdn string) (bool, error) {
	filter := lists.Filter{Operator: s.api.Operator, Status: payments.Pending, Type: payments.Collection, MSISDN: msisdn}
	t, err := s.findListed(ctx, filter, func(t *payments.Transaction) bool { return t.NativeCall == operation })
	return t != nil, err
}

// claim is a phone that a request has claimed.
type claim struct {
	tenant int64
	msisdn string
}

// Claim implements [operatorapi.Sandbox].
func (s *sandbox) Claim(msisdn string) (release func(), claimed bool) {
	phone := claim{s.who.Sandbox.Tenant, msisdn}
	_, taken := s.native.claimed.LoadOrStore(phone, nil)
	return func() { s.native.claimed.Delete(phone) }, !taken
}

// FindInMinute implements [operatorapi.Sandbox].
func (s *sandbox) FindInMinute(ctx context.Context, minute time.Time, is func(*payments.Transaction) bool) (*payments.Transaction, error) {
	end := minute.Add(time.Minute)
	t, err := s.findListed(ctx, lists.Filter{Operator: s.api.Operator, CreatedAfter: &minute, CreatedBefore: &end}, is)
	if err == nil && t == nil {
		err = operatorapi.Refuse(operatorapi.NotFound)
	}
	return t, err
}

// atATime is the number of transactions that are read at a time.
const atATime = 1000

// findListed returns the newest transaction in a list that the function is accepts; nil: there is none.
func (s *sandbox) findListed(ctx context.Context, filter lists.Filter, is func(*payments.Transaction) bool) (*payments.Transaction, error) {
	for after := (*payments.ID)(nil); ; {
		page, err := s.native.ledger.ListTransactions(ctx, s.who.Sandbox.Tenant, filter, after, atATime)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(page, is); i >= 0 {
			return page[i], nil
		}
		if len(page) < atATime {
			return nil, nil
		}
		after = &page[len(page)-1].ID
	}
}

// isReference reports whether a text has the format of a reference.
func isReference(text string) bool {
	return text != "" && operatorapi.IsText(text, 80)
}

// FindCollection implements [operatorapi.Sandbox].
func (s *sandbox) FindCollection(ctx context.Context, reference string) (*payments.Transaction, error) {
	if !isReference(reference) {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	t, _, err := s.native.ledger.FindReference(ctx, s.who.Sandbox.Tenant, reference)
	if err == nil && (t.Type != payments.Collection || t.Operator != s.api.Operator) {
		err = ledger.ErrNotFound
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	return t, err
}

// applyStatusFault applies a fault to the status that an answer reports. The fault may replace the reason, keep the
// status pending, or replace the answer.
func (s *sandbox) applyStatusFault(ctx context.Context, payment *operatorapi.Payment) error {
	pending, ended, err := s.drawWrong(ctx, payment.Transaction)
	if err != nil {
		return err
	}
	f, err := s.native.service.StatusFault(ctx, s.who, payment.Transaction, service.WrongAnswers{
		Pending: pending != nil, Ended: ended != nil,
	})
	if err != nil || f == nil {
		return err
	}
	payment.Reason = f.Operator.Reason
	if f.StaysPending {
		told := *payment.Transaction
		told.Status, told.CompletedAt = payments.Pending, nil
		payment.Transaction = &told
	}
	if f.Flickers && payment.Status.Terminal() {
		s.wrong = ended
	} else if f.Flickers {
		s.wrong = pending
	}
	return nil
}

// drawWrong draws the answers to a status call: for a transaction that is told as pending, and for one that is told with
// its outcome. nil stands for the right answer.
func (s *sandbox) drawWrong(ctx context.Context, t *payments.Transaction) (pending, ended operatorapi.WrongAnswer, err error) {
	if s.route == nil || s.route.Flicker == nil {
		return nil, nil, nil
	}
	draw, err := s.native.service.DrawStatus(ctx, s.who, t)
	if err != nil || draw == nil {
		return nil, nil, err
	}
	flicker := s.route.Flicker
	return flicker.Pending[draw(len(flicker.Pending))], flicker.Ended[draw(len(flicker.Ended))], nil
}
