package mpesa

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// Receipts begin with the date in Nairobi, as nine real ones do.
func TestReceipts(t *testing.T) {
	t.Parallel()
	for day, want := range map[string]string{
		"2019-12-19": "NLJ", "2023-11-21": "RKL", "2024-07-06": "SG6", "2018-02-23": "MBN", "2022-11-10": "QKA", "2023-04-26": "RDQ",
		"2020-01-20": "OAK", "2020-01-09": "OA9", "2026-10-02": "UJ2", "2026-12-31": "ULV", "2032-01-01": "AA1",
	} {
		at, err := time.ParseInLocation(time.DateOnly, day, nairobi)
		if err != nil {
			t.Fatal(err)
		}
		if got := receiptDate(at); got != want {
			t.Errorf("%s is %s, want %s", day, got, want)
		}
	}
	late := time.Date(2026, 11, 29, 21, 30, 0, 0, time.UTC)
	if got := receiptDate(late); got != "UKU" {
		t.Errorf("21:30 UTC is %s: it is the next day in Nairobi", got)
	}
	form := regexp.MustCompile(`^[A-Z][A-L][1-9A-V][0-9A-Z]{7}$`)
	for i := range uint64(1440) {
		at := late.Add(time.Duration(i) * time.Minute)
		receipt := receiptFor(at, ^uint64(0)-i*977)
		minute, ok := minuteOf(receipt, at.Add(time.Hour))
		if !form.MatchString(receipt) || !ok || !minute.Equal(at.Truncate(time.Minute)) {
			t.Fatalf("%s of %v is of %v (%t)", receipt, at, minute, ok)
		}
	}
	for _, none := range []string{"", "UKT", "UKT000000", "UKW0000000", "UMT0000000", "uktabcdefg", "UBV0000000", "UKT-000000"} {
		if minute, ok := minuteOf(none, late); ok {
			t.Errorf("%q is of %v", none, minute)
		}
	}
}

// taken is a sandbox in which some references are taken.
type taken struct {
	operatorapi.Sandbox
	references map[string]bool
}

func (s taken) Collect(_ context.Context, o operatorapi.Order) error {
	if s.references[o.Reference] {
		return operatorapi.Refuse(operatorapi.Duplicate)
	}
	s.references[o.Reference] = true
	return nil
}

// HasPending implements [operatorapi.Sandbox]: each push has ended.
func (taken) HasPending(context.Context, string, string) (bool, error) { return false, nil }

// Pushes of one phone in the same tenth of a second have different ids.
func TestIDsOfPushesDiffer(t *testing.T) {
	t.Parallel()
	s := taken{references: map[string]bool{}}
	at := time.Date(2026, 11, 28, 15, 3, 59, 960_000_000, time.UTC)
	for _, want := range []string{"ws_CO_281120261803599712000001", "ws_CO_281120261804000712000001", "ws_CO_281120261804001712000001"} {
		order := &operatorapi.Order{Order: payments.Order{Details: payments.Details{MSISDN: "+254712000001"}}}
		if err := recordPush(t.Context(), s, order, at); err != nil || order.Reference != want {
			t.Errorf("the id is %s (%v), want %s", order.Reference, err, want)
		}
	}
	for i := range mostIDs {
		s.references[checkoutID(at.Add(time.Duration(i)*time.Second/10), "+254712000001")] = true
	}
	order := &operatorapi.Order{Order: payments.Order{Details: payments.Details{MSISDN: "+254712000001"}}}
	if err := recordPush(t.Context(), s, order, at); !operatorapi.IsRefused(err, operatorapi.Duplicate) {
		t.Errorf("when all are taken: %v", err)
	}
}
