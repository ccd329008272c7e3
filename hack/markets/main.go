// Command markets writes the table of markets, server/payments/markets.yaml, to other files. These are the same table in
// Go, the markers of the resources' types, which controller-gen reads, and the tags of the API's requests. It also writes the
// type of the resources with the quirks of the operators' packages.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// listing are the files that contain lists of operators or countries.
var listing = []string{
	"api/v1alpha1/fault_types.go", "api/v1alpha1/market_types.go", "api/v1alpha1/operator_types.go", "api/v1alpha1/sandboxenvironment_types.go",
	"api/v1alpha1/testclient_types.go", "server/httpapi/apidoc/webhooks.go", "server/httpapi/wire/requests.go",
	"server/httpapi/wire/test_client_requests.go",
}

const (
	tableFile   = "server/payments/markets.yaml"
	marketsFile = "server/payments/zz_markets.go"
	quirksFile  = "api/v1alpha1/zz_quirks.go"
)

func main() {
	t, err := read(tableFile)
	if err == nil {
		err = write(t)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(t table) error {
	for _, file := range listing {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if rewritten := t.rewrite(text); !bytes.Equal(rewritten, text) {
			if err := os.WriteFile(file, rewritten, 0o644); err != nil {
				return err
			}
		}
	}
	quirks, err := t.quirksType()
	if err != nil {
		return err
	}
	markets, err := t.inGo()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(quirksFile, quirks, 0o644), os.WriteFile(marketsFile, markets, 0o644))
}

// table is the file with the markets, and the quirks of the operators' packages.
type table struct {
	Sources map[string]struct {
		Title string
		Seen  string
	}
	Operators []struct {
		Code, Name, Service string
		Sources             sources
	}
	Countries []struct {
		Code, Currency, English, French, CallingCode string
		Languages                                    []string
		Digits                                       int
		Former                                       struct {
			Digits      int
			Lead, Until string
		}
		Sources sources
	}
	Markets []struct {
		Operator, Country, USSD, TestNumbers, Example string
		Prefixes                                      []string
		Sources                                       sources
	}
	quirks []operatorapi.Quirk
}

// sources names for each cell of a row where its fact comes from.
type sources map[string]string

// read returns the table of a file. It returns an error for a field that it does not know.
func read(file string) (t table, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return t, err
	}
	if err := yaml.UnmarshalStrict(text, &t); err != nil {
		return t, fmt.Errorf("%s: %w", file, err)
	}
	for _, code := range t.operators() {
		if api := operators.NativeAPI(payments.Operator(code)); api != nil {
			t.quirks = append(t.quirks, api.Quirks...)
		}
	}
	return t, nil
}

func (t table) operators() (codes []string) {
	for _, o := range t.Operators {
		codes = append(codes, o.Code)
	}
	return codes
}

func (t table) countries() (codes []string) {
	for _, c := range t.Countries {
		codes = append(codes, c.Code)
	}
	return codes
}

// in returns the countries of an operator, and whether there are others.
func (t table) in(operator string) (countries []string, others bool) {
	for _, m := range t.Markets {
		if m.Operator == operator {
			countries = append(countries, m.Country)
		}
	}
	return countries, len(countries) < len(t.Countries)
}

// The lists in the files, each matched with the text before and after it.
var (
	operatorMarker = regexp.MustCompile(`(validation:Enum=)[a-z;]+(\ntype Operator )`)
	countryMarker  = regexp.MustCompile(`(validation:Enum=)[A-Z;]+(\ntype Country )`)
	operatorTag    = regexp.MustCompile(`(json:"operator(?:,omitempty)?" enum:")[a-z,]+(")`)
	countryTag     = regexp.MustCompile(`(json:"country(?:,omitempty)?" enum:")[A-Z,]+(")`)
	operatorText   = regexp.MustCompile(`(operator: |operator of the transaction: |json:"operator" doc:")(?:\w+, )*\w+ or \w+(\.)`)
	countryText    = regexp.MustCompile(`(market: |country of the transaction: )(?:[A-Z]{2}, )*[A-Z]{2} or [A-Z]{2}(\.)`)
	onlyText       = regexp.MustCompile(`( \w+ is in [A-Z]{2}(?:(?:,| and) [A-Z]{2})* only\.)+\n`)
	onlyRules      = regexp.MustCompile(`(?:// \+kubebuilder:validation:XValidation:rule="(.*)self.operator != '\w+' \|\| self.country (?:==|in) [^"]*",message="[^"]*"\n)+`)
)

