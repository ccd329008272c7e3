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
	files := slices.Sorted(maps.Keys(want))
	for _, name := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want[name])); diff != "" {
			t.Errorf("%s is not up to date: run `make generate`, or `go run ./hack/apipage`\n%s", name, diff)
		}
	}
	var found []string
	for _, each := range []string{postings + "/*", folder + "/api/*", folder + "/*.*"} {
		in, err := filepath.Glob(each)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, in...)
	}
	if slices.Sort(found); !slices.Equal(found, files) {
		t.Errorf("the folders have %q, want %q", found, files)
	}
}
