package sandboxenvironment

import (
	"testing"

	"github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/payments"
)

// An environment without a maxAmount has the operator's own limit, where the table of markets has one.
func TestTheOperatorsOwnLimitIsTheDefault(t *testing.T) {
	t.Parallel()
	limited := 0
	for _, m := range payments.Markets {
		environment := v1alpha1.Environment{Operator: v1alpha1.Operator(m.Operator), Country: v1alpha1.Country(m.Country)}
		switch got := environmentConfig(environment).MaxAmount; {
		case m.MaxAmount == 0 && got != nil:
			t.Errorf("%s in %s has the limit %d, want none", m.Operator, m.Country, *got)
		case m.MaxAmount > 0:
			limited++
			if got == nil || *got != m.MaxAmount {
				t.Errorf("%s in %s has the limit %v, want %d", m.Operator, m.Country, got, m.MaxAmount)
			}
		}
		own := int64(7)
		if environment.MaxAmount = &own; *environmentConfig(environment).MaxAmount != own {
			t.Errorf("%s in %s does not have the limit of its resource", m.Operator, m.Country)
		}
	}
	if facts := payments.Facts(payments.MPesa, "KE"); facts.MaxAmount != 250_000 || limited == 0 {
		t.Errorf("mpesa has the limit %d, and %d markets have one", facts.MaxAmount, limited)
	}
}
