package view

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestRefundsThatAreTooLargeSayWhatIsLeft(t *testing.T) {
	t.Parallel()
	for left, want := range map[int64]string{0: "Nothing is left to refund of this payment.", 60: "write 60 at most."} {
		if got := ExceedsRefundable(payments.ErrExceedsRefundable{Refundable: left}); !strings.HasSuffix(got.Message, want) {
			t.Errorf("%d: %v", left, got)
		}
	}
}
