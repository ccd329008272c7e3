package wire_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// sameAsReflection checks that an answer writes itself as encoding/json writes it.
func sameAsReflection(t *testing.T, answer any) {
	t.Helper()
	before := []byte("what was there")
	want := bytes.NewBuffer(bytes.Clone(before))
	encoder := json.NewEncoder(want)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		t.Fatal(err)
	}
	got, err := wire.Append(bytes.Clone(before), answer)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("written as\n%s, want\n%s", got, want)
	}
}

// TestPaymentsWriteThemselves fails for a field that is added to the representation and not to what writes it.
func TestPaymentsWriteThemselves(t *testing.T) {
	at, id, text := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC), payments.ID{1}, "two <tickets> & more"
	pending := payments.Transaction{
		Details: payments.Details{Reference: "r", Currency: "RWF", MSISDN: "+250788000001"}, ID: id,
		Type: payments.Collection, Status: payments.Pending, OrderRef: "o", Store: "shop", EnvironmentID: "env_1",
		Country: payments.Rwanda, Amount: 25_000, Commission: 375, NetAmount: 24_625, AbsorptionPct: 100,
		Latency: time.Second, CreatedAt: at,
	}
	settled := pending
	settled.Status, settled.CompletedAt, settled.Scenario, settled.Description, settled.OrderURL = payments.Success, &at,
		payments.ScenarioSuccess, &text, &text
	settled.Faults = []string{"lost-answer", "late"}
	failed := settled
	failed.Status = payments.InsufficientFunds
	refund := settled
	refund.Type, refund.ParentID, refund.Scenario = payments.Refund, &id, ""
	disbursement := settled
	disbursement.Type, disbursement.MerchantBalanceAfter = payments.Disbursement, new(int64(7))
	forwarded := settled
	forwarded.NativeRaw = json.RawMessage(` { "a" : [ 1, "x y" ] } `)
	made := []*payments.Transaction{&pending, &settled, &failed, &refund, &disbursement, &forwarded}
	list := wire.PaymentList{Data: []wire.Payment{}}
	sameAsReflection(t, list)
	for _, transaction := range made {
		for _, transaction.Operator = range append(payments.Operators, "nobody") {
			sameAsReflection(t, view.PaymentOf(transaction, nil))
			list.Data = append(list.Data, view.PaymentOf(transaction, nil))
		}
	}
	sameAsReflection(t, list)
	cursor := "next"
	sameAsReflection(t, wire.PaymentList{Data: list.Data[:1], NextCursor: &cursor, HasMore: true})

	var full wire.Payment // has no field that is zero, nor two that are alike
	fill(reflect.ValueOf(&full).Elem())
	full.Raw = json.RawMessage(`{"a":[1,"x y"]}`)
	sameAsReflection(t, full)
	sameAsReflection(t, wire.Payment{})
}

// fill gives each field of a struct another value.
func fill(value reflect.Value) {
	for i := range value.NumField() {
		field := value.Field(i)
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString("value " + value.Type().Field(i).Name)
		case reflect.Int, reflect.Int64:
			field.SetInt(int64(1000 + i))
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			if names, are := field.Addr().Interface().(*[]string); are {
				*names = []string{"one", `"two"`}
			}
		}
	}
}

func FuzzPaymentWritesItself(f *testing.F) {
	for _, text := range []string{"", "plain", "é", `"quoted" \ <a&b>`, "\x00\x1f\x7f\t\n\r", "\u2028\u2029", "\xff\xc3(", "😀"} {
		f.Add(text, int64(-1))
	}
	f.Fuzz(func(t *testing.T, text string, amount int64) {
		v := wire.Payment{Reference: text, Description: &text, OrderURL: &text, Amount: amount, RefundedAmount: &amount}
		sameAsReflection(t, v)
	})
}
