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
	return exampleOfAPI
}

// examplePhone is exampleNumber as people write it.
func (v *visit) examplePhone() string { return locale.Phone(v.exampleNumber()) }

// exampleBeginning returns the beginning of examplePhone, for an empty field.
func (v *visit) exampleBeginning() string {
	return strings.Join(strings.Fields(v.examplePhone())[:2], " ") + " …"
}

// exampleOfAPI is the number in messages of the API. It is of Rwanda.
const exampleOfAPI = "+250788123456"

// Heard is [locale.Locale.Heard] with an example number of the sandbox.
func (v *visit) Heard(message string) (own string, known bool) {
	return v.Locale.Heard(v.withExample(message))
}

// withExample returns a message of the API with an example number of the sandbox, if that is of another country.
func (v *visit) withExample(message string) string {
	if number := v.exampleNumber(); number[:4] != exampleOfAPI[:4] {
		return strings.Replace(message, "for example "+exampleOfAPI, "for example "+number, 1)
	}
	return message
}
