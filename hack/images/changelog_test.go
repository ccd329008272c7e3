package main

import (
	"os"
	"strings"
	"testing"
)

func TestChangelogOfThisProject(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../" + changelogPath)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readChangelog(string(text)); err != nil {
		t.Error(err)
	}
}

const goodChangelog = "# Changelog\n\nAll of it.\n\n## Unreleased\n\n## 0.10.0 - 2026-11-21\n\n### Added\n\n- A thing.\n\n### Fixed\n\n- A bug.\n\n" +
	"## [0.9.1] - 2026-11-20\n\n### Security\n\n- A hole.\n"

func TestReadChangelog(t *testing.T) {
	t.Parallel()
	versions, err := readChangelog(goodChangelog)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := notesOf(versions, "0.10.0")
	if want := "### Added\n\n- A thing.\n\n### Fixed\n\n- A bug."; err != nil || notes != want {
		t.Errorf("notes %q, %v; want %q", notes, err, want)
	}
	if notes, err = notesOf(versions, "0.9.1"); err != nil || notes != "### Security\n\n- A hole." {
		t.Errorf("notes %q, %v", notes, err)
	}
	for _, missing := range []string{"1.0.0", unreleased} {
		if _, err := notesOf(versions, missing); err == nil || !strings.Contains(err.Error(), "docs/changelog.md says nothing of "+missing) {
			t.Errorf("notes of %s: %v", missing, err)
		}
	}
}

func TestReadChangelogFindsMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"no title":            {"# Changelog", "Changes", ":1: the first line"},
		"no Unreleased":       {"## Unreleased\n\n", "", "the first heading is `## Unreleased`"},
		"dated Unreleased":    {"## Unreleased", "## Unreleased - 2026-11-22", "the first heading is `## Unreleased`"},
		"no date":             {" - 2026-11-20", "", "0.9.1 has no date"},
		"a date of no kind":   {"2026-11-20", "20.11.2026", "0.9.1 has no date"},
		"a v":                 {"## 0.10.0", "## v0.10.0", `"v0.10.0" is no version`},
		"two numbers":         {"## 0.10.0", "## 0.10", `"0.10" is no version`},
		"ascending":           {"0.9.1", "0.10.1", "0.10.1 stands below 0.10.0"},
		"twice":               {"0.9.1", "0.10.0", "0.10.0 stands below 0.10.0"},
		"older than the next": {"2026-11-20", "2026-11-22", "0.9.1 of 2026-11-22 is newer"},
		"another kind":        {"### Fixed", "### Bugs", `"Bugs": the kinds of changes are Added`},
		"words in a heading":  {"## 0.10.0 - 2026-11-21", "## Version 0.10.0", "write `## Unreleased` or"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := readChangelog(strings.Replace(goodChangelog, c.from, c.to, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := readChangelog("# Changelog\n"); err == nil {
		t.Error("a changelog without versions is taken")
	}
}
