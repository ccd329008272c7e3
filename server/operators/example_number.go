package operators

import "github.com/cauri-dev/cauri/server/payments"

// ExampleNumber returns a number of an operator in a country, for messages. It returns the number of another operator for
// one that has no numbers in the country.
func ExampleNumber(op payments.Operator, country payments.Country) string {
	if number := payments.Facts(op, country).Example; number != "" {
		return number
	}
	for _, m := range payments.Markets {
		if m.Country == country && m.Example != "" {
			return m.Example
		}
	}
	return ""
}
