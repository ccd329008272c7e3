package payments_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestParseReference(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	recommended := func(origin string, op payments.Operation) payments.Reference {
		return payments.Reference{Origin: origin, Op: op, At: at, Code: "0123456789AB"}
	}
	cases := map[string]payments.Reference{
		"SHOP-PAY-20260531120000-0123456789AB":          recommended("SHOP", payments.OpPayment),
		"SHOP-REF-20260531120000-0123456789AB":          recommended("SHOP", payments.OpRefund),
		"SHOP-DIS-20260531120000-0123456789AB":          recommended("SHOP", payments.OpDisbursement),
		"SHOP-ABO-20260531120000-0123456789AB":          recommended("SHOP", payments.OpSubscription),
		"S1-PAY-20260531120000-0123456789AB":            recommended("S1", payments.OpPayment),
		"ABCDEFGHIJKL-PAY-20260531120000-0123456789AB":  recommended("ABCDEFGHIJKL", payments.OpPayment),
		"SHOP-PAY-0123456789AB":                         {Origin: "SHOP", Op: payments.OpPayment, Code: "0123456789AB"},
		"PAY-PAY-PAY":                                   {},
		"":                                              {},
		"order 1042":                                    {},
		"RFND_0123456789AB":                             {},
		"S-PAY-20260531120000-0123456789AB":             {}, // origin too short
		"ABCDEFGHIJKLM-PAY-20260531120000-0123456789AB": {}, // too long
		"shop-PAY-20260531120000-0123456789AB":          {}, // not in capitals
		"SHOP-BUY-20260531120000-0123456789AB":          {}, // no such operation
		"SHOP-PAY-20260531120000-0123456789AG":          {}, // not hex
		"SHOP-PAY-20260531120000-0123456789ab":          {},
		"SHOP-PAY-20260531120000-0123456789A":           {},
		"SHOP-PAY-20260531120000-0123456789ABC":         {},
		"SHOP-PAY-2026053112000-0123456789AB":           {}, // 13 digits
		"SHOP-PAY-20260231120000-0123456789AB":          {}, // no such day
		"SHOP-PAY-20260531240000-0123456789AB":          {}, // no such hour
		"SHOP-PAY-20260531120000-0123456789AB\n":        {},
		" SHOP-PAY-20260531120000-0123456789AB":         {},
		"SHOP-PAY-00010101000000-0123456789AB":          {}, // the zero time, which stands for none
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, ok := payments.ParseReference(text)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("ParseReference(%q) (-want +got):\n%s", text, diff)
			}
			if ok != (want != payments.Reference{}) {
				t.Errorf("ParseReference(%q) reports %t", text, ok)
			}
			if ok && got.String() != text {
				t.Errorf("%q is written as %q", text, got)
			}
		})
	}
}

func TestNewReference(t *testing.T) {
	t.Parallel()
	kigali := time.FixedZone("CAT", 2*60*60)
	at := time.Date(2026, 5, 31, 1, 30, 15, 999_999_999, kigali)
	r, err := payments.NewReference("SHOP", payments.OpRefund, at, bytes.NewReader([]byte{0, 1, 0xAB, 0xcd, 0xef, 0xff, 7}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.String(), "SHOP-REF-20260530233015-0001ABCDEFFF"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if parsed, ok := payments.ParseReference(r.String()); !ok || parsed.Origin != "SHOP" || parsed.String() != r.String() {
		t.Errorf("it is read as %+v, %t", parsed, ok)
	}
}

func TestNewReferencesDiffer(t *testing.T) {
	t.Parallel()
	at, seen := time.Now(), map[string]bool{}
	for range 10_000 {
		r, err := payments.NewReference(payments.OwnOrigin, payments.OpDisbursement, at, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		seen[r.Code] = true
	}
	if len(seen) != 10_000 {
		t.Errorf("%d of 10000 codes of one second are different", len(seen))
	}
}

func TestNewReferenceWithoutRandomness(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, source := range map[string]io.Reader{"broken": iotest.ErrReader(broken), "too short": strings.NewReader("12345")} {
		if r, err := payments.NewReference("SHOP", payments.OpRefund, time.Now(), source); err == nil {
			t.Errorf("%s: made %s", name, r)
		}
	}
}

func TestOriginOf(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"SHOP-PAY-20260531120000-0123456789AB": "SHOP",
		"SHOP-PAY-0123456789AB":                "SHOP",
		"SHOP-ABO-20260531120000-0123456789AB": "SHOP",
		"order 1042":                           "CAURI",
		"":                                     "CAURI",
		"shop-PAY-20260531120000-0123456789AB": "CAURI",
		"RFND_1":                               "CAURI",
	} {
		if got := payments.OriginOf(reference); got != want {
			t.Errorf("the origin of %q is %q, want %q", reference, got, want)
		}
	}
}

// FuzzParseReference checks that a text is either the one text of a reference or no reference, and that the parts of one are
// as the form says.
func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{
		"SHOP-PAY-20260531120000-0123456789AB", "SHOP-REF-0123456789AB", "CAURI-DIS-20240229235959-FFFFFFFFFFFF",
		"AB-ABO-00010101000000-000000000000", "AB-ABO-00000101000000-000000000000", "AB-PAY-99991231235959-ABCDEFABCDEF",
		"SHOP-PAY-20260231120000-0123456789AB", "shop-pay-1", "RFND_1", "", "-", "A-PAY-0123456789AB", "SHOP-PAY--0123456789AB",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := payments.ParseReference(text)
		if !ok {
			if r != (payments.Reference{}) {
				t.Errorf("%q is no reference, and read as %+v", text, r)
			}
			if got := payments.OriginOf(text); got != payments.OwnOrigin {
				t.Errorf("%q is no reference, and its origin is %q", text, got)
			}
			return
		}
		if r.String() != text {
			t.Errorf("%q is written as %q", text, r)
		}
		if n := len(r.Origin); n < 2 || n > 12 || strings.ToUpper(r.Origin) != r.Origin || len(r.Code) != 12 || r.At.Location() != time.UTC {
			t.Errorf("%q is read as %+v", text, r)
		}
		if payments.OriginOf(text) != r.Origin {
			t.Errorf("the origin of %q is %q", text, payments.OriginOf(text))
		}
	})
}
