package architecture

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

const root = "../../"

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan     = regexp.MustCompile("`[^`]*`")
	headingLine  = regexp.MustCompile(`^#{1,6} (.*)$`)
	linkText     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// A relative link, and the heading that it names, are there.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	pages := documents(t)
	checked := 0
	for _, page := range pages {
		for _, target := range links(read(t, page)) {
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			checked++
			if problem := follow(t, page, target); problem != "" {
				t.Errorf("%s: [...](%s): %s", page, target, problem)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d links were found in %d pages: are they written in another way by now?", checked, len(pages))
	}
}

// documents are the pages for people and agents: those at the top, what is below docs/, the charts' own, and those that GitHub shows.
func documents(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md", "AGENTS.md", "llms.txt"}
	for _, folder := range []string{"docs", "charts", ".github", "skills"} {
		err := filepath.WalkDir(root+folder, func(file string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(file, ".md") {
				pages = append(pages, strings.TrimPrefix(filepath.ToSlash(file), root))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

// follow says why a link leads nowhere; nothing for one that leads somewhere.
func follow(t *testing.T, page, target string) string {
	t.Helper()
	to, fragment, _ := strings.Cut(target, "#")
	file := page
	if to != "" {
		name, err := url.PathUnescape(to)
		if err != nil {
			return err.Error()
		}
		file = path.Join(path.Dir(page), name)
	}
	if strings.HasPrefix(file, "../") {
		return "leads out of the repository"
	}
	if _, err := os.Stat(root + file); err != nil {
		return "there is no " + file
	}
	if fragment == "" {
		return ""
	}
	if !strings.HasSuffix(file, ".md") {
		return "only a page has headings"
	}
	if !anchors(read(t, file))[fragment] {
		return fmt.Sprintf("%s has no heading for #%s", file, fragment)
	}
	return ""
}

// links are the targets of a page's links, without those of what is quoted as code.
func links(text string) (targets []string) {
	for _, line := range prose(text) {
		for _, found := range markdownLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			targets = append(targets, found[1])
		}
	}
	return targets
}

// anchors are the fragments by which a page's headings are reached, as GitHub makes them.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, heading := range headings(text) {
		base := anchor(heading)
		name := base
		for n := 1; found[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		found[name] = true
	}
	return found
}

func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, heading)
}

// headings are the texts of a page's headings, of any level.
func headings(text string) (found []string) {
	for _, line := range prose(text) {
		if heading := headingLine.FindStringSubmatch(line); heading != nil {
			plain := linkText.ReplaceAllString(heading[1], "$1")
			found = append(found, strings.TrimSpace(strings.ReplaceAll(plain, "`", "")))
		}
	}
	return found
}

// prose are the lines of a page that stand in no fenced block.
func prose(text string) (lines []string) {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			lines = append(lines, line)
		}
	}
	return lines
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(root + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
