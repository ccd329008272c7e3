package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPagesAreUpToDate(t *testing.T) {
	t.Chdir("../..")
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		files = append(files, filepath.Join(folder, name))
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want[name])); diff != "" {
			t.Errorf("%s is not up to date: run `make generate`, or `go run ./hack/apipage`\n%s", name, diff)
		}
	}
	if found, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || !slices.Equal(found, files) {
		t.Errorf("the folder has %q, want %q (%v)", found, files, err)
	}
}