// rewrite replaces the lists in a text by those of the table.
func (t table) rewrite(text []byte) []byte {
	put := func(place *regexp.Regexp, list string) {
		text = place.ReplaceAll(text, []byte("${1}"+list+"${2}"))
	}
	put(operatorMarker, strings.Join(t.operators(), ";"))
	put(countryMarker, strings.Join(t.countries(), ";"))
	put(operatorTag, strings.Join(t.operators(), ","))
	put(countryTag, strings.Join(t.countries(), ","))
	put(operatorText, payments.OneOf(t.operators()))
	put(countryText, payments.OneOf(t.countries()))
	var rules, sentences strings.Builder
	for _, o := range t.operators() {
		if in, others := t.in(o); others {
			fmt.Fprintf(&rules, "// +kubebuilder:validation:XValidation:rule=\"${1}self.operator != '%s' || self.country in ['%s']\","+
				"message=\"%[1]s is available in %[3]s only: write country: %[4]s, or another operator\"\n",
				o, strings.Join(in, "', '"), payments.AllOf(in), payments.OneOf(in))
			fmt.Fprintf(&sentences, " %s is in %s only.", o, payments.AllOf(in))
		}
	}
	if rules.Len() > 0 { // an empty list could not be found and replaced again
		text = onlyRules.ReplaceAll(text, []byte(rules.String()))
		text = onlyText.ReplaceAll(text, []byte(sentences.String()+"\n"))
	}
	return text
}

// inGo returns the content of the file with the table.
func (t table) inGo() ([]byte, error) {
	var b bytes.Buffer
	if err := goFile.Execute(&b, t); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

var goFile = template.Must(template.New("").Parse(`// Code generated by hack/markets from markets.yaml. DO NOT EDIT.

package payments

// Operators lists every operator.
var Operators = []Operator{ {{- range .Operators}}{{printf "%q" .Code}}, {{end -}} }

// Countries lists every market.
var Countries = []Country{ {{- range .Countries}}{{printf "%q" .Code}}, {{end -}} }

// Currencies lists every currency.
var Currencies = []Currency{ {{- range .Currencies}}{{printf "%q" .}}, {{end -}} }

var operatorFacts = map[Operator]OperatorFacts{
{{- range .Operators}}
	{{printf "%q" .Code}}: {Name: {{printf "%q" .Name}}, Service: {{printf "%q" .Service}}},
{{- end}}
}

var countryFacts = map[Country]CountryFacts{
{{- range .Countries}}
	{{printf "%q" .Code}}: {
		Currency: {{printf "%q" .Currency}}, Languages: []string{ {{- range .Languages}}{{printf "%q" .}}, {{end -}} },
		English: {{printf "%q" .English}}, French: {{printf "%q" .French}}, CallingCode: {{printf "%q" .CallingCode}}, Digits: {{.Digits}},
		{{- with .Former}}{{if .Digits}}
		Former: FormerNumbers{Digits: {{.Digits}}, Lead: {{printf "%q" .Lead}}, Until: {{printf "%q" .Until}}},{{end}}{{end}}
	},
{{- end}}
}

// Markets lists every operator in every country that it is in.
var Markets = []MarketFacts{
{{- range .Markets}}
	{
		Operator: {{printf "%q" .Operator}}, Country: {{printf "%q" .Country}}, TestNumbers: {{printf "%q" .TestNumbers}},
		{{- with .USSD}} USSD: {{printf "%q" .}},{{end}}{{with .Example}} Example: {{printf "%q" .}},{{end}}
		{{- with .Prefixes}}
		Prefixes: []string{ {{- range .}}{{printf "%q" .}}, {{end -}} },{{end}}
	},
{{- end}}
}
`))

// Currencies returns the currencies of the countries.
func (t table) Currencies() (codes []string) {
	for _, c := range t.Countries {
		if !slices.Contains(codes, c.Currency) {
			codes = append(codes, c.Currency)
		}
	}
	return codes
}

// quirksType returns the content of the file with the type of the quirks.
func (t table) quirksType() ([]byte, error) {
	var b strings.Builder
	b.WriteString(`// Code generated by hack/markets from the packages of the operators. DO NOT EDIT.

package v1alpha1

// Quirks are special behaviors of operators' own sandboxes.
type Quirks struct {
`)
	var names strings.Builder
	for i, q := range t.quirks {
		if i > 0 {
			b.WriteString("\n")
		}
		field := strings.ToUpper(q.Name[:1]) + q.Name[1:]
		for line := range strings.Lines(q.About) {
			b.WriteString("\t// " + line)
		}
		fmt.Fprintf(&b, "\n\t//\n\t// +optional\n\t// +default=%t\n\t%s *bool `json:%q`\n", !q.Off, field, q.Name+",omitempty")
		fmt.Fprintf(&names, "\t\t%q: q.%s,\n", q.Name, field)
	}
	fmt.Fprintf(&b, `}

// Named returns the quirks by their names. A quirk that is not set is nil.
func (q *Quirks) Named() map[string]*bool {
	return map[string]*bool{
%s	}
}
`, names.String())
	return format.Source([]byte(b.String()))
}
