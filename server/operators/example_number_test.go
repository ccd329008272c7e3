package operators_test

import (
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// An example is of its country, and of its operator where that has numbers.
func TestExampleNumbers(t *testing.T) {
	t.Parallel()
	for _, country := range payments.Countries {
		for _, op := range payments.Operators {
			number := operators.ExampleNumber(op, country)
			detected, in, ok := operators.Detect(nil, number)
			if !ok || in != country || operators.CheckLength(nil, number) != nil {
				t.Errorf("the example of %s in %s is %s", op, country, number)
			}
			if own := len(payments.Facts(op, country).Prefixes) > 0; own && detected != op {
				t.Errorf("the example of %s in %s is of %s: %s", op, country, detected, number)
			}
		}
	}
	if got := operators.ExampleNumber(payments.MTN, payments.Rwanda); got != "+250788123456" {
		t.Errorf("the recorded answers have another example than %s", got)
	}
}
