package architecture

import (
	"regexp"
	"strings"
	"testing"
)

// testName is the name of a test function in a document.
var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")

// What docs/security.md says is held by tests that there are, and no line of its table stands without one.
func TestWhatSecurityPromisesIsHeldByTests(t *testing.T) {
	there := map[string]bool{}
	for _, word := range []string{"Test", "Fuzz"} {
		for _, names := range testFunctions(t, word) {
			for _, name := range names {
				there[name] = true
			}
		}
	}
	page := read(t, "docs/security.md")
	for _, name := range testName.FindAllStringSubmatch(page, -1) {
		if !there[name[1]] {
			t.Errorf("docs/security.md: there is no test %s", name[1])
		}
	}
	_, rest, found := strings.Cut(page, "\n## Who may do what\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	if !found {
		t.Fatal("docs/security.md has no section: Who may do what")
	}
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 5 || strings.Contains(line, "---") || strings.Contains(line, "| tests |") {
			continue
		}
		rows++
		if !testName.MatchString(cells[len(cells)-2]) {
			t.Errorf("docs/security.md: no test holds this: %s", line)
		}
	}
	if rows < 10 {
		t.Errorf("docs/security.md: only %d lines of the table were found", rows)
	}
}
