package apidoc

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// exampleMarket is the market of the examples, where the page is of no sandbox.
var exampleMarket = sandboxes.Market{Operator: payments.MTN, Country: payments.Rwanda}

// figure is a kind of figure with code.
type figure int

const (
	noFigure figure = iota
	requestFigure
	answerFigure
)

// place is a part of a page that depends on the request.
type place struct {
	begin, end int
	of         figure
}

var (
	figures = regexp.MustCompile(`(?s)<figure class="code( request)?">.*?</figure>`)
	// ofMarket matches what an example has of its market.
	ofMarket = regexp.MustCompile(strings.TrimPrefix(exampleMSISDN, "+") + `|\bRWF\b|&#34;(RW|mtn)&#34;|\b` +
		countryText(exampleMarket) + `\b`)
)

// placesOfExamples returns the places of a market in the examples. Those with a signature have none, because it is that of
// their bytes.
func placesOfExamples(text []byte) (places []place) {
	for _, at := range figures.FindAllSubmatchIndex(text, -1) {
		example, kind := text[at[0]:at[1]], answerFigure
		if at[2] >= 0 {
			kind = requestFigure
		}
		if bytes.Contains(bytes.ToLower(example), []byte("signature")) {
			continue
		}
		for _, found := range ofMarket.FindAllIndex(example, -1) {
			places = append(places, place{at[0] + found[0], at[0] + found[1], kind})
		}
	}
	return places
}

// marketOf returns the market of the examples at an address.
func (h Hosts) marketOf(form string) sandboxes.Market {
	if h.Sandbox == nil {
		return exampleMarket
	}
	sandbox := h.Sandbox(form)
	if sandbox == nil {
		return exampleMarket
	}
	first, _ := sandbox.MarketLike("", "", "")
	// The answers have the operator's payload, which is that of the example's operator.
	if like, ok := sandbox.MarketLike(string(exampleMarket.Operator), string(first.Country), ""); ok {
		return like
	}
	return exampleMarket
}

// countryText returns the name of a market's country in the operator's own API; "" for none.
func countryText(m sandboxes.Market) string {
	if api := operators.NativeAPI(m.Operator); api != nil {
		return api.CountryText[m.Country]
	}
	return ""
}

// marketOfPage returns the market of the examples of the page at an address. The page of the example's operator has that of
// the sandbox's first environment of it. The examples of the other operators are of the one country that has their API.
func (p *page) marketOfPage(form string) sandboxes.Market {
	switch p.path {
	case PagePath:
		return p.marketOf(form)
	case PagePath + "/" + string(exampleMarket.Operator):
		if p.Sandbox == nil {
			break
		}
		if sandbox := p.Sandbox(form); sandbox != nil && sandbox.Has(exampleMarket.Operator) {
			first, _ := sandbox.MarketLike(string(exampleMarket.Operator), "", "")
			return first
		}
	}
	return exampleMarket
}

// inMarket returns a part of an example in a market. The answer of another operator has another form, so it stays.
func inMarket(text []byte, of figure, m sandboxes.Market) []byte {
	if m == exampleMarket || of == answerFigure && m.Operator != exampleMarket.Operator {
		return text
	}
	currency, _ := m.Country.Currency()
	switch string(text) {
	case "RWF":
		return []byte(currency)
	case "&#34;RW&#34;":
		return []byte("&#34;" + string(m.Country) + "&#34;")
	case "&#34;mtn&#34;":
		return []byte("&#34;" + string(m.Operator) + "&#34;")
	case countryText(exampleMarket):
		return []byte(countryText(m))
	}
	return []byte(strings.TrimPrefix(operators.ExampleNumber(m.Operator, m.Country), "+"))
}
