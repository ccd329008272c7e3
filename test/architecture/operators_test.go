package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

// naming are the folders and files that may name an operator: the operators' own, the tables of them, tests, and examples.
var naming = []string{
	"server/operators/", "server/payments/market.go",
	"test/", "examples/", "server/ledger/ledgertest/",
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
