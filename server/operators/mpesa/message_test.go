package mpesa

import (
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// The message is the one that was observed, but for the sentence about the day. Only payers of paid collections get it.
func TestMessages(t *testing.T) {
	t.Parallel()
	at, balance := time.Date(2026, 10, 2, 15, 11, 0, 0, time.UTC), int64(9)
	paid := payments.Transaction{
		Details: payments.Details{Reference: "UJ22T8IYOU"}, Store: "Daraja-Sandbox", OrderRef: "nkap-live-1", Type: payments.Collection,
		Status: payments.Success, Amount: 1, NetAmount: 1, CompletedAt: &at, SIMBalanceAfter: &balance, NativeCall: c2bCall,
	}
	m, ok := messageOf(&paid)
	got := strings.Join([]string{m.Before, m.Amount, m.After, m.Reference, m.Rest}, " ")
	const want = "UJ22T8IYOU Confirmed. KSH1.00 sent to Daraja-Sandbox for account nkap-live-1 on 2/10/26 at 6:11 PM " +
		"New M-PESA balance is KSH9.00. Transaction cost, KSH0.00."
	if !ok || got != want {
		t.Errorf("the message is\n%s, want\n%s", got, want)
	}
	paid.OrderRef, paid.SIMBalanceAfter, paid.Amount, paid.NetAmount = "", nil, 1500, 1500
	if m, _ := messageOf(&paid); m.Reference != paid.Reference || m.Amount != "KSH1,500.00" || strings.Contains(m.Rest, "balance") {
		t.Errorf("without an account and a balance, the message is %v", m)
	}
	for _, change := range []func(*payments.Transaction){
		func(t *payments.Transaction) { t.Type = payments.Disbursement }, func(t *payments.Transaction) { t.Status = payments.Timeout },
	} {
		other := paid
		change(&other)
		if _, ok := messageOf(&other); ok {
			t.Errorf("a %s with %s has the message of a payer", other.Type, other.Status)
		}
	}
}
