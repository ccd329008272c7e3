package manual

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Location returns the address of a page, by its path below docs, such as api.md.
type Location func(file string) string

// The section of the README that an agent needs most comes first, and the one that it needs rarely last, as Optional.
const (
	merchant     = "I take payments: the merchant's developer"
	platformTeam = "I run Cauri: the platform team"
)

// The maximum sizes of llms.txt and llms-full.txt, in bytes. What does not fit is left out of the first, and only named in the second.
const (
	MostOfIndex = 10_000
	MostOfFull  = 200_000
)

// Index returns llms.txt (llmstxt.org): what an agent must know, and each page with what it is for. The texts further are lines about
// what only a service has.
func Index(at Location, further ...string) string {
	var b strings.Builder
	b.WriteString("# Cauri\n\n> " + summary + "\n\n" + knowledge())
	listed := map[*Page]bool{}
	rows := func(title string, s Section) {
		b.WriteString("\n## " + title + "\n\n")
		for _, r := range s.Rows {
			if line := row(r, at, s.Title == merchant); !listed[r.Page] && b.Len()+len(line) < MostOfIndex {
				listed[r.Page] = true
				b.WriteString(line)
			}
		}
	}
	sections, last := Sections(), Section{}
	slices.SortStableFunc(sections, func(a, b Section) int { return cmp.Compare(rankOf(a.Title, merchant), rankOf(b.Title, merchant)) })
	for _, s := range sections {
		if s.Title == platformTeam {
			last = s
			continue
		}
		rows(s.Title, s)
		if s.Title == merchant && len(further) > 0 {
			b.WriteString("\n## The API, for programs\n\n" + strings.Join(further, ""))
		}
	}
	rows("Optional", last)
	return b.String()
}

// rankOf returns the place of a name in a list; the length of the list for none.
func rankOf(name string, of ...string) int {
	if i := slices.Index(of, name); i >= 0 {
		return i
	}
	return len(of)
}

var summary = "Mobile-money sandboxes with state, for your own machine and for Kubernetes: payments that settle, refunds, payouts, " +
	"realistic failures, signed webhooks, and the operators' own APIs (" + payments.AllOf(payments.Operators) + "). No money moves."

// row returns the line about a page, with its first sentence where nothing else says what it is for, and where an agent reads first.
func row(r Row, at Location, first bool) string {
	about := r.Want
	if first || about == "" {
		about = strings.TrimPrefix(about+". "+r.Page.Sentence, ". ")
	}
	return "- [" + r.Page.Title + "](" + at(r.Page.Name+".md") + "): " + about + "\n"
}

// knowledge returns the list of what an agent must know, which the page for agents has.
func knowledge() string {
	_, after, _ := strings.Cut(string(Named("agents").Text), "\n## What an agent must know\n")
	list, _, _ := strings.Cut(after, "\n## ")
	return strings.TrimSpace(plain(list)) + "\n"
}

// firstPages are the pages with which llms-full.txt begins.
var firstPages = []string{"agents", "dev", "api", "webhooks", "commands", "expectations", "faults", "clock", "stories", "grade"}

// Full returns llms-full.txt in pieces, which answers share: the pages of the merchant's developer and the tester. At its
// end it names those that do not fit.
func Full(at Location) (pieces [][]byte) {
	var rows []Row
	for _, s := range Sections() {
		if s.Title == merchant {
			rows = slices.Clone(s.Rows)
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Compare(rankOf(a.Page.Name, firstPages...), rankOf(b.Page.Name, firstPages...))
	})
	pieces = append(pieces, []byte("# Cauri\n\n> "+summary+"\n"))
	rest, size := "\n# Further pages\n\n", len(pieces[0])
	for _, r := range rows {
		before := []byte("\n<!-- " + at(r.Page.Name+".md") + " -->\n\n")
		if size += len(before) + len(r.Page.alone); size+restOfFull > MostOfFull {
			size -= len(before) + len(r.Page.alone)
			rest += row(r, at, true)
			continue
		}
		pieces = append(pieces, before, r.Page.alone)
	}
	return append(pieces, []byte(rest))
}

// restOfFull is what the list of further pages takes at most.
const restOfFull = 5000
