package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPageIsUpToDate(t *testing.T) {
	t.Chdir("../..")
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(renderedFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("the page is not up to date: run `make generate`, or `go run ./hack/apipage`\n%s", diff)
	}
}
