package decode

import (
	"encoding/json"
	"fmt"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// examples are those of a message about a body: of the sandbox's environment that the sent fields are most like, else of
// its first one.
type examples struct {
	sandbox *sandboxes.Sandbox // nil: those of the API's description
	sent    map[string]any
}

// of returns the example of a field in the market of the examples.
func (e examples) of(f *field) any {
	switch f.name {
	case "msisdn", "operator", "country", "currency":
	default:
		return f.example
	}
	if f.example == nil || e.sandbox == nil {
		return f.example
	}
	text := func(name string) string {
		value, _ := e.sent[name].(string)
		return value
	}
	market, ok := e.sandbox.MarketLike(text("operator"), text("country"), text("msisdn"))
	if !ok {
		return f.example
	}
	currency, _ := market.Country.Currency()
	return map[string]any{
		"msisdn": operators.ExampleNumber(market.Operator, market.Country), "operator": market.Operator, "country": market.Country,
		"currency": currency,
	}[f.name]
}

// forExample returns the end of messages about the field.
func (f *field) forExample(e examples) string {
	value := e.of(f)
	if value == nil {
		return ""
	}
	text, _ := json.Marshal(value)
	var plain string
	if json.Unmarshal(text, &plain) != nil {
		plain = string(text)
	}
	return ", for example " + plain
}

// sample returns a body in short, with this field.
func (f *field) sample(e examples) string {
	value := e.of(f)
	if value == nil {
		return fmt.Sprintf("{%q: ..., ...}", f.name)
	}
	text, _ := json.Marshal(value)
	return fmt.Sprintf("{%q: %s, ...}", f.name, text)
}
