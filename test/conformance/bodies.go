package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
)

// leftOut takes a field out of a body.
type leftOut struct{}

// reference returns one that was never used.
func (s *suite) reference() string { return "CONFORM-" + s.unique() }

// stranger returns a number of the environment's operator that no test client has.
func (s *suite) stranger(e environment) string {
	return fmt.Sprintf(e.unregistered, s.counter.Add(1)%1_000_000)
}

// collection is a request body that makes a payment in an environment. Changes take the place of what it would have, and
// later changes the place of earlier ones.
func (s *suite) collection(e environment, changes ...object) object {
	body := object{
		"amount": 1000, "currency": e.currency, "operator": e.operator, "country": e.country,
		"msisdn": s.stranger(e), "reference": s.reference(), "application": shop,
	}
	return changed(body, changes...)
}

// disbursement is a request body that pays out in an environment.
func (s *suite) disbursement(e environment, changes ...object) object {
	return s.collection(e, changes...) // the fields are the same
}

// changed returns a copy of a body with changes.
func changed(body object, changes ...object) object {
	body = maps.Clone(body)
	for _, change := range changes {
		maps.Copy(body, change)
	}
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == leftOut{} })
	return body
}

// pay makes a payment and returns its representation.
func (c *check) pay(e environment, changes ...object) object {
	return c.expect(c.post("/payments", c.collection(e, changes...)), http.StatusCreated)
}

// paid makes a payment that is forced to succeed.
func (c *check) paid(e environment, changes object) object {
	return c.pay(e, object{"scenario": "success"}, changes)
}

// payout makes a disbursement and returns the answer's object.
func (c *check) payout(e environment, changes ...object) object {
	return c.expect(c.post("/disbursements", c.disbursement(e, changes...)), http.StatusOK)
}

// refund refunds a payment, with a nil body in full, and returns the refund's representation.
func (c *check) refund(payment object, body any) object {
	return c.expect(c.post(refundPath(payment), body), http.StatusCreated)
}

func refundPath(payment object) string { return paymentPath(textOf(payment, "id")) + "/refund" }

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// fetch retrieves a transaction.
func (c *check) fetch(id string) object {
	return c.expect(c.get(paymentPath(id)), http.StatusOK)
}

// settled waits until a payment is not pending any more.
func (c *check) settled(payment object) object {
	c.eventually(func() string {
		payment = c.fetch(textOf(payment, "id"))
		if payment["status"] == "PENDING" {
			return fmt.Sprintf("the payment %s is still PENDING", payment["id"])
		}
		return ""
	})
	return payment
}

// list asks for transactions.
func (c *check) list(query url.Values) object {
	return c.expect(c.get("/payments?"+query.Encode()), http.StatusOK)
}

// items are the transactions on a page of the list.
func (c *check) items(page object) []object {
	data, ok := page["data"].([]any)
	if !ok {
		c.fail("the list's data is %s, want an array", show(page["data"], true))
	}
	items := make([]object, len(data))
	for i, item := range data {
		if items[i], ok = item.(object); !ok {
			c.fail("item %d of the list is %s, want an object", i, show(item, true))
		}
	}
	return items
}
