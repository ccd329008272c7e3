package manual_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/manual"
)

// pages are all pages that the README links to, and those that they link to.
func pages(t *testing.T) map[string]*manual.Page {
	t.Helper()
	found := map[string]*manual.Page{"README": manual.Named("README")}
	for _, s := range manual.Sections() {
		for _, r := range s.Rows {
			found[r.Page.Name] = r.Page
		}
	}
	for before := 0; before < len(found); {
		before = len(found)
		for name, p := range found {
			for _, target := range linksOf(p) {
				other := path.Join(path.Dir(name), strings.TrimSuffix(target, ".md"))
				if linked := manual.Named(other); linked != nil && !strings.Contains(target, ":") {
					found[other] = linked
				}
			}
		}
	}
	return found
}

var (
	fence    = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```$")
	markdown = regexp.MustCompile(`\]\(([^)\s#]+)(#[^)\s]*)?\)`)
)

func linksOf(p *manual.Page) (targets []string) {
	for _, found := range markdown.FindAllSubmatch(fence.ReplaceAll(p.Text, nil), -1) {
		targets = append(targets, string(found[1]))
	}
	return targets
}

// A link leads to a page that is served beside this one, or to a file of the repository.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	if len(all) < 80 {
		t.Errorf("there are only %d pages", len(all))
	}
	for name, p := range all {
		for _, target := range linksOf(p) {
			file, inRepository := strings.CutPrefix(target, "https://github.com/cauri-dev/cauri/blob/main/")
			switch {
			case inRepository:
				if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
					t.Errorf("%s links to %s: %v", name, target, err)
				}
			case strings.Contains(target, ":"):
			case manual.Named(path.Join(path.Dir(name), strings.TrimSuffix(target, ".md"))) == nil || !strings.HasSuffix(target, ".md"):
				t.Errorf("%s links to %s, which is not served", name, target)
			}
		}
	}
}

func TestPagesOfContributorsAreNotServed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"architecture", "where", "development", "releasing", "glossary", "french", "performance", "performance-table", "adding-an-operator"} {
		if manual.Named(name) != nil {
			t.Errorf("%s is served", name)
		}
	}
	for name, p := range pages(t) {
		if bytes.Contains(p.Text, []byte("\n<!-- ")) || p.Title == "" || len(p.Sentence) < 10 {
			t.Errorf("%s: %q, %q; or it has comments", name, p.Title, p.Sentence)
		}
	}
}

func TestTextsForProgramsAreSmall(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"http://127.0.0.1:8080", "https://pay.sandboxes.platform.example.com/sandboxes/" + strings.Repeat("n", 63) + "/" + strings.Repeat("s", 63)} {
		at := func(file string) string { return base + "/docs/" + file }
		index, full := manual.Index(at), bytes.Join(manual.Full(at), nil)
		if len(index) > manual.MostOfIndex || len(full) > manual.MostOfFull || len(full) < manual.MostOfFull/2 {
			t.Errorf("llms.txt has %d bytes, llms-full.txt %d", len(index), len(full))
		}
		for _, want := range []string{"# Cauri\n\n> ", "\n- Start a sandbox with ", "](" + base + "/docs/webhooks.md): ", "\n## Optional\n"} {
			if !strings.Contains(index, want) {
				t.Errorf("llms.txt lacks %q:\n%s", want, index)
			}
		}
		for _, want := range []string{"# For programs and agents", "# Webhooks", "# Expectations"} {
			if !bytes.Contains(full, []byte(want)) {
				t.Errorf("llms-full.txt lacks %q", want)
			}
		}
	}
}

func TestIndexOfTheRepositoryIsUpToDate(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile("../../llms.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(manual.Index(func(file string) string { return "docs/" + file }), string(got)); diff != "" {
		t.Errorf("llms.txt is not up to date: run `make generate`, or `go run ./hack/llms` (-want +got):\n%s", diff)
	}
}
