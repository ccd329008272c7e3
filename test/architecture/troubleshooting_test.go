package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

const troubleshooting = "docs/troubleshooting.md"

// sectionName is a heading of the page that is the name of a reason.
var sectionName = regexp.MustCompile(`^[A-Z][A-Za-z]*$`)

// Every reason that the controllers give to a condition or an event has a section that says what to do, and no section is of one
// that they do not give any more.
func TestEveryReasonIsExplained(t *testing.T) {
	given := map[string]bool{}
	maps.Copy(given, constants(t, "api/v1alpha1", "Reason"))
	maps.Copy(given, constants(t, "controllers", "event"))
	if len(given) < 20 {
		t.Fatalf("only %d reasons were found: are they written in another way by now?", len(given))
	}
	explained := map[string]bool{}
	for _, line := range prose(read(t, troubleshooting)) {
		if name, ok := strings.CutPrefix(line, "### "); ok && sectionName.MatchString(name) {
			explained[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !explained[name] {
			t.Errorf("%s has no section for the reason: write one, ### %s", troubleshooting, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(explained)) {
		if !given[name] {
			t.Errorf("%s explains %s, which is no reason (any more)", troubleshooting, name)
		}
	}
}

// The page names every type of condition.
func TestEveryConditionIsExplained(t *testing.T) {
	page := read(t, troubleshooting)
	for name := range constants(t, "api/v1alpha1", "Condition") {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("%s does not mention the condition %s", troubleshooting, name)
		}
	}
}

// Each code of a cause has a row in the page for programs, which `make generate` writes.
func TestEveryCauseIsDocumented(t *testing.T) {
	page := read(t, "docs/agents.md")
	causes := append(advice.Causes(), grade.Causes()...)
	for i := range causes {
		if !strings.Contains(page, "\n| `"+string(causes[i].Code)+"` |") {
			t.Errorf("docs/agents.md has no row for %s: run `make generate`", causes[i].Code)
		}
	}
	if len(causes) < 100 {
		t.Errorf("found only %d causes", len(causes))
	}
}

// fileEndings are those of names of files, which look like codes.
var fileEndings = []string{".go", ".json", ".log", ".md", ".sql", ".templ", ".txt", ".yaml"}

// A code of a cause that stands in the code has a row in the table, and no other package than server/advice puts one together: nothing is
// diagnosed twice.
func TestCausesComeFromOneTable(t *testing.T) {
	known, prefixes := map[string]bool{}, map[string]bool{}
	for _, a := range append(advice.Causes(), grade.Causes()...) {
		prefix, _, _ := strings.Cut(string(a.Code), ".")
		known[string(a.Code)], prefixes[prefix] = true, true
	}
	for _, event := range wire.EventNames {
		known[event] = true
	}
	code := regexp.MustCompile(`^([a-z]+)\.([a-z][a-z_]*)?$`)
	for _, folder := range []string{"cmd", "server", "controllers"} {
		for name, file := range parse(t, folder) {
			ast.Inspect(file, func(node ast.Node) bool {
				literal, ok := node.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING || strings.HasPrefix(name, "server/advice/") || name == "server/grade/codes.go" {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				found := code.FindStringSubmatch(text)
				if err == nil && found != nil && prefixes[found[1]] && !known[text] && !slices.Contains(fileEndings, filepath.Ext(text)) {
					t.Errorf("%s: %q is no cause of server/advice", name, text)
				}
				return true
			})
		}
	}
}

// Reasons are constants, so that the tests above find all of them.
func TestReasonsAreConstants(t *testing.T) {
	calls := 0
	for name, file := range parse(t, "controllers") {
		ast.Inspect(file, func(node ast.Node) bool {
			var reason ast.Expr
			switch n := node.(type) {
			case *ast.CallExpr:
				if called, ok := n.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Eventf" && len(n.Args) > 3 {
					reason = n.Args[3]
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "reason") {
					reason = n.Value
				}
			}
			if reason == nil {
				return true
			}
			calls++
			if literal, ok := reason.(*ast.BasicLit); ok {
				t.Errorf("%s: the reason %s is no constant", name, literal.Value)
			}
			return true
		})
	}
	if calls < 10 {
		t.Errorf("only %d reasons were found: are they given in another way by now?", calls)
	}
}

// constants are the values of a package's string constants whose names begin with a prefix and go on with a capital.
func constants(t *testing.T, folder, prefix string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, file := range parse(t, folder) {
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				rest, ok := strings.CutPrefix(name.Name, prefix)
				if !ok || rest == "" || rest[0] < 'A' || rest[0] > 'Z' || i >= len(spec.Values) {
					continue
				}
				if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					value, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					found[value] = true
				}
			}
			return true
		})
	}
	return found
}

// parse reads the Go files of a folder, and of those in it, that are no tests.
func parse(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := filepath.WalkDir(root+folder, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		files[strings.TrimPrefix(filepath.ToSlash(name), root)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
