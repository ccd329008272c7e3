// Package manual has the documents of users as programs read them: page by page, and as llms.txt. It reads the files of
// package docs, whose README says for whom each page is.
package manual

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cauri-dev/cauri/docs"
)

// repository has the files that are no pages.
const repository = "https://github.com/cauri-dev/cauri/blob/main/"

// Page is a document of users.
type Page struct {
	Name     string // path below docs, without .md
	Title    string
	Sentence string // its first one
	Text     []byte // as Markdown, without comments; answers share it
	alone    []byte // Text without links to other pages, which lead nowhere from a file with several pages
}

// Section is a part of the README: what a kind of reader does.
type Section struct {
	Title string
	Rows  []Row
}

// Row says on which page somebody reads how to do something.
type Row struct {
	Want string // what somebody wants; empty: the page's own section says it
	Page *Page
}

// read returns the pages by their names, and the sections of the README.
var read = sync.OnceValue(func() (m struct {
	pages    map[string]*Page
	sections []Section
},
) {
	m.pages = map[string]*Page{}
	_ = fs.WalkDir(docs.Files, ".", func(file string, _ fs.DirEntry, _ error) error { // embedded files are always there
		if text, err := fs.ReadFile(docs.Files, file); err == nil {
			p := newPage(strings.TrimSuffix(file, ".md"), string(text))
			m.pages[p.Name] = p
		}
		return nil
	})
	index, contributors, _ := strings.Cut(string(m.pages["README"].Text), "\n## I work on Cauri\n")
	for _, name := range linked(contributors) {
		delete(m.pages, name)
	}
	for name := range m.pages {
		if path.Dir(name) == "." && name != "README" && !slices.Contains(linked(index), name) {
			delete(m.pages, name)
		}
	}
	for part := range strings.SplitSeq(index, "\n## ") {
		title, rows, _ := strings.Cut(part, "\n")
		s := Section{Title: title}
		for line := range strings.SplitSeq(rows, "\n") {
			cells := strings.Split(line, "|")
			if len(cells) != 4 {
				continue
			}
			for i, name := range linked(cells[2]) {
				if p := m.pages[name]; p != nil && !slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Page == p }) {
					want := ""
					if i == 0 {
						want = plain(strings.TrimSpace(cells[1]))
					}
					s.Rows = append(s.Rows, Row{want, p})
				}
			}
		}
		if len(s.Rows) > 0 {
			m.sections = append(m.sections, s)
		}
	}
	for _, p := range m.pages {
		p.Text = []byte(rewritten(p, func(name string) bool { return m.pages[name] != nil }))
		p.alone = unlinked(p.Text)
	}
	return m
})

// Named returns the page of this name; nil for none, and for a page of those who work on Cauri.
func Named(name string) *Page { return read().pages[name] }

// Sections returns the sections of the README, without the one of those who work on Cauri.
func Sections() []Section { return slices.Clone(read().sections) }

var (
	comment  = regexp.MustCompile(`(?m)^\s*<!--.*-->\s*\n`)
	pageLink = regexp.MustCompile(`\]\(([a-z/-]+|reference/README)\.md[)#]`)
	link     = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
)

// linked returns the names of the pages to which a text of the README links.
func linked(text string) (names []string) {
	for _, found := range pageLink.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

func newPage(name, text string) *Page {
	text = strings.TrimSpace(comment.ReplaceAllString(text, "")) + "\n"
	p := &Page{Name: name, Text: []byte(text)}
	title, rest, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	p.Title = plain(title)
	for paragraph := range strings.SplitSeq(rest, "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" && !notProse.MatchString(paragraph) {
			p.Sentence = firstSentence(plain(strings.Join(strings.Fields(paragraph), " ")))
			break
		}
	}
	return p
}

// plain returns a text without its links.
func plain(text string) string { return link.ReplaceAllString(text, "$1") }

var (
	end      = regexp.MustCompile(`[.?!] `)
	notProse = regexp.MustCompile("^(#|```|\\||- )")
)

// longest is the maximum length of a sentence in a list.
const longest = 120

// firstSentence returns the first sentence of a paragraph. Of a long one it returns what is before its colon.
func firstSentence(paragraph string) string {
	if at := end.FindStringIndex(paragraph); at != nil {
		paragraph = paragraph[:at[0]+1]
	}
	if before, _, cut := strings.Cut(paragraph, ": "); cut && len(paragraph) > longest {
		return strings.TrimSpace(before) + "."
	}
	return paragraph
}

// rewritten returns the text of a page whose links to other files than pages lead to the repository. It leaves code alone.
func rewritten(p *Page, isPage func(string) bool) string {
	return outsideOfCode(string(p.Text), func(line string) string {
		return link.ReplaceAllStringFunc(line, func(found string) string {
			parts := link.FindStringSubmatch(found)
			target, anchor, _ := strings.Cut(parts[2], "#")
			file := path.Join("docs", path.Dir(p.Name), target)
			name, isDocument := strings.CutSuffix(strings.TrimPrefix(file, "docs/"), ".md")
			if target == "" || strings.Contains(target, ":") || isDocument && strings.HasPrefix(file, "docs/") && isPage(name) {
				return found
			}
			if anchor != "" {
				file += "#" + anchor
			}
			return "[" + parts[1] + "](" + repository + file + ")"
		})
	})
}

// unlinked returns a text of which only the links to other sites are left. It leaves code alone.
func unlinked(text []byte) []byte {
	return []byte(outsideOfCode(string(text), func(line string) string {
		return link.ReplaceAllStringFunc(line, func(found string) string {
			if parts := link.FindStringSubmatch(found); !strings.Contains(parts[2], "://") {
				return parts[1]
			}
			return found
		})
	}))
}

// outsideOfCode calls change on each line that is in no fenced block.
func outsideOfCode(text string, change func(line string) string) string {
	lines, fenced := strings.Split(text, "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			lines[i] = change(line)
		}
	}
	return strings.Join(lines, "\n")
}
