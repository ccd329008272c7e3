package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// The lists in the files, each matched with the text before and after it.
var (
	operatorMarker = regexp.MustCompile(`(validation:Enum=)[a-z;]+(\ntype Operator )`)
	countryMarker  = regexp.MustCompile(`(validation:Enum=)[A-Z;]+(\ntype Country )`)
	currencyMarker = regexp.MustCompile(`(validation:Enum=)[A-Z;]+(\ntype Currency )`)
	// The bounds of lists: as many environments as there are markets, rounded up, and a float for each currency.
	marketBound   = regexp.MustCompile(`(validation:MaxItems=)[0-9]+(\n\tEnvironments \[\]Environment )`)
	currencyBound = regexp.MustCompile(`(validation:MaxItems=)[0-9]+(\n\tOpeningFloat )`)
	operatorTag   = regexp.MustCompile(`(json:"operator(?:,omitempty)?" enum:")[a-z,]+(")`)
	countryTag    = regexp.MustCompile(`(json:"country(?:,omitempty)?" enum:")[A-Z,]+(")`)
	operatorText  = regexp.MustCompile(`(operator: |operator of the transaction: |json:"operator" doc:")(?:\w+, )*\w+ or \w+(\.)`)
	countryText   = regexp.MustCompile(`(market: |country of the transaction: )(?:[A-Z]{2}, )*[A-Z]{2} or [A-Z]{2}(\.)`)
	currencyText  = regexp.MustCompile(`(market's currency: |currency of the amount: |currency of the float: )(?:[A-Z]{3}, )*[A-Z]{3} or [A-Z]{3}(\.)`)
	namesText     = regexp.MustCompile(`(code of a market:)(?:(?: |\n// )(?:or )?[A-Z]{2} \([^)]*\),?)+(\.)`)
	onlyText      = regexp.MustCompile(`(?:\t// \w+ is in [A-Z]{2}(?:(?:,| and) [A-Z]{2})* only\.\n)+`)
	onlyRules     = regexp.MustCompile(`(?:// \+kubebuilder:validation:XValidation:rule="(.*)self.operator != '\w+' \|\| self.country (?:==|in) [^"]*",message="[^"]*"\n)+`)
)

// rewrite replaces the lists in a text by those of the table.
func (t table) rewrite(text []byte) []byte {
	put := func(place *regexp.Regexp, list string) {
		text = place.ReplaceAll(text, []byte("${1}"+list+"${2}"))
	}
	put(operatorMarker, strings.Join(t.operators(), ";"))
	put(countryMarker, strings.Join(t.countries(), ";"))
	put(operatorTag, strings.Join(t.operators(), ","))
	put(currencyMarker, strings.Join(t.Currencies(), ";"))
	put(marketBound, fmt.Sprint(t.marketBound()))
	put(currencyBound, fmt.Sprint(len(t.Currencies())))
	put(currencyText, payments.OneOf(t.Currencies()))
	put(namesText, t.named())
	put(countryTag, strings.Join(t.countries(), ","))
	put(operatorText, payments.OneOf(t.operators()))
	put(countryText, payments.OneOf(t.countries()))
	text = t.rewriteFlickers(text)
	var rules, sentences strings.Builder
	for _, o := range t.operators() {
		if in, others := t.in(o); others {
			fmt.Fprintf(&rules, "// +kubebuilder:validation:XValidation:rule=\"${1}self.operator != '%s' || self.country in ['%s']\","+
				"message=\"%[1]s is available in %[3]s only: write country: %[4]s, or another operator\"\n",
				o, strings.Join(in, "', '"), payments.AllOf(in), payments.OneOf(in))
			fmt.Fprintf(&sentences, "\t// %s is in %s only.\n", o, payments.AllOf(in))
		}
	}
	if rules.Len() > 0 { // an empty list could not be found and replaced again
		text = onlyRules.ReplaceAll(text, []byte(rules.String()))
		text = onlyText.ReplaceAll(text, []byte(sentences.String()))
	}
	return text
}

// marketBound is how many environments a sandbox may have: all markets, with room for more. The rules of an environment cost
// in proportion to it. A store's credentials have a bound of their own: for a rule about a URL of each, an API server takes no more.
func (t table) marketBound() int {
	const step = 16
	return (len(t.Markets) + step - 1) / step * step
}

// named returns the countries as texts such as " RW (Rwanda)", over several lines of a comment.
func (t table) named() string {
	var b strings.Builder
	column := len("// Country is the ISO 3166 alpha-2 code of a market:")
	for i, c := range t.Countries {
		text := c.Code + " (" + c.English + ")"
		switch i {
		case len(t.Countries) - 1:
			text = "or " + text
		case len(t.Countries) - 2:
		default:
			text += ","
		}
		if column += 1 + len(text); column > commentWidth {
			b.WriteString("\n//")
			column = len("// ") + len(text)
		}
		b.WriteString(" " + text)
	}
	return b.String()
}

// commentWidth is the width of the lines of a comment.
const commentWidth = 118
