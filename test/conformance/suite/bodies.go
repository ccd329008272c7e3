package suite

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
)

// LeftOut removes a field from a body.
type LeftOut struct{}

// Reference returns an unused reference.
func (s *Suite) Reference() string { return "CONFORM-" + s.Unique() }

// Stranger returns a number of the environment's operator without a test client.
func (s *Suite) Stranger(e Environment) string {
	return fmt.Sprintf(e.unregistered, s.counter.Add(1)%1_000_000)
}

// Collection is a request body for a payment in an environment. Changes override its fields, and later changes override
// earlier ones.
func (s *Suite) Collection(e Environment, changes ...Object) Object {
	body := Object{
		"amount": 1000, "currency": e.Currency, "operator": e.Operator, "country": e.Country,
		"msisdn": s.Stranger(e), "reference": s.Reference(), "application": Shop,
	}
	return Changed(body, changes...)
}

// Disbursement is a request body for a disbursement in an environment.
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

// Paid makes a payment with a forced success.
func (c *Check) Paid(e Environment, changes Object) Object {
	return c.Pay(e, Object{"scenario": "success"}, changes)
}

// Disburse makes a disbursement and returns the object of the answer.
func (c *Check) Disburse(e Environment, changes ...Object) Object {
	return c.Expect(c.Post("/disbursements", c.Disbursement(e, changes...)), http.StatusOK)
}

// Refund refunds a payment and returns the representation of the refund. A nil body refunds all.
func (c *Check) Refund(payment Object, body any) Object {
	return c.Expect(c.Post(RefundPath(payment), body), http.StatusCreated)
}

func RefundPath(payment Object) string { return PaymentPath(TextOf(payment, "id")) + "/refund" }

func PaymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// Fetch retrieves a transaction.
func (c *Check) Fetch(id string) Object {
	return c.Expect(c.Get(PaymentPath(id)), http.StatusOK)
}

// Settled waits until a payment is no longer pending.
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

// List requests a list of transactions.
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
