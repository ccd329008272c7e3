package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestRefundMovesMoneyBack(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	parent := w.Create(w.Collection("r1", payments.Success, alice))
	n := w.Refund(parent.ID, "f1", 400)
	got, after, err := w.CreateRefund(t.Context(), w.Sandbox.Tenant, n)
	if err != nil {
		t.Fatal(err)
	}
	left, credited := int64(1985-400), int64(4000+400)
	want := *parent
	want.ID, want.Type, want.ParentID, want.Reference = n.ID, payments.Refund, &parent.ID, "f1"
	want.Amount, want.Commission, want.NetAmount, want.Latency = 400, 0, 400, 1200*time.Millisecond
	want.MerchantBalanceAfter, want.SIMBalanceAfter = &left, &credited
	want.CreatedAt, want.CompletedAt = got.CreatedAt, got.CompletedAt
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("refund (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, w.Get(n.ID)); diff != "" {
		t.Errorf("refund (-made +read):\n%s", diff)
	}
	if after != 3*time.Second || w.eventAfter(n.ID) != after {
		t.Errorf("it is answered after %s, its event due after %s", after, w.eventAfter(n.ID))
	}
	if w.float(payments.RWF) != left || w.Balance(alice) != credited || w.Get(parent.ID).Refunded != 400 {
		t.Errorf("the float has %d, the SIM %d, the parent was refunded %d", w.float(payments.RWF), w.Balance(alice), w.Get(parent.ID).Refunded)
	}
	if rest := w.Refunded(parent.ID, "f2", 0); rest.Amount != 600 {
		t.Errorf("the rest is %d", rest.Amount)
	}
	w.Conserved()
}

func TestRefundThatTheFloatCannotPay(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	parent := w.Create(w.Collection("r1", payments.Success, alice))
	w.Exec("update floats set balance = 399 where currency = 'RWF'")
	got, after, err := w.CreateRefund(t.Context(), w.Sandbox.Tenant, w.Refund(parent.ID, "f1", 400))
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != payments.InsufficientFunds || got.Latency != 700*time.Millisecond || after != 1500*time.Millisecond ||
		got.CompletedAt == nil {
		t.Errorf("it is %+v, answered after %s", got, after)
	}
	if *got.MerchantBalanceAfter != 399 || got.SIMBalanceAfter != nil || w.eventAfter(got.ID) != after {
		t.Errorf(
			"balances after it are %v and %v, its event is due after %s",
			*got.MerchantBalanceAfter,
			got.SIMBalanceAfter,
			w.eventAfter(got.ID),
		)
	}
	if w.float(payments.RWF) != 399 || w.Balance(alice) != 4000 || w.Get(parent.ID).Refunded != 0 {
		t.Error("money moved, or its parent was changed")
	}
	if got := w.Refunded(parent.ID, "f2", 399); got.Status != payments.Success || w.float(payments.RWF) != 0 {
		t.Errorf("all that the float has: %s, and %d is left", got.Status, w.float(payments.RWF))
	}
}

func TestRefundsThatAreRefused(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	w.Client("alice", alice, 5000)
	paid := w.Create(w.Collection("r1", payments.Success, alice))
	part := w.Refunded(paid.ID, "f1", 400)
	theirs := other.Create(other.Collection("r1", payments.Success, alice))
	disbursed := w.Disburse(w.Disbursement("d1", payments.Success, alice, 1))
	before := w.Count("select count(*) from transactions")
	pending := w.Create(w.Collection("pending", payments.Pending, alice))
	failed := w.Create(w.Collection("failed", payments.PINInvalid, alice))
	taken := new(ledger.ErrReferenceTaken)
	refused := func(of payments.Type, status payments.Status) error {
		return payments.ErrNotRefundable{Type: of, Status: status}
	}
	for name, c := range map[string]struct {
		parent    payments.ID
		reference string
		amount    int64
		want      error
	}{
		"unknown":                       {payments.ID{1}, "x", 0, ledger.ErrNotFound},
		"another tenant's":              {theirs.ID, "x", 0, ledger.ErrNotFound},
		"pending":                       {pending.ID, "x", 0, refused(payments.Collection, payments.Pending)},
		"failed":                        {failed.ID, "x", 1, refused(payments.Collection, payments.PINInvalid)},
		"a refund":                      {part.ID, "x", 1, refused(payments.Refund, payments.Success)},
		"a disbursement":                {disbursed.ID, "x", 0, refused(payments.Disbursement, payments.Success)},
		"one too many":                  {paid.ID, "x", 601, payments.ErrExceedsRefundable{Refundable: 600}},
		"of the largest number":         {paid.ID, "x", payments.MaxAmount, payments.ErrExceedsRefundable{Refundable: 600}},
		"a reference that is taken":     {paid.ID, "r1", 1, taken},
		"the reference of another":      {paid.ID, "f1", 1, taken},
		"a taken one, of an unknown id": {payments.ID{1}, "f1", 1, taken},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := w.CreateRefund(t.Context(), w.Sandbox.Tenant, w.Refund(c.parent, c.reference, c.amount))
			if c.want == error(taken) {
				if holder := new(ledger.ErrReferenceTaken); !errors.As(err, &holder) || holder.Transaction.Reference != c.reference {
					t.Errorf("got %v", err)
				}
			} else if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if n := w.Count("select count(*) from transactions"); n != before+2 {
		t.Errorf("%d were recorded", n-before-2)
	}
	w.Conserved()
}

// The same of the parent, whose other refunds may be recorded while one waits for them.
func TestRefundIsDecidedByTheParentThatItLocked(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.OpeningFloat[payments.RWF] = 10_000 })
	refund := func(then, amount int64) (*payments.Transaction, error) {
		reference := fmt.Sprint(then, "-", amount)
		parent := w.Create(w.Collection(reference, payments.Success, alice))
		var got *payments.Transaction
		err := w.waiting(
			"select from transactions for update",
			[]string{fmt.Sprintf("update transactions set refunded = %d where reference = '%s'", then, reference)},
			func() (err error) {
				got, _, err = w.CreateRefund(context.Background(), w.Sandbox.Tenant, w.Refund(parent.ID, "f "+reference, amount))
				return err
			},
		)
		return got, err
	}
	if got, err := refund(600, 0); err != nil || got.Amount != 400 {
		t.Errorf("all that is left of 1000 after 600: %+v, %v", got, err)
	}
	if got, err := refund(600, 400); err != nil || got.Status != payments.Success {
		t.Errorf("400 after 600: %+v, %v", got, err)
	}
	if _, err := refund(601, 400); err != (payments.ErrExceedsRefundable{Refundable: 399}) {
		t.Errorf("400 after 601: %v", err)
	}
	if _, err := refund(1000, 0); err != (payments.ErrExceedsRefundable{}) {
		t.Errorf("all after 1000: %v", err)
	}
}
