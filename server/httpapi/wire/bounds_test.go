package wire

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestBoundsAreWrittenAsWholeNumbers(t *testing.T) {
	t.Parallel()
	_, err := CreateRefund.parse(http.Header{}, []byte(`{"reference":"r1","amount":1000000000001}`))
	var refused *Error
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	problems := refused.Detail["fieldErrors"].(FieldErrors)["amount"]
	if len(problems) != 1 || !strings.Contains(problems[0], "<= 1000000000000") {
		t.Errorf("got %q", problems)
	}
}

func TestRefundsThatAreTooLargeSayWhatIsLeft(t *testing.T) {
	t.Parallel()
	for left, want := range map[int64]string{0: "Nothing is left to refund of this payment.", 60: "write 60 at most."} {
		if got := ExceedsRefundable(payments.ErrExceedsRefundable{Refundable: left}); !strings.HasSuffix(got.Message, want) {
			t.Errorf("%d: %v", left, got)
		}
	}
}
