package ussd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/ussd"
	"github.com/cauri-dev/cauri/server/payments"
)

// Every operator has texts in each of its countries, and a text for every outcome.
func TestOperatorsSpeak(t *testing.T) {
	t.Parallel()
	for _, o := range payments.Operators {
		for _, country := range payments.Countries {
			if !o.In(country) {
				continue
			}
			s := ussd.Of(o, country)
			var want string
			for _, tag := range country.Facts().Languages {
				if want == "" && (tag == "en" || tag == "fr") {
					want = tag
				}
			}
			if s.Lang != want || s.Service == "" || s.Pay == "" || s.PIN == "" || s.Cancel == "" || s.Send == "" || s.Locked == "" {
				t.Errorf("%s in %s says %+v", o, country, s)
			}
			for _, status := range []payments.Status{payments.UserCancelled, payments.AccountBlocked, payments.Timeout} {
				if s.Failure(status) == "" {
					t.Errorf("%s in %s says nothing of %s", o, country, status)
				}
			}
		}
	}
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	at, balance := time.Date(2026, 5, 29, 14, 29, 0, 0, time.UTC), int64(58_320)
	paid := payments.Transaction{
		Details: payments.Details{Reference: "order-1"}, Type: payments.Collection, Store: "akwaba",
		Amount: 15_000, NetAmount: 15_000, Commission: 108, CompletedAt: &at, SIMBalanceAfter: &balance,
		NativeID: "MP1",
	}
	back, got := paid, paid
	back.Type, got.Type = payments.Refund, payments.Disbursement
	s, en := ussd.Of(payments.MTN, payments.CoteDIvoire), ussd.Of(payments.Airtel, payments.Rwanda)
	ke, cm := ussd.Of(payments.MPesa, "KE"), ussd.Of(payments.MTN, "CM")
	for _, c := range []struct{ got, want string }{
		{s.Code, "*133#"},
		{s.Asks(15_000, 15_108), "15 000 + frais 108. Tapez votre code secret pour valider."},
		{en.Asks(12_500, 12_500), "Fee RWF 0. Enter your PIN to confirm."},
		{ke.Asks(1_500, 1_500), "Fee KES 0. Enter your PIN to confirm."},
		{cm.Money(1_500), "1 500 FCFA"},
		{whole(s.Receipt(&paid)), "Vous avez payé [15 108 FCFA] à AKWABA. Frais 108 FCFA. Nouveau solde 58 320 FCFA. Txn MP1. 29/05/2026 14:29. Réf order-1"},
		{whole(s.Receipt(&back)), "Vous avez reçu un remboursement de [15 000 FCFA] de AKWABA. Nouveau solde 58 320 FCFA. Txn MP1. 29/05/2026 14:29. Réf order-1"},
		{whole(en.Receipt(&got)), "You have received [RWF 15,108] from AKWABA. New balance RWF 58,320. Txn MP1. 29/05/2026 14:29. Ref order-1"},
	} {
		if text := strings.ReplaceAll(c.got, "\u202f", " "); text != c.want {
			t.Errorf("it says %q, want %q", text, c.want)
		}
	}
}

func whole(m ussd.Message) string {
	return m.Before + "[" + m.Amount + "]" + m.After + " " + m.Reference
}
