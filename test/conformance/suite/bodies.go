package suite

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
)

// LeftOut takes a field out of a body.
type LeftOut struct{}

// Reference returns one that was never used.
func (s *Suite) Reference() string { return "CONFORM-" + s.Unique() }

// Stranger returns a number of the environment's operator that no test client has.
func (s *Suite) Stranger(e Environment) string {
	return fmt.Sprintf(e.unregistered, s.counter.Add(1)%1_000_000)
}

// Collection is a request body that makes a payment in an environment. Changes take the place of what it would have, and
// later changes the place of earlier ones.
func (s *Suite) Collection(e Environment, changes ...Object) Object {
	body := Object{
		"amount": 1000, "currency": e.Currency, "operator": e.Operator, "country": e.Country,
		"msisdn": s.Stranger(e), "reference": s.Reference(), "application": Shop,
	}
	return Changed(body, changes...)
}

// Disbursement is a request body that pays out in an environment.
func (s *Suite) Disbursement(e Environment, changes ...Object) Object {
	return s.Collection(e, changes...) // the fields are the same
}

// Changed returns a copy of a body with changes.
func Changed(body Object, changes ...Object) Object {
	body = maps.Clone(body)
	for _, change := range changes {
		maps.Copy(body, change)
	}
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == LeftOut{} })
	return body
}

// Pay makes a payment and returns its representation.
func (c *Check) Pay(e Environment, changes ...Object) Object {
	return c.Expect(c.Post("/payments", c.Collection(e, changes...)), http.StatusCreated)
}

// Paid makes a payment that is forced to succeed.
func (c *Check) Paid(e Environment, changes Object) Object {
	return c.Pay(e, Object{"scenario": "success"}, changes)
}

// Payout makes a disbursement and returns the answer's object.
func (c *Check) Payout(e Environment, changes ...Object) Object {
	return c.Expect(c.Post("/disbursements", c.Disbursement(e, changes...)), http.StatusOK)
}

// Refund refunds a payment, with a nil body in full, and returns the refund's representation.
func (c *Check) Refund(payment Object, body any) Object {
	return c.Expect(c.Post(RefundPath(payment), body), http.StatusCreated)
}

func RefundPath(payment Object) string { return PaymentPath(TextOf(payment, "id")) + "/refund" }

func PaymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// Fetch retrieves a transaction.
func (c *Check) Fetch(id string) Object {
	return c.Expect(c.Get(PaymentPath(id)), http.StatusOK)
}

// Settled waits until a payment is not pending any more.
func (c *Check) Settled(payment Object) Object {
	c.Eventually(func() string {
		payment = c.Fetch(TextOf(payment, "id"))
		if payment["status"] == "PENDING" {
			return fmt.Sprintf("the payment %s is still PENDING", payment["id"])
		}
		return ""
	})
	return payment
}

// List asks for transactions.
func (c *Check) List(query url.Values) Object {
	return c.Expect(c.Get("/payments?"+query.Encode()), http.StatusOK)
}

// Items are the transactions on a page of the list.
func (c *Check) Items(page Object) []Object {
	data, ok := page["data"].([]any)
	if !ok {
		c.Fail("the list's data is %s, want an array", Show(page["data"], true))
	}
	items := make([]Object, len(data))
	for i, item := range data {
		if items[i], ok = item.(Object); !ok {
			c.Fail("item %d of the list is %s, want an object", i, Show(item, true))
		}
	}
	return items
}
