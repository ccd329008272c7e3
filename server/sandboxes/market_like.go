package sandboxes

import (
	"slices"
	"strings"
)

// EnabledMarkets returns the enabled environments, in the order of the resource.
func (s *Sandbox) EnabledMarkets() []Market {
	return slices.DeleteFunc(slices.Clone(s.Markets), func(m Market) bool { return !s.Environments[m].Enabled })
}

// MarketLike returns the enabled environment that is most like an operator, a country and a number, as a client sent them
// or left them out. Among equals it is the first one of the resource. ok is false if none is enabled.
func (s *Sandbox) MarketLike(operator, country, msisdn string) (like Market, ok bool) {
	best := -1
	for _, m := range s.EnabledMarkets() {
		same := 0
		for _, is := range []bool{
			strings.EqualFold(operator, string(m.Operator)), strings.EqualFold(country, string(m.Country)),
			strings.HasPrefix(strings.TrimLeft(msisdn, "+0 "), m.Country.CallingCode()),
		} {
			if is {
				same++
			}
		}
		if same > best {
			like, best = m, same
		}
	}
	return like, best >= 0
}
