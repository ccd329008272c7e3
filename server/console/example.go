package console

import (
	"strings"

	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// exampleNumber returns a number for examples, of the first enabled environment of the sandbox. Without one, it is of the first
// market that there is.
func (v *visit) exampleNumber() string {
	if first, ok := v.who.Sandbox.MarketLike("", "", ""); ok {
		return operators.ExampleNumber(first.Operator, first.Country)
	}
	return operators.ExampleNumber(payments.Operators[0], payments.Countries[0])
}

// examplePhone is exampleNumber as people write it.
func (v *visit) examplePhone() string { return locale.Phone(v.exampleNumber()) }

// exampleBeginning returns the beginning of examplePhone, for an empty field.
func (v *visit) exampleBeginning() string {
	return strings.Join(strings.Fields(v.examplePhone())[:2], " ") + " …"
}
