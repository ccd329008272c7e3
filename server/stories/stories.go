// Package stories tells what happens to a shop that takes mobile money, in any market: what goes wrong, what a correct
// shop does, and what the sandbox has in the end.
package stories

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	files "github.com/cauri-dev/cauri/config/samples/stories"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// Market is where a story happens.
type Market struct {
	Operator payments.Operator
	Country  payments.Country
}

// object is a part of a resource, as its YAML is parsed.
type object = map[string]any

// Text returns the file of the story.
func (s *Story) Text() []byte {
	text, err := files.Files.ReadFile(s.Name + ".yaml")
	if err != nil {
		panic(err) // a test reads each of them
	}
	return text
}

// Resources returns the sandbox and the Expectation of the story in a market, as kubectl applies them. It returns an
// error for a market in which the story cannot happen.
func (s *Story) Resources(m Market) (sandbox, expectation map[string]any, err error) {
	if err := s.check(m); err != nil {
		return nil, nil, err
	}
	sandbox, expectation = s.parsed()
	s.move(sandbox, m)
	s.move(expectation, m)
	return sandbox, expectation, nil
}

// parsed returns the resources in the market of the file.
func (s *Story) parsed() (sandbox, expectation object) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(s.Text())))
	for _, into := range []*object{&sandbox, &expectation} {
		text, err := documents.Read()
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			panic(fmt.Sprintf("%s.yaml: %v", s.Name, err)) // a test reads each of them
		}
	}
	return sandbox, expectation
}

func spec(resource object) object { return resource["spec"].(object) }

// check returns an error if the story is about the own API of another operator, or the market has no operator like this.
func (s *Story) check(m Market) error {
	switch {
	case !m.Operator.Valid():
		return fmt.Errorf("%s is no operator: write %s", m.Operator, payments.OneOf(payments.Operators))
	case !m.Operator.In(m.Country):
		return fmt.Errorf("%s is not in %s: it is in %s", m.Operator, m.Country, payments.AllOf(m.Operator.Countries()))
	}
	if of := s.OwnAPI(); of != "" && of != m.Operator {
		return fmt.Errorf("%s is a story of %s's own API: it does not happen with %s", s.Name, of.Name(), m.Operator.Name())
	}
	return nil
}

// OwnAPI returns the operator whose own API the story is about; "" if it happens with each operator.
func (s *Story) OwnAPI() payments.Operator {
	sandbox, _ := s.parsed()
	for _, f := range s.entries(sandbox) {
		when, _ := f["when"].(object)
		if of, named := when["operator"].(string); named {
			return payments.Operator(of)
		}
	}
	return ""
}

// entries returns the entries of spec.faults.
func (s *Story) entries(sandbox object) (entries []object) {
	declared, _ := spec(sandbox)["faults"].([]any)
	for _, f := range declared {
		entries = append(entries, f.(object))
	}
	return entries
}

// move writes a market into each field that names one: operator, country, currency, and the number of a payer.
func (s *Story) move(in any, m Market) {
	currency, _ := m.Country.Currency()
	switch in := in.(type) {
	case []any:
		for _, one := range in {
			s.move(one, m)
		}
	case object:
		for name, value := range in {
			text, isText := value.(string)
			switch {
			case !isText:
				s.move(value, m)
			case name == "operator":
				in[name] = string(m.Operator)
			case name == "country":
				in[name] = string(m.Country)
			case name == "currency":
				in[name] = string(currency)
			case name == "msisdn":
				if number, known := operators.FindTestNumber(text); known {
					in[name] = numberLike(m, number.Suffix)
				}
			}
		}
	}
}

func numberLike(m Market, suffix string) string {
	for _, n := range operators.TestNumbersOf(m.Operator, m.Country) {
		if n.Suffix == suffix {
			return n.MSISDN
		}
	}
	return ""
}

// Number returns the test number that pays in a market.
func (s *Story) Number(m Market) string {
	for _, n := range operators.TestNumbersOf(m.Operator, m.Country) {
		if n.Behavior == s.Payer {
			return n.MSISDN
		}
	}
	return ""
}

// Market returns the market of the story's file.
func (s *Story) Market() Market {
	sandbox, _ := s.parsed()
	e := spec(sandbox)["environments"].([]any)[0].(object)
	return Market{payments.Operator(e["operator"].(string)), payments.Country(e["country"].(string))}
}

// In returns the market of the story in a country: with the operator of its file, or with the first one of the country if that
// one is not there. A story about an operator's own API keeps its operator.
func (s *Story) In(c payments.Country) Market {
	m := Market{s.Market().Operator, c}
	if m.Operator.In(c) || s.OwnAPI() != "" {
		return m
	}
	for _, there := range payments.Markets {
		if there.Country == c {
			m.Operator = there.Operator
			break
		}
	}
	return m
}

// anySandbox are the fields that a sandbox has anyway, whatever their values.
var anySandbox = []string{"environments", "faults", "openingFloat", "stores", "testNumbers"}

// Needs returns the fields of spec that a sandbox needs for the story, sorted: clock, for example. It returns none for a
// story that needs only faults, which can be set while a sandbox runs.
func (s *Story) Needs() (fields []string) {
	sandbox, _ := s.parsed()
	for _, field := range slices.Sorted(maps.Keys(spec(sandbox))) {
		if !slices.Contains(anySandbox, field) {
			fields = append(fields, "spec."+field)
		}
	}
	return fields
}

// Faults returns the faults of the story, as they are set in a sandbox that runs: their names say whose they are, and they
// act from the beginning of the story, in sandbox time, which they tell in this way.
func (s *Story) Faults(began time.Time) (set faults.Set) {
	sandbox, _ := s.parsed()
	text, err := json.Marshal(spec(sandbox)["faults"])
	if err == nil {
		set, err = faults.Parse(text)
	}
	if err != nil {
		panic(fmt.Sprintf("%s.yaml: %v", s.Name, err))
	}
	for i := range set {
		set[i].Name = s.prefix() + set[i].Name
		set[i].When.From = &began
	}
	return set
}

func (s *Story) prefix() string { return "story-" + s.Name + "-" }

// OfFault returns the story that a fault was set for, by its name; nil for none.
func OfFault(name string) *Story {
	for i := range all {
		if strings.HasPrefix(name, all[i].prefix()) {
			return &all[i]
		}
	}
	return nil
}

// Expectation returns the spec of the story's Expectation.
func (s *Story) Expectation() (e struct {
	Within string          `json:"within"`
	Expect json.RawMessage `json:"expect"`
}) {
	_, expectation := s.parsed()
	text, err := json.Marshal(spec(expectation))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		panic(fmt.Sprintf("%s.yaml: %v", s.Name, err))
	}
	return e
}

// Lines returns the lines of the story's Expectation.
func (s *Story) Lines() []expectations.Line {
	lines, err := expectations.Parse(s.Expectation().Expect)
	if err != nil {
		panic(fmt.Sprintf("%s.yaml: %v", s.Name, err))
	}
	return lines
}
