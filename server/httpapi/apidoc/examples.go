package apidoc

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// The transactions of the examples. The code of the domain computes their fields, so that the API could answer with
// each example. They assume the sandbox of the README: a store "shop", MTN in Rwanda with a commission of 150 basis
// points that the merchant absorbs, a float of 1,000,000 RWF, and a SIM +250788123456 with 50,000 RWF.
const (
	exampleMSISDN      = "+250788123456"
	exampleReference   = "SHOP-PAY-20260531120000-4F2A9C01B7E3"
	settledReference   = "SHOP-PAY-20260531120100-9D03E6A57C18"
	exampleEnvironment = "env_0SGCEVCRD35J7GWVBNSNZ5FWYM"

	exampleOrganization = "org_0SGCEVCRD35J7GWVBNSNZ5FWYM"
)

var (
	exampleTime  = time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	exampleTerms = payments.Terms{CommissionBPS: 150, AbsorptionPct: 100}
	settledID    = exampleID("settled", time.Minute)
)

// exampleID returns an id that depends only on the arguments.
func exampleID(name string, after time.Duration) payments.ID {
	digest := sha256.Sum256([]byte(name))
	id, err := payments.NewID(exampleTime.Add(after), bytes.NewReader(digest[:]))
	if err != nil {
		panic(err) // the digest has enough bytes for an id
	}
	return id
}

// exampleTransaction returns a transaction with the common fields of all examples.
func exampleTransaction(
	id payments.ID, kind payments.Type, status payments.Status, reference string, amount int64, at time.Time,
) payments.Transaction {
	t := payments.Transaction{
		Details: payments.Details{Reference: reference, Currency: string(payments.RWF), MSISDN: exampleMSISDN},
		ID:      id, Type: kind, Status: status, OrderRef: reference, Store: "shop", EnvironmentID: exampleEnvironment,
		Operator: payments.MTN, Country: payments.Rwanda, Amount: amount, NetAmount: amount,
		AbsorptionPct: exampleTerms.AbsorptionPct, CreatedAt: at,
	}
	t.Latency, _ = LatencyRange(status)
	if status.Terminal() {
		t.CompletedAt = &at
	}
	if kind == payments.Collection {
		split := exampleTerms.SplitCommission(amount)
		t.Commission, t.NetAmount = split.Commission, split.NetAmount
	}
	return t
}

func pendingCollection() *payments.Transaction {
	t := exampleTransaction(exampleID("pending", 0), payments.Collection, payments.Pending, exampleReference, 25_000, exampleTime)
	return &t
}

func settledCollection() *payments.Transaction {
	t := exampleTransaction(settledID, payments.Collection, payments.Success, settledReference, 25_000, exampleTime.Add(time.Minute))
	t.OrderRef, t.OrderURL, t.Description = "order-1042", new("https://shop.example/orders/1042"), new("Two tickets")
	t.Scenario = payments.ScenarioSuccess
	return &t
}

func failedCollection() *payments.Transaction {
	const reference = "SHOP-PAY-20260531120200-1B7E34F2A9C0"
	const after = 2 * time.Minute
	t := exampleTransaction(exampleID("failed", after), payments.Collection, payments.InsufficientFunds, reference, 25_000,
		exampleTime.Add(after))
	t.Scenario = payments.ScenarioLowBalance
	return &t
}

// exampleRefund returns a refund of the settled collection.
func exampleRefund(name, reference string, amount int64) *payments.Transaction {
	parent := settledCollection()
	t := exampleTransaction(exampleID(name, 3*time.Minute), payments.Refund, payments.Success, reference, amount,
		exampleTime.Add(3*time.Minute))
	t.ParentID, t.OrderRef, t.OrderURL = &parent.ID, parent.OrderRef, parent.OrderURL
	return &t
}

func partialRefund() *payments.Transaction {
	return exampleRefund("part", "SHOP-REF-20260531120300-5C18D03E6A57", 5000)
}

func fullRefund() *payments.Transaction {
	return exampleRefund("rest", "SHOP-REF-20260531120300-A57C189D03E6", 20_000)
}

func paidDisbursement() *payments.Transaction {
	const reference = "SHOP-DIS-20260531120400-E6A57C18D03E"
	t := exampleTransaction(exampleID("paid", 4*time.Minute), payments.Disbursement, payments.Success, reference, 10_000,
		exampleTime.Add(4*time.Minute))
	t.Description = new("Weekly payout")
	t.MerchantBalanceAfter, t.SIMBalanceAfter = new(int64(989_625)), new(int64(60_000))
	return &t
}

func refusedDisbursement() *payments.Transaction {
	const reference = "SHOP-DIS-20260531120500-7C18D03EE6A5"
	const after = 5 * time.Minute
	t := exampleTransaction(exampleID("refused", after), payments.Disbursement, payments.InsufficientFunds, reference, 5_000_000,
		exampleTime.Add(after))
	t.MerchantBalanceAfter = new(int64(989_625))
	return &t
}
