package examples

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/test/snippets"
)

const notRun = "testdata/not-run.txt"

// TestNotRun lists the snippets that are not run, so that no more of them come unnoticed. With CAURI_UPDATE=1 it writes the list.
func TestNotRun(t *testing.T) {
	counts := map[string]int{}
	for _, document := range snippets.Documents(t, root) {
		for _, s := range snippets.Of(t, root, document) {
			if why := s.NotRun(); why != "" {
				counts[fmt.Sprintf("%-28s %s", document, why)]++
			}
			if folder := s.RunBy(); folder != "" && !namedIn(t, folder, filepath.Base(document)) {
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

// namedIn reports whether a test of a folder reads a document, or all of them.
func namedIn(t *testing.T, folder, document string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		code, err := os.ReadFile(file)
		return err == nil && (strings.Contains(string(code), document) || strings.Contains(string(code), "snippets.Documents("))
	})
}
