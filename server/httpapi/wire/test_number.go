package wire

import (
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// TestNumber is a phone number with a fixed behavior that needs no test client.
type TestNumber struct {
	MSISDN              string  `json:"msisdn" doc:"The number."`
	Operator            string  `json:"operator" doc:"Its operator, where a request leaves it out."`
	Country             string  `json:"country" doc:"Its country, where a request leaves it out."`
	Currency            string  `json:"currency" doc:"Currency of the country."`
	Behavior            *string `json:"behavior" doc:"What its holder does when asked to confirm a payment. Null if nobody is asked."`
	CollectionOutcome   string  `json:"collectionOutcome" doc:"Final status of a payment from it."`
	DisbursementOutcome string  `json:"disbursementOutcome" doc:"Final status of a disbursement to it, if the float suffices."`
	Description         string  `json:"description"`
}

// TestNumberOf returns the view of a test number.
func TestNumberOf(n operators.TestNumber) TestNumber {
	currency, _ := n.Country.Currency()
	v := TestNumber{
		MSISDN: n.MSISDN, Operator: string(n.Operator), Country: string(n.Country), Currency: string(currency),
		CollectionOutcome: string(n.CollectionOutcome()), DisbursementOutcome: string(n.DisbursementOutcome()),
		Description: string(n.Description),
	}
	if n.Status == payments.Pending {
		v.Behavior = new(string(n.Behavior.Confirmation()))
	}
	return v
}

// TestNumberList is the answer of GET /v1/test_numbers.
type TestNumberList struct {
	Data []TestNumber `json:"data" doc:"Ordered by country, operator and number. Empty if the sandbox has none."`
}

// TestNumberParameters has no parser: the list has no parameters.
var TestNumberParameters = Parameters[struct{}, TestNumberList]{}
