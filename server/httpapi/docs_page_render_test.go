package httpapi

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "render the API's description anew")

// TestDocsPageIsRendered needs no database. With -update it writes what it would compare.
func TestDocsPageIsRendered(t *testing.T) {
	t.Parallel()
	pageTemplate, err := os.ReadFile("docs/page.html")
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := renderDocsPage(string(pageTemplate))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("docs/rendered.html", rendered, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(docsFile("rendered.html"), string(rendered)); diff != "" {
		t.Errorf("the page is not up to date: run `make generate`, or `go test ./server/httpapi -run TestDocsPageIsRendered -update`\n%s", diff)
	}
}
