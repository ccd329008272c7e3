package wire_test

import (
	"reflect"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/payments/paymentstest"
)

// A field of a request that its order does not have would be accepted and lost. One that SetFrom leaves out would be named
// as a difference in each conflict.
func TestEveryFieldOfARequestIsInItsOrder(t *testing.T) {
	t.Parallel()
	checkOrder(t, (*wire.CreatePaymentRequest).Order, (*wire.CreatePaymentRequest).SetFrom)
	checkOrder(t, (*wire.DisbursementRequest).Order, (*wire.DisbursementRequest).SetFrom)
	refund := func(b *wire.RefundRequest) payments.Order { return b.Order(payments.ID{1}) }
	checkOrder(t, refund, (*wire.RefundRequest).SetFrom)
}

func checkOrder[T any](t *testing.T, order func(*T) payments.Order, setFrom func(*T, *payments.Transaction) []string) {
	t.Helper()
	var full, set T
	var recorded payments.Transaction
	paymentstest.Fill(&full, "a request")
	paymentstest.Fill(&recorded, "a transaction")
	setFrom(&set, &recorded)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if !field.IsExported() {
			continue
		}
		without := full
		reflect.ValueOf(&without).Elem().FieldByIndex(field.Index).SetZero()
		if reflect.DeepEqual(order(&full), order(&without)) {
			t.Errorf("%T: Order leaves out %s", full, field.Name)
		}
		if reflect.ValueOf(set).FieldByIndex(field.Index).IsZero() {
			t.Errorf("%T: SetFrom leaves out %s", full, field.Name)
		}
	}
}
