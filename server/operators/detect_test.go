package operators_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nyaruka/phonenumbers"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// detected has the results of Detect.
type detected struct {
	Operator payments.Operator
	Country  payments.Country
	OK       bool
}

func detect(msisdn string) detected {
	op, country, ok := operators.Detect(nil, msisdn)
	return detected{op, country, ok}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	var nothing detected
	tests := map[string]struct {
		msisdn string
		want   detected
	}{
		"ci moov":                        {"+2250101020304", detected{payments.Moov, payments.CoteDIvoire, true}},
		"ci mtn":                         {"+2250501020304", detected{payments.MTN, payments.CoteDIvoire, true}},
		"ci orange":                      {"+2250701020304", detected{payments.Orange, payments.CoteDIvoire, true}},
		"ci fixed line":                  {"+2252721020304", detected{"", payments.CoteDIvoire, false}},
		"ci of eight digits":             {"+22507010203", nothing},
		"ci one digit short":             {"+225070102030", nothing},
		"ci one digit long":              {"+22507010203040", nothing},
		"rw mtn 78":                      {"+250788000001", detected{payments.MTN, payments.Rwanda, true}},
		"rw mtn 79":                      {"+250790000001", detected{payments.MTN, payments.Rwanda, true}},
		"rw airtel 72":                   {"+250720000001", detected{payments.Airtel, payments.Rwanda, true}},
		"rw airtel 73":                   {"+250730000001", detected{payments.Airtel, payments.Rwanda, true}},
		"rw neither":                     {"+250770000001", detected{"", payments.Rwanda, false}},
		"rw with its trunk zero":         {"+2500788000001", nothing},
		"rw one digit short":             {"+25078800000", nothing},
		"bj mtn":                         {"+2290197000001", detected{payments.MTN, payments.Benin, true}},
		"bj mtn, former":                 {"+22997000001", detected{payments.MTN, payments.Benin, true}},
		"bj moov":                        {"+2290195000001", detected{payments.Moov, payments.Benin, true}},
		"bj moov, former":                {"+22995000001", detected{payments.Moov, payments.Benin, true}},
		"bj another operator":            {"+2290140000001", detected{"", payments.Benin, false}},
		"bj another operator, former":    {"+22940000001", detected{"", payments.Benin, false}},
		"bj former with 01 of its own":   {"+22901970000", detected{"", payments.Benin, false}},
		"bj ten digits without 01":       {"+2299700000001", detected{"", payments.Benin, false}},
		"bj of nine digits":              {"+229019700000", nothing},
		"tg moov":                        {"+22899000001", detected{payments.Moov, payments.Togo, true}},
		"tg another operator":            {"+22890000001", detected{"", payments.Togo, false}},
		"tg of ten digits":               {"+2289900000101", nothing},
		"ke mpesa, three digits":         {"+254740123456", detected{payments.MPesa, "KE", true}},
		"ke airtel, three digits":        {"+254750123456", detected{payments.Airtel, "KE", true}},
		"ke another operator":            {"+254770123456", detected{"", "KE", false}},
		"cm mtn":                         {"+237650123456", detected{payments.MTN, "CM", true}},
		"cm orange":                      {"+237655123456", detected{payments.Orange, "CM", true}},
		"ug airtel among mtn":            {"+256795123456", detected{payments.Airtel, "UG", true}},
		"another country":                {"+999770000001", nothing},
		"another country, same digits":   {"+12250701020304", nothing},
		"a calling code and little else": {"+2250701", nothing},
		"no plus sign":                   {"2250701020304", nothing},
		"two zeros for the plus sign":    {"002250701020304", nothing},
		"blanks":                         {"+225 07 01 02 03 04", nothing},
		"letters":                        {"+225070102030A", nothing},
		"digits of another script":       {"+22507010203٤", nothing},
		"empty":                          {"", nothing},
		"a plus sign alone":              {"+", nothing},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, detect(tt.msisdn)); diff != "" {
				t.Errorf("Detect(%q) (-want +got):\n%s", tt.msisdn, diff)
			}
		})
	}
}

// carriers are libphonenumber's names of the supported operators.
var carriers = map[string]payments.Operator{
	"MTN":          payments.MTN,
	"MTN Cameroon": payments.MTN,
	"Moov":         payments.Moov,
	"Orange":       payments.Orange,
	"Airtel":       payments.Airtel,
	"TIGO":         payments.Airtel, // taken over by Airtel
	"Safaricom":    payments.MPesa,
}

// TestDetectAgreesWithLibphonenumber compares Detect with the library for all leading digits of the markets. Detect
// finds the same operator as the library, or none if Cauri does not support it.
func TestDetectAgreesWithLibphonenumber(t *testing.T) {
	t.Parallel()
	for _, country := range payments.Countries {
		t.Run(string(country), func(t *testing.T) {
			t.Parallel()
			facts, leading, known := country.Facts(), leadingDigits(country), 0
			for first := range int(math.Pow10(leading)) {
				msisdn := fmt.Sprintf("+%s%0*d%s", facts.CallingCode, leading, first, "123456789"[:facts.Digits-leading])
				op, ok := carriers[carrier(t, msisdn)]
				if ok = ok && op.In(country); !ok {
					op = ""
				} else {
					known++
				}
				if diff := cmp.Diff(detected{op, country, ok}, detect(msisdn)); diff != "" {
					t.Errorf("Detect(%q) (-libphonenumber +got):\n%s", msisdn, diff)
				}
			}
			if known == 0 {
				t.Error("libphonenumber knows no supported prefix: is the comparison void?")
			}
		})
	}
}

// leadingDigits is the number of digits that any prefix of a country has at most, and at least three.
func leadingDigits(country payments.Country) int {
	longest := 3
	for _, m := range payments.Markets {
		for _, prefix := range m.Prefixes {
			if m.Country == country {
				longest = max(longest, len(prefix))
			}
		}
	}
	return longest
}

// carrier returns libphonenumber's name of a number's carrier; "" if it knows none. It also returns "" if the library
// corrects the number, for example by removing a trunk prefix after the calling code.
func carrier(t *testing.T, msisdn string) string {
	t.Helper()
	number, err := phonenumbers.Parse(msisdn, "")
	if err != nil {
		t.Fatalf("parsing %s: %v", msisdn, err)
	}
	if phonenumbers.Format(number, phonenumbers.E164) != msisdn {
		return ""
	}
	name, err := phonenumbers.GetCarrierForNumber(number, "en")
	if err != nil {
		t.Fatalf("finding the carrier of %s: %v", msisdn, err)
	}
	return name
}

// TestDetectFormerNumbersOfBenin checks that a number belongs to the same operator with and without the leading 01.
func TestDetectFormerNumbersOfBenin(t *testing.T) {
	t.Parallel()
	for prefix := range 100 {
		former := fmt.Sprintf("%02d123456", prefix)
		if diff := cmp.Diff(detect("+22901"+former), detect("+229"+former)); diff != "" {
			t.Errorf("number %s of Benin (-with 01 +without):\n%s", former, diff)
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		operators.Detect(nil, "+22997000001")
	}
}
