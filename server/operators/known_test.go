package operators_test

import (
	"slices"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// Detection returns nothing that a sandbox does not know, for a number of each market.
func TestDetectReturnsOnlyWhatIsKnown(t *testing.T) {
	t.Parallel()
	for _, m := range payments.Markets {
		if m.Example == "" {
			continue
		}
		with := payments.KnownWith(func(o payments.Operator, c payments.Country) bool { return o == m.Operator && c == m.Country })
		for name, known := range map[string]*payments.Known{"everywhere": payments.KnownEverywhere, "with it": with, "the table": nil} {
			operator, country, ok := operators.Detect(known, m.Example)
			if known.Has(m.Operator, m.Country) {
				if !ok || operator != m.Operator || country != m.Country {
					t.Errorf("%s: %s is of %s in %s, %t", name, m.Example, operator, country, ok)
				}
			} else if ok || operator != "" || country != "" && !slices.Contains(known.Countries(), country) {
				t.Errorf("%s: %s is of %s in %s, %t, which is not known", name, m.Example, operator, country, ok)
			}
			short := m.Example[:len(m.Example)-3]
			if w := operators.CheckLength(known, short); (w != nil) != slices.Contains(known.Countries(), m.Country) {
				t.Errorf("%s: the length of %s is %v", name, short, w)
			}
		}
	}
}

// A country and an operator that every sandbox knows do not make their pair known, and a country is known by one of its pairs.
func TestKnownPairs(t *testing.T) {
	t.Parallel()
	everywhere := payments.KnownEverywhere
	if !everywhere.Has(payments.MTN, payments.Rwanda) || everywhere.Has(payments.Airtel, payments.Togo) || everywhere.Has(payments.MPesa, "KE") {
		t.Error("the wrong pairs are known everywhere")
	}
	for _, names := range []struct{ list, want []string }{
		{payments.Texts(everywhere.Operators()), []string{"mtn", "orange", "moov", "airtel"}},
		{payments.Texts(everywhere.Countries()), []string{"CI", "RW", "BJ", "TG"}},
		{payments.Texts(everywhere.Currencies()), []string{"XOF", "RWF"}},
		{payments.Texts(everywhere.CountriesOf(payments.Airtel)), []string{"RW"}},
	} {
		if !slices.Equal(names.list, names.want) {
			t.Errorf("%q are known everywhere, want %q", names.list, names.want)
		}
	}
}
