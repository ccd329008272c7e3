package architecture

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

// docs/architecture.md has a row for each package, in which the packages beside and below it may be named too.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	rows := map[string]string{} // by the first folder that they name
	_, table, _ := strings.Cut(read(t, "docs/architecture.md"), "\n## Where things are\n")
	for line := range strings.SplitSeq(table, "\n") {
		if after, isRow := strings.CutPrefix(line, "| `"); isRow {
			folder, rest, _ := strings.Cut(after, "`")
			rows[folder] = rest
			if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
				t.Errorf("docs/architecture.md: there is no folder %s", folder)
			}
		}
	}
	for _, folder := range packages(t) {
		_, named := rows[folder]
		named = named || strings.HasSuffix(folder, "test") || slices.Contains(payments.Operators, payments.Operator(path.Base(folder)))
		for of, row := range rows {
			near := of == path.Dir(folder) || path.Dir(of) == path.Dir(folder)
			named = named || near && strings.Contains(row, "`"+path.Base(folder)+"`")
		}
		if !named {
			t.Errorf("docs/architecture.md does not say what is in %s", folder)
		}
	}
}

// packages returns the folders of the product that have Go code.
func packages(t *testing.T) (folders []string) {
	t.Helper()
	for _, top := range []string{"api", "controllers", "server", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() && entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			folder, err := filepath.Rel(root, filepath.Dir(name))
			if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(folders) < 50 {
		t.Fatalf("found only %d packages", len(folders))
	}
	return folders
}

// A word of the glossary has one meaning.
func TestGlossaryDefinesEachTermOnce(t *testing.T) {
	defined := map[string]bool{"term": true}
	for line := range strings.SplitSeq(read(t, "docs/glossary.md"), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		term := strings.TrimSpace(cells[1])
		if term != "term" && defined[term] {
			t.Errorf("docs/glossary.md defines %q twice", term)
		}
		defined[term] = term != "---"
	}
}
