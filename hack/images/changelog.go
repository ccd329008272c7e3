package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// changelogPath is the handwritten changelog, in the format of Keep a Changelog 1.1.0.
const changelogPath = "docs/changelog.md"

const unreleased = "Unreleased"

// changes are the changes of a version.
type changes struct {
	Version string // without the v, or "unreleased"
	Date    string // for example 2026-11-21; empty if unreleased
	Text    string
}

var (
	versionHeading = regexp.MustCompile(`^## \[?([^\]\s]+)\]?(?: - (\S+))?$`)
	changeKinds    = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
)

// readChangelog returns the changes of all versions in a changelog, newest first, or all errors of its format.
func readChangelog(text string) ([]changes, error) {
	var versions []changes
	var problems []error
	for n, line := range strings.Split(text, "\n") {
		at := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("%s:%d: %s", changelogPath, n+1, fmt.Sprintf(format, args...)))
		}
		switch kind, isKind := strings.CutPrefix(line, "### "); {
		case n == 0 && line != "# Changelog":
			at("the first line is `# Changelog`")
		case strings.HasPrefix(line, "## "):
			parts := versionHeading.FindStringSubmatch(line)
			if parts == nil {
				at("%q: write `## %s` or `## 1.2.3 - 2026-11-21`", line, unreleased)
				continue
			}
			versions = append(versions, changes{Version: parts[1], Date: parts[2]})
			if problem := followsWell(versions); problem != "" {
				at("%s", problem)
			}
			continue
		case isKind && !slices.Contains(changeKinds, kind):
			at("%q: the kinds of changes are %s", kind, strings.Join(changeKinds, ", "))
		}
		if len(versions) > 0 {
			versions[len(versions)-1].Text += line + "\n"
		}
	}
	if len(versions) == 0 {
		problems = append(problems, fmt.Errorf("%s: there is no `## %s`", changelogPath, unreleased))
	}
	for i := range versions {
		versions[i].Text = strings.TrimSpace(versions[i].Text)
	}
	return versions, errors.Join(problems...)
}

// followsWell checks the last version, also in comparison with the one before it. It returns a text about an error; ""
// for none.
func followsWell(versions []changes) string {
	last := versions[len(versions)-1]
	if len(versions) == 1 {
		if last.Version != unreleased || last.Date != "" {
			return fmt.Sprintf("the first heading is `## %s`, even if it is empty", unreleased)
		}
		return ""
	}
	if !semver.IsValid("v"+last.Version) || semver.Canonical("v"+last.Version) != "v"+last.Version {
		return fmt.Sprintf("%q is no version: write it as 1.2.3, without a v", last.Version)
	}
	if _, err := time.Parse(time.DateOnly, last.Date); err != nil {
		return fmt.Sprintf("%s has no date: write `## %s - 2026-11-21`", last.Version, last.Version)
	}
	before := versions[len(versions)-2]
	switch {
	case before.Version == unreleased:
	case semver.Compare("v"+before.Version, "v"+last.Version) <= 0:
		return fmt.Sprintf("%s stands below %s: the newest version comes first", last.Version, before.Version)
	case before.Date < last.Date:
		return fmt.Sprintf("%s of %s is newer than %s of %s", last.Version, last.Date, before.Version, before.Date)
	}
	return ""
}

// notesOf returns the release notes of a version.
func notesOf(versions []changes, version string) (string, error) {
	for _, v := range versions {
		if v.Version == version && v.Text != "" {
			return v.Text, nil
		}
	}
	return "", fmt.Errorf("%s says nothing of %s: move what stands under `## %s` to `## %s - <date>`, commit, and tag the commit",
		changelogPath, version, unreleased, version)
}
