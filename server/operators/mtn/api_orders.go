package mtn

import (
	"cmp"
	"context"
	"encoding/json"
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
		if err := addParty(order, body.Payer, t); err != nil {
			return native.Answer{}, err
		}
		return acceptedAnswer, s.Collect(ctx, *order)
	})
}

// disburse pays somebody.
func disburse(operation string, second bool) handler {
	return inTarget(func(ctx context.Context, s native.Sandbox, r *native.Request, t target) (native.Answer, error) {
		order, body, err := newOrder(s, r, t, operation, second)
		if err != nil {
			return native.Answer{}, err
		}
		if err := addParty(order, body.Payee, t); err != nil {
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
			test, isTest := refundedTests[body.ReferenceIDToRefund]
			if isTest && t.sandbox && native.IsRefused(err, native.NotFound) { // there is nothing that it could be a refund of
				setParty(order, Party{PartyIDType: "MSISDN", PartyID: refundedParty}, "+"+refundedParty, &test)
				return acceptedAnswer, s.Disburse(ctx, *order)
			}
			return native.Answer{}, err
		}
		setParty(order, Party{PartyIDType: "MSISDN", PartyID: strings.TrimPrefix(parent.MSISDN, "+")}, parent.MSISDN, nil)
		order.Parent = parent.Reference
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

// addParty gives an order its payer or payee.
func addParty(o *native.Order, p *Party, t target) error {
	msisdn, err := msisdnOf(p)
	if err != nil {
		return err
	}
	test, isTest := parties[o.Operation][strings.TrimPrefix(msisdn, "+")]
	if !isTest || !t.sandbox {
		setParty(o, *p, msisdn, nil)
		return nil
	}
	setParty(o, *p, msisdn, &test)
	return nil
}

// setParty gives an order its party. test is what MTN's own sandbox does with it; nil: nothing of its own.
func setParty(o *native.Order, p Party, msisdn string, test *testParty) {
	sent := o.Sent.(sent)
	p.PartyID = strings.TrimSpace(p.PartyID)
	sent.Party = p
	if test != nil {
		o.Party, sent.Begins, sent.Reason, sent.ReasonOf = test.number(), test.begins, test.reason, test.status
	}
	o.MSISDN, o.Sent = msisdn, sent
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
		body, err := statusBody(found.Transaction, found.Sent, found.Telling)
		return native.Answer{Status: http.StatusOK, Body: body}, err
	}
}

// notify takes the text that the payer of a successful request gets. Nobody gets one here.
func notify(ctx context.Context, s native.Sandbox, r *native.Request, _ target) (native.Answer, error) {
	var body struct {
		NotificationMessage string `json:"notificationMessage"`
	}
	message := r.Header.Get(notificationHeader)
	if len(r.Body) > 0 || message == "" {
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return native.Answer{}, native.Refuse(native.Invalid)
		}
		message = cmp.Or(body.NotificationMessage, message)
	}
	if message == "" || utf8.RuneCountInString(message) > maxMessage {
		return native.Answer{}, native.Refuse(native.Invalid)
	}
	found, err := s.Find(ctx, canonicalReference(r.Param("reference")), payCall)
	if err != nil {
		return native.Answer{}, err
	}
	if !isPaid(found.Transaction) {
		return native.Answer{}, native.Refuse(notCompleted)
	}
	return native.Answer{Status: http.StatusOK}, nil
}
