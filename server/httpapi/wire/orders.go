package wire

import "github.com/cauri-dev/cauri/server/payments"

// Order returns the collection to record.
func (b *CreatePaymentRequest) Order() payments.Order {
	return payments.Order{
		Reference: b.Reference, Operator: payments.Operator(b.Operator), Country: payments.Country(b.Country),
		Currency: b.Currency,
		MSISDN:   b.MSISDN, Amount: b.Amount, Store: b.Application, Scenario: payments.Scenario(b.Scenario),
		OrderRef: b.OrderRef, OrderURL: b.OrderURL, URLProtected: isTrue(b.IsURLProtected), Description: b.Description,
	}
}

// Order returns the disbursement to record.
func (b *DisbursementRequest) Order() payments.Order {
	return payments.Order{
		Reference: b.Reference, Operator: payments.Operator(b.Operator), Country: payments.Country(b.Country),
		Currency: b.Currency,
		MSISDN:   b.MSISDN, Amount: b.Amount, Store: b.Application, OrderRef: b.OrderRef, OrderURL: b.OrderURL,
		URLProtected: isTrue(b.IsURLProtected), Description: b.Description,
	}
}

// Order returns the refund to record. The parameter parent is the id of the refunded collection.
func (b *RefundRequest) Order(parent payments.ID) payments.Order {
	o := payments.Order{Reference: b.Reference, Parent: parent, Description: b.Description}
	if b.Amount != nil {
		o.Amount = *b.Amount
	}
	return o
}

func isTrue(b *bool) bool { return b != nil && *b }
