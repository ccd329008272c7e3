package operators

import "github.com/cauri-dev/cauri/server/payments"

// TestNumber is a standard test number of one operator in one country.
type TestNumber struct {
	payments.TestNumber
	MSISDN   string
	Operator payments.Operator
	Country  payments.Country
}

// testNumbers are all test numbers by MSISDN.
var testNumbers = func() map[string]TestNumber {
	all := make(map[string]TestNumber, len(payments.Markets)*len(payments.TestNumbers))
	for _, m := range payments.Markets {
		for _, n := range TestNumbersOf(m.Operator, m.Country) {
			all[n.MSISDN] = n
		}
	}
	return all
}()

// FindTestNumber returns the test number with an MSISDN, of any operator and country.
func FindTestNumber(msisdn string) (number TestNumber, ok bool) {
	number, ok = testNumbers[msisdn]
	return number, ok
}

// TestNumbersOf returns the test numbers of an operator in a country, in the order of [payments.TestNumbers]. It
// returns none for a country in which the operator cannot be simulated.
func TestNumbersOf(op payments.Operator, country payments.Country) []TestNumber {
	block := payments.Facts(op, country).TestNumbers
	if block == "" {
		return nil
	}
	numbers := make([]TestNumber, len(payments.TestNumbers))
	for i, n := range payments.TestNumbers {
		numbers[i] = TestNumber{n, block + n.Suffix, op, country}
	}
	return numbers
}
