// Package snippets reads the commands, resources and programs that the documents show, and runs their commands as a reader does. The tests
// of test/examples run those for `cauri dev`, those of test/cluster the ones for a cluster.
package snippets

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Snippet is a fenced block of a document, with the marks before it.
type Snippet struct {
	Document string // its path in the work tree
	Line     int
	Language string
	Body     string
	Marks    map[string]string
}

func (s Snippet) String() string { return fmt.Sprintf("%s:%d", s.Document, s.Line) }

// RunBy is the folder of the tests that run the block, empty for test/examples.
func (s Snippet) RunBy() string { return s.Marks["run by"] }

// NotRun is why test/examples does not run the block, empty if it does.
func (s Snippet) NotRun() string {
	if by := s.RunBy(); by != "" {
		return "run by " + by
	}
	return s.Marks["not run"]
}

// mark is an HTML comment on the line before a block, or before another mark:
//
//	<!-- not run: why -->      the block is only parsed, because it needs what is not here
//	<!-- run by: folder -->    a test of that folder runs it
//	<!-- given: command -->    is run before it, for what the text of the document tells the reader to have
//	<!-- prints: regexp -->    is in its output; the block is run again until it is
//	<!-- file: name -->        the document says that the block is in this file
var mark = regexp.MustCompile(`^\s*<!-- (not run|run by|given|prints|file): (.*) -->\s*$`)

// Of are the fenced blocks of a document in their order.
func Of(t *testing.T, root, document string) (found []Snippet) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	err = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		fenced, is := n.(*ast.FencedCodeBlock)
		if !is || !entering || fenced.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		start := fenced.Lines().At(0).Start
		s := Snippet{Document: document, Line: strings.Count(string(source[:start]), "\n"), Language: string(fenced.Language(source)),
			Body: string(fenced.Lines().Value(source)), Marks: map[string]string{}}
		for before := n.PreviousSibling(); before != nil && before.Kind() == ast.KindHTMLBlock; before = before.PreviousSibling() {
			comment := string(before.Lines().Value(source))
			parts := mark.FindStringSubmatch(comment)
			if parts == nil {
				t.Errorf("%s: no such mark: %s", s, comment)
				continue
			}
			s.Marks[parts[1]] = parts[2]
		}
		found = append(found, s)
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Documents are those whose snippets are run.
func Documents(t *testing.T, root string) (found []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/fr/*.md", "examples/*.md", ".github/*.md", "charts/*/*.md", "skills/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("there is no %s, %v", pattern, err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, filepath.ToSlash(name))
		}
	}
	return found
}
