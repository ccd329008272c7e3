package faults_test

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
)

// Each test number with a fault of the callback has one fault, named after it, that has an effect; the others have none.
func TestFaultsOfTestNumbers(t *testing.T) {
	for _, n := range payments.TestNumbers {
		f := faults.OfTestNumber(n.Behavior)
		if faulty := strings.Contains(string(n.Description), "callback"); (f != nil) != faulty {
			t.Errorf("%s has the fault %v", n.Suffix, f)
		}
		if f != nil && (f.Name != "test number "+n.Suffix || f.Webhook == nil || *f.Webhook == faults.Webhook{}) {
			t.Errorf("%s has the fault %+v", n.Suffix, f)
		}
	}
}
