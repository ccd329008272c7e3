package locale

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/english"
)

const (
	root   = "../../../"
	module = "github.com/cauri-dev/cauri/"
)

// speaking are the packages whose texts the console shows.
var speaking = []string{
	"server/advice", "server/console", "server/console/locale", "server/expectations", "server/faults", "server/grade", "server/httpfront",
	"server/operators", "server/payments", "server/requests", "server/service", "server/stories",
	"server/webhooks",
}

// source has the texts of the packages in speaking.
type source struct {
	texts   map[english.Text]string // texts, with their files
	singles map[english.Text]bool   // texts about one thing
	plain   map[string]string       // sentences of the console that are no [english.Text], with their places
	made    []string                // files that convert a value that is not constant to a text
}

// readSource reads the packages in speaking.
func readSource(t *testing.T) *source {
	t.Helper()
	exports := exportsOf(t)
	s := &source{map[english.Text]string{}, map[english.Text]bool{}, map[string]string{}, nil}
	for _, name := range speaking {
		fset := token.NewFileSet()
		open := func(imported string) (io.ReadCloser, error) { return os.Open(exports[imported].Export) }
		var files []*ast.File
		for _, file := range exports[module+name].GoFiles {
			parsed, err := parser.ParseFile(fset, path.Join(root, name, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, parsed)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		config := types.Config{Importer: importer.ForCompiler(fset, "gc", open)}
		if _, err := config.Check(module+name, fset, files, info); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				return s.read(n, info, strings.TrimPrefix(fset.Position(file.Pos()).Filename, root), name == "server/console")
			})
		}
	}
	if len(s.texts) < 500 {
		t.Fatalf("only %d texts are found", len(s.texts))
	}
	return s
}

type exported struct {
	ImportPath, Export string
	GoFiles            []string
}

// exportsOf builds the packages, and returns the files with the compiler's export data.
func exportsOf(t *testing.T) map[string]exported {
	t.Helper()
	arguments := []string{"list", "-export", "-deps", "-json=ImportPath,Export,GoFiles"}
	for _, name := range speaking {
		arguments = append(arguments, "./"+name)
	}
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string]exported{}
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p exported
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// sentence matches a text that begins with two English words.
var sentence = regexp.MustCompile(`^[A-Za-z][a-z']+,? [a-z]{2,}`)

// read adds the texts of a node. It returns false if the nodes inside must not be read.
func (s *source) read(n ast.Node, info *types.Info, file string, ofConsole bool) bool {
	isText := func(t types.Type) bool { return t != nil && t.String() == module+"server/english.Text" }
	if call, ok := n.(*ast.CallExpr); ok {
		name := ""
		if f, ok := call.Fun.(*ast.SelectorExpr); ok {
			name = f.Sel.Name
		}
		switch {
		case name == "Count" && len(call.Args) > 2 && isText(info.Types[call.Args[1]].Type):
			s.singles[english.Text(constant.StringVal(info.Types[call.Args[1]].Value))] = true
		case ofConsole && info.Types[call.Fun].IsType() && isText(info.Types[call.Fun].Type) && info.Types[call].Value == nil:
			s.made = append(s.made, file)
		case len(call.Args) == 1 && isText(info.Types[call.Args[0]].Type): // converts a text to a string
			return true
		case name == "New" || name == "WriteString": // errors for a log, or markup, which another test checks
			return false
		}
	}
	e, ok := n.(ast.Expr)
	if !ok || info.Types[e].Value == nil || info.Types[e].Value.Kind() != constant.String {
		return true
	}
	text := constant.StringVal(info.Types[e].Value)
	switch {
	case isText(info.Types[e].Type):
		if strings.ContainsFunc(verb.ReplaceAllString(text, ""), func(r rune) bool { return r >= 'A' || r == ':' }) {
			s.texts[english.Text(text)] = file
		}
	case ofConsole && sentence.MatchString(text):
		s.plain[text] = file
	}
	return false
}

// verb matches a verb of package fmt.
var verb = regexp.MustCompile(`%(\[(\d)\])?[0-9]*([sd%])`)

// arguments returns the verbs of a text in the order of their arguments.
func arguments(text english.Text) string {
	byNumber := map[int]string{}
	for _, found := range verb.FindAllStringSubmatch(string(text), -1) {
		number := len(byNumber) + 1
		if found[2] != "" {
			number = int(found[2][0] - '0')
		}
		if found[3] != "%" {
			byNumber[number] = found[3]
		}
	}
	all := ""
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		all += fmt.Sprint(number) + byNumber[number] + " "
	}
	return all
}
