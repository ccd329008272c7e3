package advice_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/advice"
)

// Each code of the package is in the table once, with a sentence and what to do. Programs compare codes, so they stay.
func TestTableHasEachCause(t *testing.T) {
	t.Parallel()
	known := map[advice.Code]int{}
	for _, a := range advice.Causes() {
		known[a.Code]++
		what, do := a.Sentences()
		if a.Title.String() == "" || len(what) < 10 || do == "" && a.Code != advice.SignatureVerifies || strings.Contains(what+do, "%!") {
			t.Errorf("%s: %q, %q, %q", a.Code, a.Title, what, do)
		}
		if known[a.Code] > 1 {
			t.Errorf("%s is in the table twice", a.Code)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, is := spec.Type.(*ast.Ident); is && of.Name == "Code" && len(spec.Values) == 1 {
				code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if found++; err != nil || known[advice.Code(code)] == 0 {
					t.Errorf("%s: the table has no %s", name, code)
				}
			}
			return true
		})
	}
	if found < 50 {
		t.Errorf("only %d codes were found", found)
	}
}
