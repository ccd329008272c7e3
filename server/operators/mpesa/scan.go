package mpesa

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// drafts are the forms of the ids of payments that are not made yet.
var drafts = regexp.MustCompile(`^[A-Z][A-L][0-9A-V][0-9A-Z]{7}$`)

// draftLifetime is how long a payer may look at a code before the payment.
const draftLifetime = time.Hour

// readCode decodes the fields of a stored code.
func readCode(o *operatorapi.Checkout) (c code, err error) {
	err = o.Read(&c)
	return c, err
}

// whyNot says why a code cannot be paid; "" if it can be.
type whyNot string

const (
	wrongKind  whyNot = "kind"       // of a code that pays no short code
	elsewhere  whyNot = "short code" // of a code for a short code that the sandbox does not have
	switchedTo whyNot = "market"     // the sandbox no longer has the operator in the country
)

// whyNotPayable says why a code cannot be paid.
func whyNotPayable(s operatorapi.Sandbox, c *code) whyNot {
	switch e := s.Environments(); {
	case c.TrxCode != trxPayBill && c.TrxCode != trxGoods:
		return wrongKind
	case !c.Own:
		return elsewhere
	case len(e) == 0 || e[0].Country != c.Country:
		return switchedTo
	}
	return ""
}

// scanned returns what the phone of a payer shows of a code. The id of the payment is drawn before the payment, so that a
// form that a browser sends twice pays once.
func scanned(ctx context.Context, s operatorapi.Sandbox, o operatorapi.Checkout) (operatorapi.Scanned, error) {
	c, err := readCode(&o)
	if err != nil {
		return operatorapi.Scanned{}, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return operatorapi.Scanned{}, err
	}
	drawn, err := s.RandomHex()
	return operatorapi.Scanned{
		Merchant: c.Merchant, Account: c.RefNo, ShortCode: c.ShortCode, Amount: o.Amount, Currency: c.Currency,
		Payable: whyNotPayable(s, &c) == "", Draft: receiptFor(now, numberIn(drawn)),
	}, err
}

// isDraft reports whether a text is the id of a payment that can be made now. The day in it is the day of the payment.
func isDraft(text string, now time.Time) bool {
	at, ok := minuteOf(text, now)
	return ok && drafts.MatchString(text) && receiptDate(now) == text[:3] && !at.After(now) && now.Sub(at) < draftLifetime
}

// payCode pays a code from a number. The id of the payment is the draft of the payer's page, or a new one if the draft is
// old. A payment that was made with this id is not made again.
func payCode(ctx context.Context, s operatorapi.Sandbox, o operatorapi.Checkout, msisdn, draft string) (c2bResult, error) {
	c, err := readCode(&o)
	if err != nil {
		return c2bResult{}, err
	}
	if why := whyNotPayable(s, &c); why != "" {
		return c2bResult{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	now, err := s.Now(ctx)
	if err != nil {
		return c2bResult{}, err
	}
	if !isDraft(draft, now) {
		draft = ""
	}
	if draft != "" {
		if _, err := paymentOf(ctx, s, &o, draft); !operatorapi.IsRefused(err, operatorapi.NotFound) {
			return c2bResult{TransID: draft}, err
		}
	}
	result, err := payShortCode(ctx, s, c2bPayment{
		ShortCode: c.ShortCode, Payer: msisdn, BillRef: c.RefNo, Amount: o.Amount, Goods: c.TrxCode == trxGoods, TransID: draft,
		Code: o.Reference,
	})
	if operatorapi.IsRefused(err, operatorapi.Duplicate) { // the form was sent twice at once
		_, err = paymentOf(ctx, s, &o, result.TransID)
	}
	return result, err
}

// payScanned is the function of [operatorapi.Scan].
func payScanned(ctx context.Context, s operatorapi.Sandbox, o operatorapi.Checkout, msisdn, draft string) (accepted bool, err error) {
	result, err := payCode(ctx, s, o, msisdn, draft)
	return result.Rejected == "", err
}

// paymentOf returns a payment of a code. It refuses with [operatorapi.NotFound] if no payment of this code has the id.
func paymentOf(ctx context.Context, s operatorapi.Sandbox, o *operatorapi.Checkout, transID string) (*payments.Transaction, error) {
	if !drafts.MatchString(transID) {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	found, err := s.Find(ctx, transID, c2bCall)
	if err != nil {
		return nil, err
	}
	var kept sent
	if err := json.Unmarshal(found.Sent, &kept); err != nil {
		return nil, errors.Join(errors.New("reading what was sent"), err)
	}
	if kept.Told == nil || kept.Told.Code != o.Reference {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	return found.Transaction, nil
}

// viewOf returns what the merchant sees of a code.
func viewOf(o operatorapi.Checkout) (operatorapi.CheckoutView, error) {
	c, err := readCode(&o)
	return operatorapi.CheckoutView{Country: c.Country, Currency: c.Currency, Token: c.Token, Title: c.RefNo, Repeats: true}, err
}
