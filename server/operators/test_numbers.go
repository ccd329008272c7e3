package operators

import "github.com/cauri-dev/cauri/server/payments"

// TestNumber is a standard test number of one operator in one country.
type TestNumber struct {
	payments.TestNumber
	MSISDN   string
	Operator payments.Operator
	Country  payments.Country
}

// testBlock is the common prefix of the test numbers of one operator in one country.
type testBlock struct {
	operator payments.Operator
	country  payments.Country
	block    string
}

// testBlocks are the blocks of all possible environments. A test number must not belong to a person, and checkout forms
// should accept it as a number of the operator. No numbering plan has a range for tests.
//
// The first blocks have a prefix of their operator. The operators do not publish which numbers are in use, so these
// blocks were chosen as the least likely ones (Assumed). In Côte d'Ivoire, the renumbering of 2021 put the operators'
// prefixes before the former numbers. No former mobile number began with 3 (Documented: libphonenumber's metadata of
// December 2020), so no renumbered number is in the block. In other countries, the block is the lowest of a prefix. The
// prefixes 79 of Rwanda, 78 of Togo, and 0142 and 0145 of Benin are newer than that metadata (Documented).
//
// The last blocks are for operators without a prefix in the country. No valid number begins with their digits
// (Documented: libphonenumber's metadata).
var testBlocks = []testBlock{
	{payments.MTN, payments.CoteDIvoire, "+2250530000"},
	{payments.Orange, payments.CoteDIvoire, "+2250730000"},
	{payments.Moov, payments.CoteDIvoire, "+2250130000"},
	{payments.MTN, payments.Rwanda, "+250790000"},
	{payments.Airtel, payments.Rwanda, "+250730000"},
	{payments.MTN, payments.Benin, "+2290142000"},
	{payments.Moov, payments.Benin, "+2290145000"},
	{payments.Moov, payments.Togo, "+22878000"},

	{payments.Orange, payments.Rwanda, "+250740000"},
	{payments.Moov, payments.Rwanda, "+250760000"},
	{payments.Orange, payments.Benin, "+2290170000"},
	{payments.MTN, payments.Togo, "+22874000"},
	{payments.Orange, payments.Togo, "+22875000"},
}

// testNumbers are all test numbers by MSISDN.
var testNumbers = func() map[string]TestNumber {
	all := make(map[string]TestNumber, len(testBlocks)*len(payments.TestNumbers))
	for _, b := range testBlocks {
		for _, n := range b.numbers() {
			all[n.MSISDN] = n
		}
	}
	return all
}()

func (b testBlock) numbers() []TestNumber {
	numbers := make([]TestNumber, len(payments.TestNumbers))
	for i, n := range payments.TestNumbers {
		numbers[i] = TestNumber{n, b.block + n.Suffix, b.operator, b.country}
	}
	return numbers
}

// FindTestNumber returns the test number with an MSISDN, of any operator and country.
func FindTestNumber(msisdn string) (number TestNumber, ok bool) {
	number, ok = testNumbers[msisdn]
	return number, ok
}

// TestNumbersOf returns the test numbers of an operator in a country, in the order of [payments.TestNumbers]. It
// returns none for a country in which the operator cannot be simulated.
func TestNumbersOf(op payments.Operator, country payments.Country) []TestNumber {
	for _, b := range testBlocks {
		if b.operator == op && b.country == country {
			return b.numbers()
		}
	}
	return nil
}
