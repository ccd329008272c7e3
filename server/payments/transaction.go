package payments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Transaction is a collection, a refund or a disbursement as it is recorded.
type Transaction struct {
	ID       ID
	Type     Type
	Status   Status
	ParentID *ID // the collection that a refund belongs to

	Reference string
	OrderRef  string // falls back to the reference
	OrderURL  *string
	// URLProtected marks that the order's link needs a permission.
	URLProtected bool
	Store        string // the slug, `application` in the API
	Description  *string
	Scenario     Scenario // empty when nothing was forced
	// NativeCall is the call of the operator's own API that recorded it; empty: it came through /v1.
	NativeCall string
	// NativeSent is what its request said, in the form of the operator's package; empty for others, and when the request is not kept
	// any more.
	NativeSent json.RawMessage

	EnvironmentID string
	Operator      Operator
	Country       Country
	Currency      string // as sent; see CanonicalCurrency
	MSISDN        string

	Amount        int64
	Commission    int64
	NetAmount     int64
	AbsorptionPct int
	Refunded      int64 // sum of the successful refunds of a collection

	Latency     time.Duration // simulated and unscaled
	CreatedAt   time.Time
	CompletedAt *time.Time // nil while pending

	// NativeID and NativeRaw are what an operator's API answered, for a transaction that was forwarded to one.
	// They are empty otherwise: the id then follows from ID, and the payload from the transaction itself.
	NativeID  string
	NativeRaw json.RawMessage
	// DrawnProviderTxID is the operator's id that was drawn from the sandbox's seed; empty where there is none.
	DrawnProviderTxID string

	TestBehavior Behavior // of the test number that it is from; else empty
	Faults       []string // names of those that acted on it, in the order in which they acted first

	// MerchantBalanceAfter and SIMBalanceAfter are the balances right after this transaction moved money, nil where it did not.
	MerchantBalanceAfter *int64
	SIMBalanceAfter      *int64
}

// CustomerTotal is what the payer pays, or what the recipient of a payout gets.
func (t *Transaction) CustomerTotal() int64 { return t.NetAmount + t.Commission }

// MerchantShare is the part of the commission that the merchant bears.
func (t *Transaction) MerchantShare() int64 { return t.Amount - t.NetAmount }

// CustomerShare is the part of the commission that the customer bears.
func (t *Transaction) CustomerShare() int64 { return t.Commission - t.MerchantShare() }

// CommissionMode tells who bears the larger share; ties count as the merchant's.
func (t *Transaction) CommissionMode() CommissionMode {
	if t.MerchantShare() >= t.CustomerShare() {
		return MerchantPays
	}
	return CustomerPays
}

// Refundable is what is left to refund of a collection; zero for everything else.
func (t *Transaction) Refundable() int64 {
	if t.Type != Collection || t.Status != Success {
		return 0
	}
	return t.Amount - t.Refunded
}

// ProviderTxID is the operator's id of the transaction.
func (t *Transaction) ProviderTxID() string {
	return cmp.Or(t.NativeID, t.DrawnProviderTxID, t.ID.ProviderTxID())
}

// FormatTime writes a time as every representation of a transaction does: ISO 8601, in UTC, with milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// FormatDuration writes a duration for people: 23 ms, 1.7 s, 40 s, 1 h 30 min, 2 d. The smallest part is rounded away from an hour on.
func FormatDuration(d time.Duration) string {
	d = max(d, -d)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second && d%time.Second >= 50*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		d = d.Round(time.Second)
	default:
		d = d.Round(time.Minute)
	}
	var parts []string
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / unit.length; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, unit.name))
			d -= n * unit.length
		}
	}
	return strings.Join(parts, " ")
}
