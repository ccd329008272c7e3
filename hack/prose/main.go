// Command prose checks the English that users read: the spelling, the words that rules.txt retires, and the length of sentences.
//
//	go run ./hack/prose <file of Markdown or text>...
//
// docs/decisions/0025-prose.md says why it is not vale.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// maxWords is the maximum number of words in a sentence.
const maxWords = 40

//go:embed rules.txt
var ruleText string

func main() {
	rules, err := parseRules(ruleText)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
	failed := false
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(2)
		}
		for _, f := range check(string(text), rules) {
			fmt.Printf("%s:%d: %s\n", file, f.line, f.message)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// A rule is a retired word or phrase, with its replacement.
type rule struct {
	pattern *regexp.Regexp
	instead string
}

// parseRules reads lines of "regular expression | what to write". Letters match in both cases; a phrase matches whole words.
func parseRules(text string) ([]rule, error) {
	var rules []rule
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, instead, ok := strings.Cut(line, " | ")
		if !ok {
			return nil, fmt.Errorf("rules.txt:%d: want pattern | what to write", i+1)
		}
		compiled, err := regexp.Compile(`(?i)\b(?:` + pattern + `)\b`)
		if err != nil {
			return nil, fmt.Errorf("rules.txt:%d: %w", i+1, err)
		}
		rules = append(rules, rule{compiled, instead})
	}
	return rules, nil
}

type finding struct {
	line    int
	message string
}

func check(text string, rules []rule) []finding {
	var findings []finding
	for _, block := range blocks(text) {
		for _, r := range rules {
			if match := r.pattern.FindStringIndex(block.text); match != nil {
				line := block.line + strings.Count(block.text[:match[0]], "\n")
				findings = append(findings, finding{line, fmt.Sprintf("%q: write %s", block.text[match[0]:match[1]], r.instead)})
			}
		}
		for _, sentence := range sentenceEnd.Split(block.text, -1) {
			if words := strings.Fields(sentence); len(words) > maxWords {
				start := strings.Join(words[:6], " ")
				findings = append(findings, finding{block.line, fmt.Sprintf("a sentence of %d words, at most %d: %s ...", len(words), maxWords, start)})
			}
		}
	}
	return findings
}

var sentenceEnd = regexp.MustCompile(`[.!?:;]["')*_]*(?:\s+|$)`)

// A block is a paragraph, a heading, an item of a list, or a cell of a table, without code and addresses of links.
type block struct {
	line int
	text string
}

var (
	code      = regexp.MustCompile("`[^`]*`")
	link      = regexp.MustCompile(`\]\([^)]*\)`)
	listItem  = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)
	comment   = regexp.MustCompile(`<!--.*?-->`)
	separator = regexp.MustCompile(`^[\s|:-]+$`)
)

func blocks(text string) []block {
	var all []block
	open, fenced := false, false // a paragraph, a block of code
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			fenced, open = !fenced, false
			continue
		}
		line = link.ReplaceAllString(code.ReplaceAllString(comment.ReplaceAllString(line, ""), "CODE"), "]")
		switch {
		case fenced || trimmed == "" || separator.MatchString(line):
			open = false
		case strings.HasPrefix(trimmed, "|"):
			for _, cell := range strings.Split(strings.ReplaceAll(line, `\|`, " "), "|") {
				all = append(all, block{i + 1, cell})
			}
			open = false
		case !open || listItem.MatchString(line) || strings.HasPrefix(line, "#"):
			all = append(all, block{i + 1, listItem.ReplaceAllString(line, "")})
			open = !strings.HasPrefix(line, "#")
		default:
			all[len(all)-1].text += "\n" + line
		}
	}
	return all
}
