package console

import (
	"strings"

	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/operators"
)

// exampleNumber returns a number for examples, of the first enabled environment of the sandbox.
func (v *visit) exampleNumber() string {
	for _, m := range v.who.Sandbox.Markets {
		if numbers := operators.TestNumbersOf(m.Operator, m.Country); v.who.Sandbox.Environments[m].Enabled && len(numbers) > 0 {
			number := numbers[0].MSISDN
			return number[:len(number)-6] + "123456"
		}
	}
	return "+250788123456"
}

// examplePhone is exampleNumber as people write it.
func (v *visit) examplePhone() string { return locale.Phone(v.exampleNumber()) }

// exampleBeginning returns the beginning of examplePhone, for an empty field.
func (v *visit) exampleBeginning() string {
	return strings.Join(strings.Fields(v.examplePhone())[:2], " ") + " …"
}
