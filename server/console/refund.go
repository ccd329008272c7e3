package console

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/payments"
)

// refundForm has the fields of the form of a refund.
type refundForm struct {
	amount, reason string
	reference      string // fixed for the form, so that a form sent twice refunds once
	sent           *sentRequest
}

// refundForm returns an empty form for a refund of the payment.
func (d *paymentDetail) refundForm(v *visit) *refundForm {
	origin := payments.OriginOf(d.Reference)
	return &refundForm{reference: newReference(v, origin, payments.OpRefund)}
}

// mayRefund reports whether the session may refund the payment, and an amount to refund is left.
func (d *paymentDetail) mayRefund(v *visit) bool { return v.may(full) && d.Refundable() > 0 }

// refund shows the form of a refund, for browsers without JavaScript.
func (c *Console) refund(v *visit) (page, error) {
	d, p, err := c.shownPayment(v)
	if d != nil {
		p = refundPageOf(v, d, d.refundForm(v))
	}
	return p, err
}

func refundPageOf(v *visit, d *paymentDetail, f *refundForm) page {
	return page{title: v.Text("Refund"), body: refundPage(v, d, f)}
}

// refundNow sends the request of the form.
func (c *Console) refundNow(v *visit) (httpfront.Answer, error) {
	f := &refundForm{v.form("amount"), v.form("reason"), v.form("reference"), nil}
	r := requestCode{}
	var d *paymentDetail
	var p page
	err := c.renewing(v, func() (err error) {
		d, p, err = c.shownPayment(v)
		return err
	})
	if err != nil {
		return httpfront.Answer{}, err
	}
	if d == nil {
		return c.again(v, http.StatusNotFound, p, "not_found")
	}
	r.path = "/api/v1/payments/" + d.ID.String() + "/refund"
	r.add("amount", amountToSend(cmp.Or(strings.TrimSpace(f.amount), v.form("left")))) // all that the form said is left, and never more
	r.add("reference", f.reference)
	r.add("description", f.reason)
	if f.sent = c.send(v, http.MethodPost, r); f.sent.succeeded() {
		return v.goTo("/payments/" + d.ID.String()), nil
	}
	return c.again(v, f.sent.pageStatus(), refundPageOf(v, d, f), f.sent.answer.Error)
}

// wrong returns what is wrong with a field, in the words of the API; "" for nothing.
func (f *refundForm) wrong(field string) string {
	if f.sent == nil {
		return ""
	}
	a := &f.sent.answer
	if field == "amount" && a.Error == "exceeds_refundable" {
		return a.Message
	}
	return strings.Join(a.Detail.FieldErrors[field], "; ")
}

// problem returns why nothing was refunded, and the language of this text. Both are empty if the text of a field already
// says it.
func (f *refundForm) problem(v *visit) (text, language string) {
	switch {
	case f.sent == nil || f.wrong("amount")+f.wrong("description") != "":
		return "", ""
	case f.sent.status == 0:
		return v.Text("The connection was closed without an answer.") + " " +
			v.Text("Send it again as it is: with the same reference it is recorded once at most."), v.Tag
	case f.sent.answer.Message != "":
		return f.sent.answer.Message, "en"
	}
	return v.Text("Refused with %s.", fmt.Sprint(f.sent.status)), v.Tag
}
