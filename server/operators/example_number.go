package operators

import "github.com/cauri-dev/cauri/server/payments"

// exampleNumbers are numbers in messages and descriptions. They look like those of people.
var exampleNumbers = map[payments.Country]map[payments.Operator]string{
	payments.CoteDIvoire: {payments.MTN: "+2250506123456", payments.Orange: "+2250707123456", payments.Moov: "+2250101123456"},
	payments.Rwanda:      {payments.MTN: "+250788123456", payments.Airtel: "+250730123456"},
	payments.Benin:       {payments.MTN: "+2290197123456", payments.Moov: "+2290195123456"},
	payments.Togo:        {payments.Moov: "+22896123456"},
}

// ExampleNumber returns a number of an operator in a country, for messages. It returns the number of another operator for
// one that has no numbers in the country.
func ExampleNumber(op payments.Operator, country payments.Country) string {
	of := exampleNumbers[country]
	if number := of[op]; number != "" {
		return number
	}
	for _, other := range payments.Operators {
		if number := of[other]; number != "" {
			return number
		}
	}
	return ""
}
