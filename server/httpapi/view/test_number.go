package view

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// TestNumberOf returns the view of a test number.
func TestNumberOf(n operators.TestNumber) wire.TestNumber {
	currency, _ := n.Country.Currency()
	v := wire.TestNumber{
		MSISDN: n.MSISDN, Operator: string(n.Operator), Country: string(n.Country), Currency: string(currency),
		CollectionOutcome: string(n.CollectionOutcome()), DisbursementOutcome: string(n.DisbursementOutcome()),
		Description: string(n.Description),
	}
	if n.Status == payments.Pending {
		v.Behavior = new(string(n.Behavior.Confirmation()))
	}
	return v
}
