package payments

import "slices"

// Known is the part of the table of markets that a sandbox knows: the pairs of an operator and a country that every sandbox
// knows, and those that the sandbox names in an environment, also in one that was removed. In a sandbox that names none of the
// others, a number, an operator, a country and a currency of theirs are answered as if they were not in the table, so that a
// row that is added changes no answer of a sandbox that does not use it (docs/decisions/0110). nil knows the whole table.
type Known struct {
	markets    []MarketFacts
	operators  []Operator
	countries  []Country
	currencies []Currency
}

// KnownWith returns what a sandbox knows. The function names reports whether it names a pair.
func KnownWith(names func(Operator, Country) bool) *Known {
	k := &Known{}
	for _, m := range Markets {
		if slices.Contains(everywhere[m.Operator], m.Country) || names(m.Operator, m.Country) {
			k.markets = append(k.markets, m)
		}
	}
	in := func(of func(MarketFacts) bool) bool { return slices.ContainsFunc(k.markets, of) }
	for _, o := range Operators {
		if in(func(m MarketFacts) bool { return m.Operator == o }) {
			k.operators = append(k.operators, o)
		}
	}
	for _, c := range Countries {
		if in(func(m MarketFacts) bool { return m.Country == c }) {
			k.countries = append(k.countries, c)
		}
	}
	for _, c := range Currencies {
		if in(func(m MarketFacts) bool { return m.Country.Facts().Currency == c }) {
			k.currencies = append(k.currencies, c)
		}
	}
	return k
}

// KnownEverywhere is what a sandbox knows that names nothing else.
var KnownEverywhere = KnownWith(func(Operator, Country) bool { return false })

// Has reports whether k has an operator in a country.
func (k *Known) Has(o Operator, c Country) bool {
	if k == nil {
		return o.In(c)
	}
	return slices.ContainsFunc(k.markets, func(m MarketFacts) bool { return m.Operator == o && m.Country == c })
}

// Operators returns the operators, in the order of [Operators].
func (k *Known) Operators() []Operator {
	if k == nil {
		return Operators
	}
	return k.operators
}

// Countries returns the countries, in the order of [Countries].
func (k *Known) Countries() []Country {
	if k == nil {
		return Countries
	}
	return k.countries
}

// Currencies returns the currencies of the countries, in the order of [Currencies].
func (k *Known) Currencies() []Currency {
	if k == nil {
		return Currencies
	}
	return k.currencies
}

// OperatorsFor returns the operators that a request for a country may name, in the order of [Operators]: those of the country. It
// returns all for a country that is not known, and for one that every sandbox knows: answers for those do not change
// (docs/decisions/0110).
func (k *Known) OperatorsFor(c Country) (in []Operator) {
	if !slices.Contains(k.Countries(), c) || slices.Contains(KnownEverywhere.countries, c) {
		return k.Operators()
	}
	for _, o := range k.Operators() {
		if k.Has(o, c) {
			in = append(in, o)
		}
	}
	return in
}

// CountriesOf returns the countries of an operator, in the order of [Countries].
func (k *Known) CountriesOf(o Operator) (in []Country) {
	for _, c := range k.Countries() {
		if k.Has(o, c) {
			in = append(in, c)
		}
	}
	return in
}
