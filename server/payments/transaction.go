package payments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Transaction is a collection, a refund or a disbursement as it is recorded.
type Transaction struct {
	ID       ID
	Type     Type
	Status   Status
	ParentID *ID // the collection that a refund belongs to

	Details
	OrderRef string // falls back to the reference
	Store    string // the slug, `application` in the API
	// NativeCall is the call of the operator's own API that recorded the transaction; empty for a transaction of /v1.
	NativeCall string
	// NativeSent has the parts of its request that the operator's answers repeat, in the format of the operator's
	// package. It is empty for other transactions, and after the request was removed.
	NativeSent json.RawMessage

	EnvironmentID string
	Operator      Operator
	Country       Country

	Amount        int64
	Commission    int64
	NetAmount     int64
	AbsorptionPct int
	Refunded      int64 // sum of the successful refunds of a collection

	Latency     time.Duration // simulated and unscaled
	CreatedAt   time.Time
	CompletedAt *time.Time // nil while pending

	// NativeID and NativeRaw are from the answer of the operator's API to which the transaction was forwarded.
	// Otherwise they are empty: the operator's id is then derived from ID, and the payload from the transaction.
	NativeID  string
	NativeRaw json.RawMessage
	// DrawnProviderTxID is the operator's id that was drawn from the sandbox's seed; empty without a seed.
	DrawnProviderTxID string

	TestBehavior Behavior // of the payer's test number; else empty
	Faults       []string // names of the faults that applied to it, in the order of their first time

	// MerchantBalanceAfter and SIMBalanceAfter are the balances right after this transaction changed them. A balance
	// that it did not change is nil.
	MerchantBalanceAfter *int64
	SIMBalanceAfter      *int64
}

// CustomerTotal returns the amount that the payer pays, or that the recipient gets.
func (t *Transaction) CustomerTotal() int64 { return t.NetAmount + t.Commission }

// MerchantShare returns the part of the commission that the merchant bears.
func (t *Transaction) MerchantShare() int64 { return t.Amount - t.NetAmount }

// CustomerShare returns the part of the commission that the customer bears.
func (t *Transaction) CustomerShare() int64 { return t.Commission - t.MerchantShare() }

// CommissionMode returns who bears the larger share; if the shares are equal, the merchant.
func (t *Transaction) CommissionMode() CommissionMode {
	if t.MerchantShare() >= t.CustomerShare() {
		return MerchantPays
	}
	return CustomerPays
}

// Refundable returns the amount of a collection that is left to refund; zero for all other transactions.
func (t *Transaction) Refundable() int64 {
	if t.Type != Collection || t.Status != Success {
		return 0
	}
	return t.Amount - t.Refunded
}

// ProviderTxID returns the operator's id of the transaction.
func (t *Transaction) ProviderTxID() string {
	return cmp.Or(t.NativeID, t.DrawnProviderTxID, t.ID.ProviderTxID())
}

// FormatTime returns a time in the form of all representations: ISO 8601, in UTC, with milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// timeForm refuses texts that [time.Parse] accepts: numbers of one digit, a comma before the fraction, and offsets
// beyond 23:59.
var timeForm = regexp.MustCompile(`T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// ParseTime parses a time in RFC 3339. ok is false for any other text.
func ParseTime(text string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil && timeForm.MatchString(text)
}

// FormatDuration returns a duration for people: 23 ms, 1.7 s, 40 s, 1 h 30 min, 2 d. From an hour on it rounds to
// minutes.
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
