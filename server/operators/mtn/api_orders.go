package mtn

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/operators/native"
)

// inTarget is a call in the environment that the request names.
func inTarget(f func(context.Context, native.Sandbox, *native.Request, target) (native.Answer, error)) handler {
	return func(ctx context.Context, s native.Sandbox, r *native.Request) (native.Answer, error) {
		t, err := targetOf(s, r.Header)
		if err != nil {
			return native.Answer{}, err
		}
		return f(ctx, s, r, t)
	}
}

var acceptedAnswer = native.Answer{Status: http.StatusAccepted}

// collect asks a payer for money.
func collect(operation string, second bool) handler {
	return inTarget(func(ctx context.Context, s native.Sandbox, r *native.Request, t target) (native.Answer, error) {
		order, body, err := newOrder(s, r, t, operation, second)
		if err != nil {
			return native.Answer{}, err
		}
		if err := addParty(order, body.Payer, t, collectionParties); err != nil {
			return native.Answer{}, err
		}
		return acceptedAnswer, s.Collect(ctx, *order)
	})
}

// disburse pays somebody.
func disburse(operation string, second bool) handler {
	parties := transferParties
	if operation == depositCall {
		parties = collectionParties
	}
	return inTarget(func(ctx context.Context, s native.Sandbox, r *native.Request, t target) (native.Answer, error) {
		order, body, err := newOrder(s, r, t, operation, second)
		if err != nil {
			return native.Answer{}, err
		}
		if err := addParty(order, body.Payee, t, parties); err != nil {
			return native.Answer{}, err
		}
		return acceptedAnswer, s.Disburse(ctx, *order)
	})
}

// giveBack refunds a collection.
func giveBack(second bool) handler {
	return inTarget(func(ctx context.Context, s native.Sandbox, r *native.Request, t target) (native.Answer, error) {
		order, body, err := newOrder(s, r, t, refundCall, second)
		if err != nil {
			return native.Answer{}, err
		}
		parent, err := s.FindCollection(ctx, canonicalReference(body.ReferenceIDToRefund))
		if err != nil {
			return native.Answer{}, err
		}
		sent := order.Sent.(sent)
		sent.Party = Party{PartyIDType: "MSISDN", PartyID: strings.TrimPrefix(parent.MSISDN, "+")}
		order.Parent, order.MSISDN, order.Sent = parent.Reference, parent.MSISDN, sent
		return acceptedAnswer, s.Refund(ctx, *order)
	})
}

// newOrder reads what the calls that move money have in common, in the order in which MTN looks at it (a): reference, body, currency,
// callback. A taken reference comes last.
func newOrder(s native.Sandbox, r *native.Request, t target, operation string, second bool) (*native.Order, *orderBody, error) {
	reference, err := referenceOf(r.Header)
	if err != nil {
		return nil, nil, err
	}
	if reference == r.User.ID {
		return nil, nil, native.Refuse(native.Invalid)
	}
	body, err := readOrder(r.Body)
	if err != nil {
		return nil, nil, err
	}
	amount, err := amountOf(body.Amount)
	if err != nil {
		return nil, nil, err
	}
	if body.Currency == "" {
		return nil, nil, native.Refuse(native.Invalid)
	}
	if !t.takes(body.Currency) {
		return nil, nil, native.Refuse(wrongCurrency)
	}
	callback := strings.TrimSpace(r.Header.Get(callbackHeader))
	if len(callback) > maxCallbackURL || !utf8.ValidString(callback) {
		return nil, nil, native.Refuse(native.Invalid)
	}
	if callback != "" && !(mayCall(r.User, callback) && s.MayCall(callback)) {
		return nil, nil, native.Refuse(wrongCallbackHost)
	}
	return &native.Order{
		Operation: operation, Reference: reference, Environment: t.Environment, Amount: amount,
		OrderRef: truncated(body.ExternalID, maxOrderRef), Description: body.PayerMessage, CallbackURL: callback,
		Sent: sent{
			Currency: body.Currency, ExternalID: body.ExternalID, PayerMessage: body.PayerMessage, PayeeNote: body.PayeeNote, Second: second,
		},
	}, body, nil
}

// addParty gives an order the number of its payer or payee.
func addParty(o *native.Order, p *Party, t target, parties map[string]testParty) (err error) {
	if o.MSISDN, err = msisdnOf(p); err != nil {
		return err
	}
	sent := o.Sent.(sent)
	sent.Party = *p
	if test, found := parties[strings.TrimPrefix(o.MSISDN, testPrefix)]; found && t.sandbox && strings.HasPrefix(o.MSISDN, testPrefix) {
		o.Party, sent.Reason = test.number(), test.reason
	}
	o.Sent = sent
	return nil
}

func truncated(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// tellStatus tells what came of an order.
func tellStatus(operation string) func(context.Context, native.Sandbox, *native.Request, target) (native.Answer, error) {
	return func(ctx context.Context, s native.Sandbox, r *native.Request, _ target) (native.Answer, error) {
		found, err := s.Find(ctx, canonicalReference(r.Param("reference")), operation)
		if err != nil {
			return native.Answer{}, err
		}
		body, err := statusBody(found.Transaction, found.Sent, found.Vague)
		return native.Answer{Status: http.StatusOK, Body: body}, err
	}
}

// notify takes the text that the payer of a successful request gets. Nobody gets one here.
func notify(ctx context.Context, s native.Sandbox, r *native.Request, _ target) (native.Answer, error) {
	found, err := s.Find(ctx, canonicalReference(r.Param("reference")), payCall)
	if err != nil {
		return native.Answer{}, err
	}
	if !isPaid(found.Transaction) {
		return native.Answer{}, native.Refuse(notCompleted)
	}
	return native.Answer{Status: http.StatusOK}, nil
}
