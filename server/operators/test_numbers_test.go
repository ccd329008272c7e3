package operators_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nyaruka/phonenumbers"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// unnumbered reports whether the operator of an environment has no prefix in the country.
func unnumbered(env detected) bool {
	return len(payments.Facts(env.Operator, env.Country).Prefixes) == 0
}

// TestTestNumbersOfEveryEnvironment checks that each environment has each test number once. libphonenumber accepts a
// test number with a prefix of the operator as a number of the country. It knows no valid number in the range of the
// others.
func TestTestNumbersOfEveryEnvironment(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, country := range payments.Countries {
		for _, op := range payments.Operators {
			got := operators.TestNumbersOf(op, country)
			if !op.In(country) {
				if len(got) > 0 {
					t.Errorf("%s has test numbers in %s, where it is not simulated", op, country)
				}
				continue
			}
			if len(got) != len(payments.TestNumbers) {
				t.Fatalf("%s has %d test numbers in %s, want %d", op, len(got), country, len(payments.TestNumbers))
			}
			env := detected{op, country, true}
			for i, n := range got {
				if n.TestNumber != payments.TestNumbers[i] || n.Operator != op || n.Country != country || !strings.HasSuffix(n.MSISDN, n.Suffix) ||
					!strings.HasPrefix(n.MSISDN, "+"+country.CallingCode()) {
					t.Errorf("test number %d of %s in %s is %+v", i, op, country, n)
				}
				if seen[n.MSISDN] || !payments.ValidMSISDN(n.MSISDN) {
					t.Errorf("%s is there twice, or is no MSISDN", n.MSISDN)
				}
				seen[n.MSISDN] = true
				if found, ok := operators.FindTestNumber(n.MSISDN); !ok || found != n {
					t.Errorf("FindTestNumber(%s) = %+v, %v", n.MSISDN, found, ok)
				}
				want, valid := env, !unnumbered(env)
				if !valid {
					want = detected{"", country, false}
				}
				if diff := cmp.Diff(want, detect(n.MSISDN)); diff != "" {
					t.Errorf("Detect(%s) (-want +got):\n%s", n.MSISDN, diff)
				}
				parsed, err := phonenumbers.Parse(n.MSISDN, "")
				if err != nil || phonenumbers.IsValidNumber(parsed) != valid || phonenumbers.Format(parsed, phonenumbers.E164) != n.MSISDN {
					t.Errorf("libphonenumber: valid numbers have the form of %s: %v, want %v (%v)", n.MSISDN, !valid, valid, err)
				}
			}
		}
	}
}

// TestOtherNumbersAreNoTestNumbers checks numbers in a block that are no test numbers, and numbers outside of the
// blocks.
func TestOtherNumbersAreNoTestNumbers(t *testing.T) {
	t.Parallel()
	suffixes := map[string]bool{}
	for _, n := range payments.TestNumbers {
		suffixes[n.Suffix] = true
	}
	block := strings.TrimSuffix(operators.TestNumbersOf(payments.MTN, payments.Rwanda)[0].MSISDN, payments.TestNumbers[0].Suffix)
	for _, suffix := range []string{"900", "913", "90", "9010", "001", "", "90١"} {
		if n, ok := operators.FindTestNumber(block + suffix); ok {
			t.Errorf("%s is the test number %+v", block+suffix, n)
		}
	}
	for _, msisdn := range []string{"", "+", "901", "+22942000901", "250790000901", "+250788123901"} {
		if n, ok := operators.FindTestNumber(msisdn); ok {
			t.Errorf("%q is the test number %+v", msisdn, n)
		}
	}
}

func BenchmarkFindTestNumber(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		operators.FindTestNumber("+250788123456")
	}
}

// TestTestNumbersAreDocumented compares the tables for merchants with the code.
func TestTestNumbersAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Test numbers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var heads, blocks, rows []string
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		switch first := cells[0]; {
		case first == "" && len(cells) > 1 && heads == nil:
			heads = cells[1:]
		case slices.Contains(payments.Countries, payments.Country(first)):
			for i, op := range heads {
				blocks = append(blocks, first+" "+op+" "+strings.TrimSuffix(cells[i+1], "..."))
			}
		case strings.HasPrefix(first, "9"):
			status := regexp.MustCompile(`[A-Z_]{5,}`).FindAllString(strings.ReplaceAll(cells[2], "PENDING, then ", ""), 1)
			rows = append(rows, first+" "+status[0]+" "+cells[3])
		}
	}
	var wantBlocks, wantRows []string
	for _, country := range payments.Countries {
		for _, op := range payments.Operators {
			block := ""
			if numbers := operators.TestNumbersOf(op, country); len(numbers) > 0 {
				block = strings.TrimSuffix(numbers[0].MSISDN, numbers[0].Suffix)
			}
			wantBlocks = append(wantBlocks, string(country)+" "+string(op)+" "+block)
		}
	}
	for _, n := range payments.TestNumbers {
		wantRows = append(wantRows, n.Suffix+" "+string(n.CollectionOutcome())+" "+string(n.DisbursementOutcome()))
	}
	if diff := cmp.Diff(wantBlocks, blocks); diff != "" {
		t.Errorf("the blocks in docs/api.md (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantRows, rows); diff != "" {
		t.Errorf("the last digits in docs/api.md (-want +got):\n%s", diff)
	}
}
