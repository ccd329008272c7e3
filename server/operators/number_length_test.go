package operators_test

import (
	"fmt"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

func TestCheckLength(t *testing.T) {
	t.Parallel()
	for msisdn, want := range map[string]string{
		"+225730000901":   "+225730000901 has 9 digits after +225, and a number of CI has 10",
		"+22507300009012": "+22507300009012 has 11 digits after +225, and a number of CI has 10",
		"+25078812345":    "+25078812345 has 8 digits after +250, and a number of RW has 9",
		"+2500788123456":  "+2500788123456 has 10 digits after +250, and a number of RW has 9",
		"+2289900001":     "+2289900001 has 7 digits after +228, and a number of TG has 8",
		"+229970000011":   "+229970000011 has 9 digits after +229, and a number of BJ has 10",
		"+22997000001":    "+22997000001 has 8 digits after +229, and a number of BJ has 10 since 30 November 2024: +2290197000001",
		"+22901970000":    "+22901970000 has 8 digits after +229, and a number of BJ has 10 since 30 November 2024: +2290101970000",
		"+2290197000001":  "",
		"+2250730000901":  "",
		"+2252721020304":  "", // a fixed line
		"+250788123456":   "",
		"+22899000001":    "",
		"+33612345678":    "",
		"2250730000901":   "",
		"+225 730000901":  "",
		"":                "",
	} {
		told := ""
		if w := operators.CheckLength(nil, msisdn); w != nil {
			told = w.String()
		}
		if told != want {
			t.Errorf("%s: %q, want %q", msisdn, told, want)
		}
	}
}

// Detect finds the country of a number only if its length is right, or is that of the former format.
func TestCheckLengthAgreesWithDetect(t *testing.T) {
	t.Parallel()
	for code, country := range map[string]payments.Country{"225": "CI", "228": "TG", "229": "BJ", "250": "RW"} {
		for digits := 4; digits <= 12; digits++ {
			msisdn := fmt.Sprintf("+%s%0*d", code, digits, 1)
			_, detected, _ := operators.Detect(nil, msisdn)
			wrong := operators.CheckLength(nil, msisdn)
			if detects := wrong == nil || wrong.Present != ""; detects != (detected == country) {
				t.Errorf("%s is of %q, and of the length %v", msisdn, detected, wrong)
			}
			if wrong != nil && wrong.Present != "" && operators.CheckLength(nil, wrong.Present) != nil {
				t.Errorf("%s becomes %s", msisdn, wrong.Present)
			}
		}
	}
}
