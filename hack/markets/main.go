// Command markets writes the table of markets, server/payments/markets.yaml, to other files. These are the same table in
// Go, the markers of the resources' types, which controller-gen reads, the tags of the API's requests, and the tables of
// documents. It also writes the type of the resources with the quirks of the operators' packages, and the rules about their
// calls whose answers flicker.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// listing are the files that contain lists of operators or countries.
var listing = []string{
	"api/v1alpha1/expectation_types.go", "api/v1alpha1/fault_types.go", "api/v1alpha1/market_types.go", "api/v1alpha1/operator_types.go",
	"api/v1alpha1/sandboxenvironment_types.go", "api/v1alpha1/testclient_types.go", "server/httpapi/apidoc/webhooks.go", "server/httpapi/wire/requests.go",
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
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if text, err = t.page(page, text); err != nil {
			return err
		}
		if err := os.WriteFile(page, text, 0o644); err != nil {
			return err
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
	Sources   map[string]struct{ Title, French, Seen, Mark string }
	Operators []struct {
		Code, Name, Service string
		Sources             sources
	}
	Countries []struct {
		Code, Currency, English, French, CallingCode string
		Languages                                    []string
		Digits, MinorUnit                            int
		Payer                                        struct{ Name, Resource, MSISDN string }
		Former                                       struct {
			Digits      int
			Lead, Until string
		}
		Sources sources
	}
	Markets []struct {
		Operator, Country, USSD, TestNumbers, Example, NameInAPI, Authorization string
		Prefixes                                                                []string
		MinAmount, MaxAmount, MaxPerDay, MaxBalance                             int64
		PromptSeconds                                                           int
		Sources                                                                 sources
	}
	Everywhere map[string][]string // countries by operator
	quirks     []operatorapi.Quirk
	flickers   []string // the operators that have a status call whose answers flicker
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
	for _, name := range operators.Flickering() {
		t.flickers = append(t.flickers, string(name))
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
