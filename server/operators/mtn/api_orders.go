package mtn

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// inTarget returns a handler that calls f with the target environment of the request.
func inTarget(f operatorapi.HandlerIn[target]) operatorapi.Handler {
	return operatorapi.In(targetOf, f)
}

var acceptedAnswer = operatorapi.Answer{Status: http.StatusAccepted}

// collect returns the handler of a call that records a collection.
func collect(operation string, second bool) operatorapi.Handler {
	return inTarget(func(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, t target) (operatorapi.Answer, error) {
		order, body, err := newOrder(s, r, t, operation, second)
		if err != nil {
			return operatorapi.Answer{}, err
		}
		if err := addParty(order, "payer", body.Payer, t); err != nil {
			return operatorapi.Answer{}, err
		}
		return acceptedAnswer, s.Collect(ctx, *order)
	})
}

// disburse returns the handler of a call that records a disbursement.
func disburse(operation string, second bool) operatorapi.Handler {
	return inTarget(func(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, t target) (operatorapi.Answer, error) {
		order, body, err := newOrder(s, r, t, operation, second)
		if err != nil {
			return operatorapi.Answer{}, err
		}
		if err := addParty(order, "payee", body.Payee, t); err != nil {
			return operatorapi.Answer{}, err
		}
		return acceptedAnswer, s.Disburse(ctx, *order)
	})
}

// giveBack returns the handler of a call that refunds a collection.
func giveBack(second bool) operatorapi.Handler {
	return inTarget(func(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, t target) (operatorapi.Answer, error) {
		order, body, err := newOrder(s, r, t, refundCall, second)
		if err != nil {
			return operatorapi.Answer{}, err
		}
		parent, err := s.FindCollection(ctx, canonicalReference(string(body.ReferenceIDToRefund)))
		if err != nil {
			test, isTest := refundedTests[string(body.ReferenceIDToRefund)]
			if isTest && t.sandbox && operatorapi.IsRefused(err, operatorapi.NotFound) {
				// There is no collection to refund, so the test value is recorded as a disbursement.
				setParty(order, Party{PartyIDType: msisdnType, PartyID: refundedParty}, "+"+refundedParty, &test)
				return acceptedAnswer, s.Disburse(ctx, *order)
			}
			return operatorapi.Answer{}, operatorapi.ExpectFound(err, "referenceIdToRefund", "the X-Reference-Id of a collection of mtn")
		}
		setParty(order, Party{PartyIDType: msisdnType, PartyID: strings.TrimPrefix(parent.MSISDN, "+")}, parent.MSISDN, nil)
		order.Parent = parent.ID
		return acceptedAnswer, s.Refund(ctx, *order)
	})
}

// newOrder returns the order of a call that moves money, without its party. It checks the reference, the body, the
// currency and the callback. MTN checks them in the same sequence (Assumed). newOrder does not check whether the
// reference is taken: the method of the sandbox that records the order does.
func newOrder(
	s operatorapi.Sandbox, r *operatorapi.Request, t target, operation string, second bool,
) (*operatorapi.Order, *orderBody, error) {
	reference, err := referenceOf(r.Header)
	if err != nil {
		return nil, nil, err
	}
	if err := wrongUnless(reference != r.User.ID, referenceHeader, "another UUID than that of the API user"); err != nil {
		return nil, nil, err
	}
	body, err := readOrder(r)
	if err != nil {
		return nil, nil, err
	}
	amount, err := amountOf(body.Amount)
	if err != nil {
		return nil, nil, err
	}
	if err := wrongUnless(body.Currency != "", "currency", string(t.Currency)); err != nil {
		return nil, nil, err
	}
	if !t.takes(body.Currency) {
		return nil, nil, t.refuseCurrency("currency")
	}
	callback, err := callbackOf(s, r)
	if err != nil {
		return nil, nil, err
	}
	order := payments.Order{
		Details: payments.Details{Reference: reference, Currency: string(t.Currency)}, Country: t.Country,
		Amount: amount, OrderRef: operatorapi.Cut(string(body.ExternalID), maxOrderRef),
	}
	if body.PayerMessage != "" {
		order.Description = &body.PayerMessage
	}
	return &operatorapi.Order{Order: order, Operation: operation, CallbackURL: callback, AnyNumber: t.AnyNumber, Sent: sent{
		Currency: body.Currency, ExternalID: string(body.ExternalID), PayerMessage: body.PayerMessage, PayeeNote: body.PayeeNote, Second: second,
	}}, body, nil
}

