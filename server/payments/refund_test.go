package payments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestCheckRefund(t *testing.T) {
	t.Parallel()
	paid := payments.Transaction{Type: payments.Collection, Status: payments.Success, Amount: 1000, NetAmount: 985}
	refunded := func(sum int64) payments.Transaction {
		t := paid
		t.Refunded = sum
		return t
	}
	changed := func(kind payments.Type, status payments.Status) payments.Transaction {
		t := paid
		t.Type, t.Status = kind, status
		return t
	}
	of := func(amount int64) *int64 { return &amount }
	refused := func(of payments.Type, status payments.Status) error {
		return payments.ErrNotRefundable{Type: of, Status: status}
	}
	cases := map[string]struct {
		parent payments.Transaction
		amount *int64
		want   error
	}{
		"all of it":                        {paid, nil, nil},
		"all of it by its amount":          {paid, of(1000), nil},
		"a part":                           {paid, of(1), nil},
		"more than the net amount":         {paid, of(999), nil},
		"one too many":                     {paid, of(1001), payments.ErrExceedsRefundable{Refundable: 1000}},
		"the rest":                         {refunded(999), nil, nil},
		"the rest by its amount":           {refunded(999), of(1), nil},
		"one more than the rest":           {refunded(999), of(2), payments.ErrExceedsRefundable{Refundable: 1}},
		"nothing is left":                  {refunded(1000), nil, payments.ErrExceedsRefundable{}},
		"nothing is left, by an amount":    {refunded(1000), of(1), payments.ErrExceedsRefundable{}},
		"the largest number":               {refunded(1), of(1<<63 - 1), payments.ErrExceedsRefundable{Refundable: 999}},
		"pending":                          {changed(payments.Collection, payments.Pending), nil, refused(payments.Collection, payments.Pending)},
		"pending, too much":                {changed(payments.Collection, payments.Pending), of(1001), refused(payments.Collection, payments.Pending)},
		"failed":                           {changed(payments.Collection, payments.PINInvalid), nil, refused(payments.Collection, payments.PINInvalid)},
		"a refund":                         {changed(payments.Refund, payments.Success), nil, refused(payments.Refund, payments.Success)},
		"a disbursement":                   {changed(payments.Disbursement, payments.Success), of(1), refused(payments.Disbursement, payments.Success)},
		"a refund that failed for a float": {changed(payments.Refund, payments.InsufficientFunds), nil, refused(payments.Refund, payments.InsufficientFunds)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.parent.CheckRefund(c.amount); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestRefundOfEveryStatusButSuccessIsRefused(t *testing.T) {
	t.Parallel()
	for _, status := range payments.Statuses {
		parent := payments.Transaction{Type: payments.Collection, Status: status, Amount: 1000}
		if got, want := parent.CheckRefund(nil) == nil, status == payments.Success; got != want {
			t.Errorf("%s: refundable is %t, want %t", status, got, want)
		}
	}
}

func TestDisbursementOutcome(t *testing.T) {
	t.Parallel()
	active, blocked := &payments.SIM{Behavior: payments.Cancel}, &payments.SIM{Blocked: true, Balance: 5000}
	cases := map[string]struct {
		facts payments.DisbursementFacts
		want  payments.Status
	}{
		"active recipient":              {payments.DisbursementFacts{Policy: payments.Reject, Recipient: active}, payments.Success},
		"active recipient, passthrough": {payments.DisbursementFacts{Policy: payments.Passthrough, Recipient: active}, payments.Success},
		"blocked recipient":             {payments.DisbursementFacts{Policy: payments.Reject, Recipient: blocked}, payments.AccountBlocked},
		"blocked recipient, passthrough": {payments.DisbursementFacts{Policy: payments.Passthrough, Recipient: blocked},
			payments.AccountBlocked},
		"unknown number, reject":             {payments.DisbursementFacts{Policy: payments.Reject}, payments.UnknownMSISDN},
		"unknown number, passthrough":        {payments.DisbursementFacts{Policy: payments.Passthrough}, payments.Success},
		"unknown number, no policy":          {payments.DisbursementFacts{}, payments.UnknownMSISDN},
		"unknown number, policy not spelled": {payments.DisbursementFacts{Policy: "PASSTHROUGH"}, payments.UnknownMSISDN},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.facts.Outcome()); diff != "" {
				t.Errorf("Outcome() (-want +got):\n%s", diff)
			}
		})
	}
}
