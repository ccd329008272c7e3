package payments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestRefundable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tx   payments.Transaction
		want int64
	}{
		"untouched collection": {
			payments.Transaction{Type: payments.Collection, Status: payments.Success, Amount: 1000, NetAmount: 900}, 1000,
		},
		"partly refunded": {
			payments.Transaction{Type: payments.Collection, Status: payments.Success, Amount: 1000, Refunded: 400}, 600,
		},
		"wholly refunded": {
			payments.Transaction{Type: payments.Collection, Status: payments.Success, Amount: 1000, Refunded: 1000}, 0,
		},
		"pending collection": {
			payments.Transaction{Type: payments.Collection, Status: payments.Pending, Amount: 1000}, 0,
		},
		"failed collection": {
			payments.Transaction{Type: payments.Collection, Status: payments.Timeout, Amount: 1000}, 0,
		},
		"refund": {
			payments.Transaction{Type: payments.Refund, Status: payments.Success, Amount: 1000}, 0,
		},
		"disbursement": {
			payments.Transaction{Type: payments.Disbursement, Status: payments.Success, Amount: 1000}, 0,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.tx.Refundable(); got != tt.want {
				t.Errorf("Refundable() = %d, want %d", got, tt.want)
			}
		})
	}
}

// TestTransactionSplit checks that what a transaction derives from its recorded amounts is what was split.
func TestTransactionSplit(t *testing.T) {
	t.Parallel()
	for name, terms := range map[string]payments.Terms{
		"merchant bears all": {CommissionBPS: 250, AbsorptionPct: 100},
		"customer bears all": {CommissionBPS: 250, AbsorptionPct: 0},
		"both bear some":     {CommissionBPS: 137, AbsorptionPct: 33},
		"tie":                {CommissionBPS: 200, AbsorptionPct: 50},
		"no commission":      {CommissionBPS: 0, AbsorptionPct: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := terms.SplitCommission(12_300)
			tx := payments.Transaction{Amount: want.Amount, Commission: want.Commission, NetAmount: want.NetAmount}
			got := payments.Split{
				Amount:        tx.Amount,
				Commission:    tx.Commission,
				NetAmount:     tx.NetAmount,
				CustomerTotal: tx.CustomerTotal(),
				MerchantShare: tx.MerchantShare(),
				CustomerShare: tx.CustomerShare(),
				Mode:          tx.CommissionMode(),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("split read from a transaction (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTransactionProviderTxID(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tx   payments.Transaction
		want string
	}{
		"simulated": {payments.Transaction{ID: example}, example.ProviderTxID()},
		"forwarded": {payments.Transaction{ID: example, NativeID: "1234567890"}, "1234567890"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.tx.ProviderTxID()); diff != "" {
				t.Errorf("ProviderTxID() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	want := map[payments.Status]bool{
		"SUCCESS": true, "PIN_INVALID": true, "INSUFFICIENT_FUNDS": true, "TIMEOUT": true, "ACCOUNT_BLOCKED": true,
		"USER_CANCELLED": true, "UNKNOWN_MSISDN": true, "LIMIT_EXCEEDED": true, "SERVICE_UNAVAILABLE": true,
		"DUPLICATE_REFERENCE": true, "PENDING": false,
	}
	terminal := make(map[payments.Status]bool)
	for _, status := range payments.Statuses {
		terminal[status] = status.Terminal()
	}
	if diff := cmp.Diff(want, terminal); diff != "" {
		t.Errorf("which statuses are terminal (-want +got):\n%s", diff)
	}
}

func TestEvent(t *testing.T) {
	t.Parallel()
	for typ, want := range map[payments.Type]string{
		payments.Collection:   "payment.completed",
		payments.Refund:       "payment.refunded",
		payments.Disbursement: "disbursement.completed",
	} {
		if got := typ.Event(); got != want {
			t.Errorf("Type(%q).Event() = %q, want %q", typ, got, want)
		}
	}
}
