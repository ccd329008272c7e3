package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// part is what an operator has somewhere, and how it comes there.
type part struct {
	file string // a path, or a pattern of paths; {operator} is the operator's name
	text string // what the file has, in letters of any size; empty: that it is there
	add  string
}

// partsOfAll are those of every operator, partsOfAPIs further ones of those with an API of their own.
var (
	partsOfAll = []part{
		{"server/operators/{operator}/payload.go", "", "the package with its payloads and its client"},
		{"server/operators/testdata/{operator}.golden", "# collection SUCCESS\n", "its payloads: `go test ./server/operators -run TestRawGolden -update`"},
		{"server/operators/operatorstest/{operator}.go", "", "a fake of its API, and its row of natives in native.go"},
		{"test/conformance/suite/fixtures.go", `{"{operator}", `, "an environment of it, and a payer"},
		{"test/conformance/rules/raw_{operator}.go", "", "the rules of its payload"},
		{"server/assets/console.css", ".op.{operator}::before", "the color beside its name: --{operator} for light and dark, and .op.{operator}"},
	}
	partsOfAPIs = []part{
		{"hack/fuzz-targets.txt", "./server/operators/{operator} FuzzRequest money\n", "FuzzRequest, which calls operatorapitest.CallAll"},
		{"server/httpapi/testdata/native/{operator}/*.http", "", "recorded exchanges"},
		{"server/httpapi/native_operators_test.go", "payments.{operator}:", "what the tests of all need of it, in ofOperators"},
		{"docs/{operator}.md", "# ", "a page with commands from the credentials to the callback"},
	}
)

// Every operator has all of its parts. What is missing is named here before a test of it fails.
func TestOperatorsHaveAllParts(t *testing.T) {
	for _, name := range payments.Operators {
		parts := partsOfAll
		if operators.NativeAPI(name) != nil {
			parts = append(parts, partsOfAPIs...)
		}
		for _, missing := range missingOf(t, name, parts) {
			t.Error(missing)
		}
		if operators.NewClient(name, adapter.Access{}) == nil {
			t.Errorf("%s: add its row to the table in server/operators/operators.go", name)
		}
		for _, country := range payments.Countries {
			if name.In(country) != (len(operators.TestNumbersOf(name, country)) > 0) {
				t.Errorf("%s: testBlocks in server/operators/test_numbers.go has to have a block for each of its countries and no other: see %s",
					name, country)
			}
		}
	}
	if missing := missingOf(t, "nosuch", append(partsOfAll, partsOfAPIs...)); len(missing) != len(partsOfAll)+len(partsOfAPIs) {
		t.Errorf("of an operator that has no part, these are said to be missing: %q", missing)
	}
}

// missingOf says which parts an operator does not have, and where to add them.
func missingOf(t *testing.T, name payments.Operator, parts []part) (missing []string) {
	t.Helper()
	of := strings.NewReplacer("{operator}", string(name))
	for _, p := range parts {
		files, err := filepath.Glob(filepath.Join(root, of.Replace(p.file)))
		if err != nil {
			t.Fatal(err)
		}
		has := func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.Contains(strings.ToLower(string(text)), strings.ToLower(of.Replace(p.text)))
		}
		if !slices.ContainsFunc(files, has) {
			missing = append(missing, string(name)+": add to "+of.Replace(p.file)+": "+of.Replace(p.add))
		}
	}
	return missing
}

// naming are the folders and files that may name an operator: the operators' own, the tables of them, tests, and examples.
var naming = []string{
	"server/operators/", "server/payments/market.go", "server/payments/zz_markets.go", "server/stories/catalog.go", "server/faults/presets.go", // the name of a story, and a fault of one operator
	"test/", "examples/", "server/ledgertest/",
	"server/httpapi/apidoc/", "hack/postman/", // the examples of the description
}

// Code outside of the operators' folders and the tables names no operator: what is added there is everywhere.
func TestOperatorsAreNamedByTheirFoldersOnly(t *testing.T) {
	names := payments.Texts(payments.Operators)
	word := regexp.MustCompile(`(?i)\b(` + strings.Join(names, "|") + `)\b`)
	listing := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "*.go")
	listing.Dir = root
	out, err := listing.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(out)) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "hack/localcluster/") ||
			slices.ContainsFunc(naming, func(prefix string) bool { return strings.HasPrefix(file, prefix) }) {
			continue
		}
		for _, found := range named(t, file, read(t, file), word) {
			t.Errorf("%s names an operator: %s", file, found)
		}
	}
	for _, source := range []string{
		`var x = payments.` + "MTN", `var x = "send mtn"`, `type x struct { A string ` + "`" + `doc:"as mtn has it"` + "`" + ` }`,
	} {
		if len(named(t, "x.go", "package x\n"+source, word)) == 0 {
			t.Errorf("nothing is said of: %s", source)
		}
	}
}

// generated are the parts of tags that hack/markets writes, and examples.
var generated = regexp.MustCompile(`enum:"[a-z,]+"|example:"[a-z]+"`)

// named are the names and texts of a file in which an operator is named. Comments may.
func named(t *testing.T, file, source string, word *regexp.Regexp) (found []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return !word.MatchString(n.Path.Value)
		case *ast.SelectorExpr:
			if word.MatchString(n.Sel.Name) {
				found = append(found, n.Sel.Name)
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && word.MatchString(generated.ReplaceAllString(n.Value, "")) {
				found = append(found, n.Value)
			}
		}
		return true
	})
	return found
}
