package payments

import (
	"fmt"
)

// ErrNotRefundable is returned for a transaction that is no successful collection.
type ErrNotRefundable struct {
	Type   Type
	Status Status
}

func (e ErrNotRefundable) Error() string {
	return fmt.Sprintf("only a collection with status SUCCESS can be refunded, and this is a %s with status %s", e.Type, e.Status)
}

// ErrExceedsRefundable is returned for a refund of more than what is left of a collection.
type ErrExceedsRefundable struct {
	Refundable int64 // what is left, in whole units of the currency
}

func (e ErrExceedsRefundable) Error() string {
	return fmt.Sprintf("%d is left to refund", e.Refundable)
}

// CheckRefund returns [ErrNotRefundable] or [ErrExceedsRefundable] if t cannot be refunded by amount. A nil amount
// means all that is left.
func (t *Transaction) CheckRefund(amount *int64) error {
	if t.Type != Collection || t.Status != Success {
		return ErrNotRefundable{t.Type, t.Status}
	}
	left := t.Refundable()
	if left == 0 || amount != nil && *amount > left {
		return ErrExceedsRefundable{Refundable: left}
	}
	return nil
}
