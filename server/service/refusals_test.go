package service

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is what this package and those that record its orders declare.
type source struct {
	errors map[string]string   // names of errors: the folder of their package
	rows   map[string]string   // name of the error of each row of [Refusals]: the name of its [Requests]
	names  map[string][]string // the names in the body of each function
}

func readSource(t *testing.T) source {
	t.Helper()
	s := source{errors: map[string]string{}, rows: map[string]string{}, names: map[string][]string{}}
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("../ledger/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, below...) {
		folder := strings.Split(filepath.ToSlash(name), "/")[1]
		if strings.HasSuffix(name, "_test.go") || !slices.Contains([]string{"service", "ledger", "payments"}, folder) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				s.names[d.Name.Name] = append(s.names[d.Name.Name], namesIn(d.Body)...)
			case *ast.GenDecl:
				s.declare(d, folder)
			}
		}
	}
	return s
}

// namesIn returns the names in a piece of source.
func namesIn(n ast.Node) (names []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			names = append(names, name.Name)
		}
		return true
	})
	return names
}

// declare adds the errors of a declaration, or the rows.
func (s *source) declare(d *ast.GenDecl, folder string) {
	for _, spec := range d.Specs {
		var declared []*ast.Ident
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			declared = append(declared, spec.Name)
		case *ast.ValueSpec:
			if declared = spec.Names; declared[0].Name == "Refusals" {
				s.readRows(spec.Values[0].(*ast.CompositeLit))
			}
		}
		for _, name := range declared {
			if strings.HasPrefix(strings.ToLower(name.Name), "err") {
				s.errors[name.Name] = folder
			}
		}
	}
}

func (s *source) readRows(list *ast.CompositeLit) {
	for _, row := range list.Elts {
		arguments := row.(*ast.CallExpr).Args // the error, the code, the requests, whether a repetition is looked for
		names := namesIn(arguments[0])
		first := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "Err") })
		s.rows[names[first]] = arguments[2].(*ast.Ident).Name
	}
}

// notRefusals are the errors without a row, and why.
var notRefusals = map[string]string{
	"ErrFault":          "the fault has the status of the answer",
	"ErrUnfinished":     "it wraps the error of a request",
	"ErrMarketKnown":    "Collect decides again",
	"ErrReferenceTaken": "the requests are compared",
	"ErrOrderEnded":     "only a page of an operator has such an order",
	"ErrNotFound":       "who asks knows what is missing",
}

// An error without a row is `internal` in all APIs, and its request is not compared with an earlier one.
func TestEachErrorHasARow(t *testing.T) {
	t.Parallel()
	s := readSource(t)
	if len(s.rows) != len(Refusals) {
		t.Fatalf("Refusals has %d rows, with %d errors: %v", len(Refusals), len(s.rows), s.rows)
	}
	for name, folder := range s.errors {
		if folder == "service" && s.rows[name] == "" && notRefusals[name] == "" {
			t.Errorf("%s has no row in Refusals", name)
		}
	}
}

// The errors of all that records an order have rows too, and no row says that only /v1 answers them.
func TestRefusalsOfOrdersAreForEachAPI(t *testing.T) {
	t.Parallel()
	s := readSource(t)
	seen := map[string]bool{}
	for next := []string{"Collect", "Disburse", "Refund"}; len(next) > 0; next = next[1:] {
		name := next[0]
		if seen[name] {
			continue
		}
		seen[name] = true
		next = append(next, s.names[name]...)
		if s.rows[name] == "OnlyV1" || s.errors[name] != "" && s.rows[name] == "" && notRefusals[name] == "" {
			t.Errorf("%s refuses an order: its row in Refusals has to say AnyRequest or Orders", name)
		}
	}
	if !seen["ErrNoParent"] || !seen["ErrQuotaExceeded"] {
		t.Errorf("what records an order was not found: %v", seen)
	}
}
