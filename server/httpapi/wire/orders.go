package wire

import (
	"github.com/cauri-dev/cauri/server/payments"
)

// Order returns the collection to record.
func (b *CreatePaymentRequest) Order() payments.Order {
	return payments.Order{
		Details: payments.Details{
			Reference: b.Reference, Currency: b.Currency, MSISDN: b.MSISDN, Scenario: payments.Scenario(b.Scenario),
			OrderURL: b.OrderURL, URLProtected: isTrue(b.IsURLProtected), Description: b.Description,
		},
		Operator: payments.Operator(b.Operator), Country: payments.Country(b.Country), Amount: b.Amount,
		Store: b.Application, OrderRef: b.OrderRef,
	}
}

// SetFrom sets all fields to those of a collection. It returns those that the service may have filled in.
func (b *CreatePaymentRequest) SetFrom(t *payments.Transaction) []string {
	*b = CreatePaymentRequest{
		Amount: t.Amount, Currency: t.Currency, Operator: string(t.Operator), Country: string(t.Country), MSISDN: t.MSISDN,
		Reference: t.Reference, Application: t.Store, OrderRef: t.OrderRef, OrderURL: t.OrderURL, IsURLProtected: &t.URLProtected,
		Description: t.Description, Scenario: string(t.Scenario),
	}
	return []string{"operator", "country", "order_ref", "is_url_protected"}
}

// Order returns the disbursement to record.
func (b *DisbursementRequest) Order() payments.Order {
	return payments.Order{
		Details: payments.Details{
			Reference: b.Reference, Currency: b.Currency, MSISDN: b.MSISDN, OrderURL: b.OrderURL,
			URLProtected: isTrue(b.IsURLProtected), Description: b.Description,
		},
		Operator: payments.Operator(b.Operator), Country: payments.Country(b.Country), Amount: b.Amount,
		Store: b.Application, OrderRef: b.OrderRef,
	}
}

// SetFrom sets all fields to those of a disbursement. It returns those that the service may have filled in.
func (b *DisbursementRequest) SetFrom(t *payments.Transaction) []string {
	*b = DisbursementRequest{
		Amount: t.Amount, Currency: t.Currency, Operator: string(t.Operator), Country: string(t.Country), MSISDN: t.MSISDN,
		Reference: t.Reference, Application: t.Store, OrderRef: t.OrderRef, OrderURL: t.OrderURL, IsURLProtected: &t.URLProtected,
		Description: t.Description,
	}
	return []string{"order_ref", "is_url_protected"}
}

// Order returns the refund to record. The parameter parent is the id of the refunded collection.
func (b *RefundRequest) Order(parent payments.ID) payments.Order {
	o := payments.Order{Details: payments.Details{Reference: b.Reference, Description: b.Description}, Parent: parent}
	if b.Amount != nil {
		o.Amount = *b.Amount
	}
	return o
}

// SetFrom sets all fields to those of a refund. It returns those that the service may have filled in.
func (b *RefundRequest) SetFrom(t *payments.Transaction) []string {
	*b = RefundRequest{Amount: &t.Amount, Reference: t.Reference, Description: t.Description}
	return []string{"amount"}
}

func isTrue(b *bool) bool { return b != nil && *b }
