package examples

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// snippet is a fenced block of a document, with the marks before it.
type snippet struct {
	document string
	line     int
	language string
	body     string
	marks    map[string]string
}

func (s snippet) String() string { return fmt.Sprintf("%s:%d", s.document, s.line) }

// why is the reason why this test does not run the block, empty if it does.
func (s snippet) why() string {
	if by := s.marks["run by"]; by != "" {
		return "run by " + by
	}
	return s.marks["not run"]
}

// mark is an HTML comment on the line before a block, or before another mark:
//
//	<!-- not run: why -->      the block is only parsed, because it needs what is not here
//	<!-- run by: folder -->    a test of that folder runs it
//	<!-- given: command -->    is run before it, for what the text of the document tells the reader to have
//	<!-- prints: regexp -->    is in its output; the block is run again until it is
//	<!-- file: name -->        the document says that the block is in this file
var mark = regexp.MustCompile(`^\s*<!-- (not run|run by|given|prints|file): (.*) -->\s*$`)

// snippets are the fenced blocks of a document in their order.
func snippets(t *testing.T, document string) (found []snippet) {
	t.Helper()
	source := []byte(read(t, document))
	err := ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		fenced, is := n.(*ast.FencedCodeBlock)
		if !is || !entering || fenced.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		start := fenced.Lines().At(0).Start
		s := snippet{document: document, line: strings.Count(string(source[:start]), "\n"), language: string(fenced.Language(source)),
			body: string(fenced.Lines().Value(source)), marks: map[string]string{}}
		for before := n.PreviousSibling(); before != nil && before.Kind() == ast.KindHTMLBlock; before = before.PreviousSibling() {
			comment := string(before.Lines().Value(source))
			parts := mark.FindStringSubmatch(comment)
			if parts == nil {
				t.Errorf("%s: no such mark: %s", s, comment)
				continue
			}
			s.marks[parts[1]] = parts[2]
		}
		found = append(found, s)
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// documents are those whose snippets are run.
func documents(t *testing.T) (found []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*.md"} {
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

const notRun = "testdata/not-run.txt"

// TestNotRun lists the snippets that are not run, so that no more of them come unnoticed. With CAURI_UPDATE=1 it writes the list.
func TestNotRun(t *testing.T) {
	counts := map[string]int{}
	for _, document := range documents(t) {
		for _, s := range snippets(t, document) {
			if why := s.why(); why != "" {
				counts[fmt.Sprintf("%-28s %s", document, why)]++
			}
			if folder := s.marks["run by"]; folder != "" && !namedIn(t, folder, filepath.Base(document)) {
				t.Errorf("%s: no test of %s names the document", s, folder)
			}
		}
	}
	var list strings.Builder
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&list, "%2d %s\n", counts[line], line)
	}
	if os.Getenv("CAURI_UPDATE") != "" {
		write(t, ".", notRun, list.String())
	}
	if want := read(t, "test/examples/"+notRun); want != list.String() {
		t.Errorf("test/examples/%s lists other snippets that are not run: run this test with CAURI_UPDATE=1 and read the difference. Now\n%s",
			notRun, &list)
	}
}

// namedIn reports whether a test of a folder reads a document.
func namedIn(t *testing.T, folder, document string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		code, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(code), document)
	})
}