// callbackOf returns the X-Callback-Url of a request; "" if it has no such header. It refuses an empty header, as MTN
// does (ThirdParty), and a URL to which no callback may go.
func callbackOf(s operatorapi.Sandbox, r *operatorapi.Request) (string, error) {
	given := r.Header.Values(callbackHeader)
	if len(given) == 0 {
		return "", nil
	}
	callback := strings.TrimSpace(given[0])
	isURL := callback != "" && len(callback) <= maxCallbackURL && utf8.ValidString(callback)
	if err := wrongUnless(isURL, callbackHeader, fmt.Sprintf("a URL of at most %d bytes, or no such header", maxCallbackURL)); err != nil {
		return "", err
	}
	switch host := r.User.CallbackHost; {
	case !mayCall(r.User, callback):
		return "", operatorapi.Refuse(wrongCallbackHost).Expect(callbackHeader, "a URL of "+host+", the providerCallbackHost of the API user")
	case !s.MayCall(callback):
		return "", operatorapi.Refuse(wrongCallbackHost).Expect(callbackHeader, "an http or https URL of a host that spec.callbackHosts allows")
	}
	return callback, nil
}

// addParty sets the payer or payee of an order. The parameter field is the name of the party's field.
func addParty(o *operatorapi.Order, field string, p *partyBody, t target) error {
	msisdn, err := msisdnOfParty(field, p, t.Country)
	if err != nil {
		return err
	}
	test, isTest := parties[o.Operation][strings.TrimPrefix(msisdn, "+")]
	sent := Party{PartyIDType: p.PartyIDType, PartyID: string(p.PartyID)}
	if !isTest || !t.sandbox {
		setParty(o, sent, msisdn, nil)
		return nil
	}
	setParty(o, sent, msisdn, &test)
	return nil
}

// setParty sets the party of an order. The parameter test is the behavior of the number in MTN's own sandbox; nil if
// the number is no test number.
func setParty(o *operatorapi.Order, p Party, msisdn string, test *testParty) {
	sent := o.Sent.(sent)
	p.PartyID = strings.TrimSpace(p.PartyID)
	sent.Party = p
	if test != nil {
		o.Party, sent.Begins, sent.Reason, sent.ReasonOf = test.number(), test.begins, test.reason, test.status
	}
	o.MSISDN, o.Sent = msisdn, sent
}

// statusAnswer returns a handler that answers with the status of a transaction. The parameter operation is the name of
// the call that recorded the transaction.
func statusAnswer(operation string) operatorapi.HandlerIn[target] {
	return func(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, _ target) (operatorapi.Answer, error) {
		found, err := s.Find(ctx, canonicalReference(r.Param("reference")), operation)
		if err != nil {
			return operatorapi.Answer{}, operatorapi.ExpectFound(err, "reference", "the X-Reference-Id of a request to "+operation)
		}
		body, err := statusBody(found.Transaction, found.Sent, found.StatusView)
		return operatorapi.Answer{Status: http.StatusOK, Body: body}, err
	}
}

// notify accepts a text for the payer of a successful payment. It only checks the text, and sends nothing.
func notify(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request, _ target) (operatorapi.Answer, error) {
	var body struct {
		NotificationMessage string `json:"notificationMessage"`
	}
	message := r.Header.Get(notificationHeader)
	if len(r.Body) > 0 || message == "" {
		if err := r.Decode(operatorapi.Invalid, &body); err != nil {
			return operatorapi.Answer{}, err
		}
		message = cmp.Or(body.NotificationMessage, message)
	}
	fits := message != "" && utf8.RuneCountInString(message) <= maxMessage
	if err := wrongUnless(fits, notificationHeader, operatorapi.TextForm(1, maxMessage)); err != nil {
		return operatorapi.Answer{}, err
	}
	found, err := s.Find(ctx, canonicalReference(r.Param("reference")), payCall)
	if err != nil {
		return operatorapi.Answer{}, operatorapi.ExpectFound(err, "reference", "the X-Reference-Id of a request to pay")
	}
	if !isPaid(found.Transaction) {
		return operatorapi.Answer{}, operatorapi.Refuse(notCompleted).Expect("reference", "the X-Reference-Id of a payment with status SUCCESSFUL")
	}
	return operatorapi.Answer{Status: http.StatusOK}, nil
}
