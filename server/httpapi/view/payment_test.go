package view

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/payments/paymentstest"
)

// FuzzStoredPayload checks that a payload from the database is written as JSON, the same value without spaces, whatever stands there.
func FuzzStoredPayload(f *testing.F) {
	for _, seed := range []string{`{ "a" : [1, 2.50, "x y"] }`, `null`, ``, ` `, `{`, `1 2`, "\"\u2028<&>\"", "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		const before = `{"raw":`
		written := appendCompact([]byte(before), stored)
		text, found := strings.CutPrefix(string(written), before)
		if !found || !json.Valid([]byte(text)) {
			t.Fatalf("%q is written as %q", stored, written)
		}
		var want bytes.Buffer
		if json.Compact(&want, stored) != nil {
			want.Reset()
			want.WriteString("null")
		}
		if text != want.String() {
			t.Errorf("%q is written as %q, want %q", stored, text, want.String())
		}
	})
}

// A field of the representation that PaymentOf leaves out would be empty in each answer.
func TestEveryFieldOfAPaymentHasAValue(t *testing.T) {
	t.Parallel()
	var transaction payments.Transaction
	paymentstest.Fill(&transaction, "a transaction")
	transaction.Type, transaction.Status = payments.Collection, payments.Success
	transaction.Amount, transaction.NetAmount, transaction.Commission = 100, 60, 50
	payment := reflect.ValueOf(PaymentOf(&transaction, nil))
	for _, field := range reflect.VisibleFields(payment.Type()) {
		if payment.FieldByIndex(field.Index).IsZero() {
			t.Errorf("PaymentOf leaves out %s", field.Name)
		}
	}
}
