package mcp

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/manual"
)

// page is a page of the documents.
type page struct {
	name     string // without .md
	title    string
	about    string // its first sentence
	text     string
	sections []section
}

// section is a part of a page with its title.
type section struct {
	page, title, anchor, text string
}

// library has the pages that a user reads.
type library struct {
	pages []page
}

// readLibrary reads the pages that are served too.
func readLibrary() *library {
	l := &library{}
	for _, part := range manual.Sections() {
		for _, row := range part.Rows {
			if l.named(row.Page.Name) == nil {
				l.pages = append(l.pages, newPage(row.Page))
			}
		}
	}
	slices.SortFunc(l.pages, func(a, b page) int { return cmp.Compare(a.name, b.name) })
	return l
}

var headingForm = regexp.MustCompile(`(?m)^#{1,4} (.+)$`)

func newPage(of *manual.Page) page {
	text := string(of.Text)
	p := page{name: of.Name, title: of.Title, about: of.Sentence, text: text}
	headings := headingForm.FindAllStringSubmatchIndex(text, -1)
	for i, at := range headings {
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		title := text[at[2]:at[3]]
		p.sections = append(p.sections, section{p.name, title, anchorOf(title), strings.TrimSpace(text[at[0]:end])})
	}
	return p
}

// anchorOf returns the anchor of a title, as GitHub makes it.
func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}

func (l *library) named(name string) *page {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md")
	for i := range l.pages {
		if l.pages[i].name == name {
			return &l.pages[i]
		}
	}
	return nil
}

func (l *library) names() (names []string) {
	for i := range l.pages {
		names = append(names, l.pages[i].name)
	}
	return names
}

// mostSections is the maximum number of sections that a search finds.
const mostSections = 5

// search returns the sections that fit the words of a query best.
func (l *library) search(query string) []section {
	words := wordsOf(query)
	type scored struct {
		section
		score float64
	}
	var found []scored
	for i := range l.pages {
		french := strings.HasPrefix(l.pages[i].name, "fr/")
		for _, s := range l.pages[i].sections {
			score := scoreOf(&s, words)
			if french {
				score /= 2 // who asks in French finds French words there only
			}
			if score > 0 {
				found = append(found, scored{s, score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var sections []section
	for _, f := range found[:min(len(found), mostSections)] {
		sections = append(sections, f.section)
	}
	return sections
}

// wordsOf returns the words of a query that tell something.
func wordsOf(query string) (words []string) {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	for _, word := range strings.FieldsFunc(strings.ToLower(query), between) {
		if len(word) > 2 && !slices.Contains([]string{"the", "and", "how", "what", "does", "for", "with", "can", "are", "why", "you", "this"}, word) {
			words = append(words, strings.TrimSuffix(word, "s"))
		}
	}
	return words
}

// scoreOf returns how well a section fits: each word once, more in a title, and less in a long text.
func scoreOf(s *section, words []string) (score float64) {
	title, text := strings.ToLower(s.title+" "+s.page), strings.ToLower(s.text)
	for _, word := range words {
		if n := strings.Count(text, word); n > 0 {
			score += 1 + float64(min(n, 5))/5
		}
		if strings.Contains(title, word) {
			score += 3
		}
	}
	if size := float64(len(text)); size > 4000 {
		score *= 4000 / size
	}
	return score
}

type readDocsInput struct {
	Query     string `json:"query,omitempty" doc:"Words to search for. Send one of query, page and operation."`
	Page      string `json:"page,omitempty" example:"webhooks#verify-the-signature" doc:"A page, or page#section."`
	Operation string `json:"operation,omitempty" example:"createPayment" doc:"An operation of the API, by its operationId."`
}

func (in *readDocsInput) check(wrong fieldErrors) {
	n := 0
	for _, text := range []string{in.Query, in.Page, in.Operation} {
		if text != "" {
			n++
		}
	}
	if n > 1 {
		wrong.add("query", "is one of several: send only one of query, page and operation")
	}
}

type docsSection struct {
	Page  string `json:"page"` // page#section, to read it whole
	Title string `json:"title"`
	Text  string `json:"text,omitempty"`
	Cut   bool   `json:"cut,omitempty"`
}

type readDocsOutput struct {
	head
	Sections []docsSection `json:"sections"`
	Pages    []string      `json:"pages,omitempty"`
}

const (
	// maxFound is the maximum size of a section that a search finds, in bytes.
	maxFound = 2500
	// maxPage is the maximum size of the text of a page.
	maxPage = 14 << 10
)

var readDocs = define(tool{
	name: "read_docs", title: "Read the documents", reads: true, alone: true,
	description: "The documents of Cauri: query finds at most five sections, page or page#section gives a text, operation one operation of the API. " +
		"Without arguments: the pages.",
}, func(ctx context.Context, c *call, in *readDocsInput) (*readDocsOutput, error) {
	library := pages()
	switch {
	case in.Operation != "":
		return c.operation(ctx, in.Operation)
	case in.Page != "":
		return readPage(library, in.Page)
	}
	out := &readDocsOutput{Sections: []docsSection{}}
	if in.Query == "" {
		out.Pages = library.names()
		out.say("There are %d pages.", len(out.Pages))
		return out, nil
	}
	for _, s := range library.search(in.Query) {
		text := cut(s.text, maxFound)
		out.Sections = append(out.Sections, docsSection{s.page + "#" + s.anchor, s.title, text, len(text) < len(s.text)})
	}
	if len(out.Sections) == 0 {
		out.Pages = library.names()
		out.say("No section has these words.")
		return out, nil
	}
	out.say("%s.", english.Plural(len(out.Sections), "section fits", "sections fit"))
	return out, nil
})

// readPage returns a page, or a section of one. A page that is too long comes as its beginning, with all its sections.
func readPage(library *library, asked string) (*readDocsOutput, error) {
	name, anchor, _ := strings.Cut(asked, "#")
	found := library.named(name)
	if found == nil {
		problem := "is no page: " + listed(library.names(), "", "the pages are")
		if near := nearest(path.Base(name), library.names()); near != "" {
			problem = "is no page: did you mean " + near + "?"
		}
		return nil, invalid(fieldErrors{"page": {problem}})
	}
	out := &readDocsOutput{Sections: []docsSection{}}
	if anchor == "" {
		text := cut(found.text, maxPage)
		out.say("The page %s.", found.name)
		out.Sections = append(out.Sections, docsSection{found.name, found.title, text, len(text) < len(found.text)})
		for _, s := range found.sections[min(1, len(found.sections)):] {
			if len(text) < len(found.text) {
				out.Sections = append(out.Sections, docsSection{Page: s.page + "#" + s.anchor, Title: s.title})
			}
		}
		return out, nil
	}
	for _, s := range found.sections {
		if s.anchor == anchor {
			text := cut(s.text, maxPage)
			out.say("The section %s of the page %s.", s.title, found.name)
			out.Sections = append(out.Sections, docsSection{s.page + "#" + s.anchor, s.title, text, len(text) < len(s.text)})
			return out, nil
		}
	}
	var anchors []string
	for _, s := range found.sections {
		anchors = append(anchors, s.anchor)
	}
	return nil, invalid(fieldErrors{"page": {"has no section " + anchor + ": " + listed(anchors, "", "its sections are")}})
}

// pages returns the library, which is read at the first call.
var pages = sync.OnceValue(readLibrary)
