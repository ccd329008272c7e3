package payerpage_test

import (
	"testing"

	"github.com/cauri-dev/cauri/server/operators/payerpage"
	"github.com/cauri-dev/cauri/server/payments"
)

func TestTypedNumbers(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"788123456": "+250788123456", "0788 123 456": "+250788123456", "+250 (788) 123-456": "+250788123456", "00250788123456": "+250788123456",
		"250788123456": "+250788123456", "078812345": "+250078812345", "+243812345678": "+243812345678", "": "", "07": "", "awa": "", "+2507881234567890": "",
	} {
		if got, ok := payerpage.MSISDN(typed, payments.Rwanda); ok && got != want || !ok && want != "" {
			t.Errorf("%q is read as %q, %t, want %q", typed, got, ok, want)
		}
	}
	if got, _ := payerpage.MSISDN("07 07 00 00 01", payments.CoteDIvoire); got != "+2250707000001" { // the 0 belongs to the number
		t.Errorf("a number of ten digits is read as %q", got)
	}
}
