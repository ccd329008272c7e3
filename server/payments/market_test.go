package payments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestCanonicalCurrency(t *testing.T) {
	t.Parallel()
	tests := map[string]payments.Currency{
		"XOF":  payments.XOF,
		"xof":  payments.XOF,
		"FCFA": payments.XOF,
		"fcfa": payments.XOF,
		"Fcfa": payments.XOF,
		"CFA":  payments.XOF,
		"cfa":  payments.XOF,
		"RWF":  payments.RWF,
		"rwf":  payments.RWF,
		"XAF":  "XAF", // the other CFA franc is a currency of its own
		"eur":  "EUR",
		" XOF": " XOF",
		"CFAF": "CFAF",
		"":     "",
	}
	for asSent, want := range tests {
		t.Run(asSent, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, payments.CanonicalCurrency(asSent)); diff != "" {
				t.Errorf("CanonicalCurrency(%q) (-want +got):\n%s", asSent, diff)
			}
		})
	}
}

func TestCountryCurrency(t *testing.T) {
	t.Parallel()
	want := map[payments.Country]payments.Currency{"CI": "XOF", "BJ": "XOF", "TG": "XOF", "RW": "RWF", "CM": "XAF", "KE": "KES"}
	got := make(map[payments.Country]payments.Currency)
	for _, country := range []payments.Country{"CI", "BJ", "TG", "RW", "CM", "KE", "ZZ", "ci", ""} {
		if currency, ok := country.Currency(); ok {
			got[country] = currency
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("currencies of the markets (-want +got):\n%s", diff)
	}
}

func TestOperatorValid(t *testing.T) {
	t.Parallel()
	for op, want := range map[payments.Operator]bool{
		"mtn": true, "orange": true, "moov": true, "airtel": true, "MTN": false, "nosuch": false, "": false,
	} {
		if got := op.Valid(); got != want {
			t.Errorf("Operator(%q).Valid() = %t, want %t", op, got, want)
		}
	}
}

func TestValidMSISDN(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		msisdn string
		want   bool
	}{
		"ordinary":              {"+250788000001", true},
		"shortest":              {"+1234567", true},
		"too short":             {"+123456", false},
		"longest":               {"+123456789012345", true},
		"too long":              {"+1234567890123456", false},
		"no plus sign":          {"250788000001", false},
		"two plus signs":        {"++250788000001", false},
		"leading zero":          {"+0250788000001", false},
		"blanks":                {"+250 788 000 001", false},
		"letter":                {"+25078800000A", false},
		"line break at the end": {"+250788000001\n", false},
		"line before":           {"x\n+250788000001", false},
		"other script":          {"+25078800000١", false},
		"empty":                 {"", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := payments.ValidMSISDN(tt.msisdn); got != tt.want {
				t.Errorf("ValidMSISDN(%q) = %t, want %t", tt.msisdn, got, tt.want)
			}
		})
	}
}

// FuzzValidMSISDN compares the pattern with what it means, spelled out.
func FuzzValidMSISDN(f *testing.F) {
	for _, seed := range []string{"+250788000001", "+1234567", "+123456789012345", "+0123456789", "+250788000001\n", "+", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := len(s) >= len("+1234567") && len(s) <= len("+123456789012345") && s[0] == '+' && s[1] != '0'
		for i := 1; i < len(s); i++ {
			want = want && s[i] >= '0' && s[i] <= '9'
		}
		if got := payments.ValidMSISDN(s); got != want {
			t.Errorf("ValidMSISDN(%q) = %t, want %t", s, got, want)
		}
	})
}
