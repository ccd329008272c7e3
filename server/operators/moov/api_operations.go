package moov

import (
	"context"
	"fmt"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// pushWith returns the handler of an operation that records a collection. Push waits for the payer. PushWithPending
// always answers that the collection is pending.
func pushWith(name string) func(context.Context, operatorapi.Sandbox, operatorapi.Environment, *soapCall) (values, bool, error) {
	return func(ctx context.Context, s operatorapi.Sandbox, e operatorapi.Environment, c *soapCall) (values, bool, error) {
		f := c.fields
		order, err := newOrder(s, e, name, orderNames{"externaldata1", "msisdn", "amount"}, c.field)
		if err != nil {
			return nil, false, err
		}
		if message := f["message"]; message != "" {
			message = operatorapi.Cut(message, maxText)
			order.Description = &message
		}
		order.CallbackURL = e.Callback.URL
		if err := s.Collect(ctx, *order); err != nil || name == pushPendingCall {
			return values{"description": pendingState, "status": inPending}, false, err
		}
		p, err := s.Find(ctx, order.Reference, name)
		if err != nil {
			return nil, false, err
		}
		return stateOf(&p), true, nil
	}
}

// stateOf returns the state of a transaction. While the transaction is pending, the answer has no reference of Moov.
func stateOf(p *operatorapi.Payment) values {
	code, text := outcomeOf(p.Transaction, p.StatusView)
	if p.Status == payments.Pending {
		return values{"description": text, "status": code}
	}
	return values{"description": text, "referenceid": referenceOf(p.Transaction), "status": code, "transid": p.Reference}
}

// statusAnswer answers with the state of a transaction. It finds the transaction by the client's reference or by
// Moov's.
func statusAnswer(ctx context.Context, s operatorapi.Sandbox, _ operatorapi.Environment, c *soapCall) (values, bool, error) {
	asked := c.fields["transid"]
	const wanted = "the reference of a request, or Moov's reference of its transaction"
	if asked == "" {
		return nil, false, operatorapi.Refuse(noReference).Expect("transid", wanted)
	}
	p, err := s.Find(ctx, asked, recording...)
	if minute, ok := minuteIn(asked); ok && operatorapi.IsRefused(err, operatorapi.NotFound) {
		var t *payments.Transaction
		if t, err = s.FindInMinute(ctx, minute, func(t *payments.Transaction) bool { return referenceOf(t) == asked }); err == nil {
			p, err = s.Find(ctx, t.Reference, recording...)
		}
	}
	if err != nil {
		return nil, false, operatorapi.ExpectFound(err, "transid", wanted)
	}
	return stateOf(&p), false, nil
}

// payOut returns the handler of an operation that records a disbursement.
func payOut(name string) func(context.Context, operatorapi.Sandbox, operatorapi.Environment, *soapCall) (values, bool, error) {
	return func(ctx context.Context, s operatorapi.Sandbox, e operatorapi.Environment, c *soapCall) (values, bool, error) {
		order, err := newOrder(s, e, name, orderNames{"referenceid", "destination", "amount"}, c.field)
		if err == nil {
			err = s.Disburse(ctx, *order)
		}
		if err != nil {
			return nil, false, err
		}
		p, err := s.Find(ctx, order.Reference, name)
		if err != nil {
			return nil, false, err
		}
		balance, err := s.Balance(ctx, e.Currency)
		if err != nil {
			return nil, false, err
		}
		code, text := outcomeOf(p.Transaction, p.StatusView)
		if p.MerchantBalanceAfter != nil { // other transactions may have changed the float since
			balance = *p.MerchantBalanceAfter
		}
		before := balance
		if p.Status == payments.Success {
			before += p.Amount
			text = fmt.Sprintf("Vous avez transfere %d FCFA. Votre nouveau solde %s FCFA", p.Amount, amountText(balance)) // ThirdParty: the second sentence
		}
		reference, transaction := p.Reference, referenceOf(p.Transaction)
		if name == transferCall { // its referenceid is Moov's reference (ThirdParty)
			reference, transaction = transaction, reference
		}
		return values{
			"message": text, "referenceid": reference, "status": code, "transid": transaction, "transactionid": transaction,
			"senderkeycost": amountText(0), "senderbonus": amountText(0), "senderbalancebefore": amountText(before), "senderbalanceafter": amountText(balance),
		}, true, nil
	}
}

// amountText returns an amount as Moov writes it (ThirdParty).
func amountText(amount int64) string { return fmt.Sprintf("%d.00", amount) }

// balanceValues answers with the float of the environment. It ignores the merchant's number, because a merchant has one
// float.
func balanceValues(ctx context.Context, s operatorapi.Sandbox, e operatorapi.Environment, c *soapCall) (values, bool, error) {
	if _, err := c.msisdn(e.Country); err != nil {
		return nil, false, err
	}
	balance, err := s.Balance(ctx, e.Currency)
	return values{"balance": amountText(balance), "message": success, "status": completed}, false, err
}

// field returns the value of a field; "" if the call has no such field.
func (c *soapCall) field(name string) string { return c.fields[name] }

// msisdn returns the number of the call in E.164.
func (c *soapCall) msisdn(country payments.Country) (string, error) {
	number := c.fields["msisdn"]
	if number == "" {
		return "", operatorapi.Refuse(incomplete).Expect("msisdn", operatorapi.NumberForm("", country, country.Facts().Digits))
	}
	return msisdnOf("msisdn", number, country)
}

// accountValues answers with the test client that has a number. If no test client has it, the name is constant.
func accountValues(ctx context.Context, s operatorapi.Sandbox, e operatorapi.Environment, c *soapCall) (values, bool, error) {
	msisdn, err := c.msisdn(e.Country)
	if err != nil {
		return nil, false, err
	}
	holder, err := s.Holder(ctx, e, msisdn)
	if operatorapi.IsRefused(err, operatorapi.NotFound) {
		err = operatorapi.Refuse(unknownHolder).Expect("msisdn", "the number of a test client of moov in "+string(e.Country))
	}
	if err != nil {
		return nil, false, err
	}
	first, last := holder.Names()
	status, allowed := "ACTIVE", "1"
	if !holder.Active {
		status, allowed = "LOCKED", "0"
	}
	return values{
		"accounttype": "SUBSCRIBER", "allowedtransfer": allowed, "city": "", "dateofbirth": "", "firstname": first, "lastname": last,
		"message": success, "msisdn": strings.TrimPrefix(msisdn, "+"), "region": "", "secondname": "", "status": completed, "street": "",
		"subscriberstatus": status,
	}, false, nil
}
