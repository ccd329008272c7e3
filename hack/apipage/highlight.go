package main

import (
	"html/template"
	"regexp"
	"strings"
)

// The parts of code that have a color: names of JSON, texts, comments and words.
var (
	partOfJSON = regexp.MustCompile(`(?P<k>"(?:[^"\\]|\\.)*"):|(?P<s>"(?:[^"\\]|\\.)*")|\b(?P<w>true|false|null)\b`)
	partOfCode = regexp.MustCompile("(?P<s>\"(?:[^\"\\\\\n]|\\\\.)*\"|'[^']*'|`[^`]*`)|" + `(?P<c>(?:#|//|^"""|/\*\*?) .*)|` +
		`\b(?P<w>await|class|const|def|defer|else|err|export|for|func|function|if|import|new|nil|package|print|private|public|` +
		`range|return|static|try|with|as|echo|true|false|null|None|True|False)\b`)
)

// highlighted converts code to HTML. The JSON within a text of several lines has its own colors.
func highlighted(code string) template.HTML {
	parts := partOfCode
	if strings.HasPrefix(code, "{") || strings.HasPrefix(code, "[") {
		parts = partOfJSON
	}
	return template.HTML(colored(code, parts))
}

func colored(code string, parts *regexp.Regexp) string {
	var b strings.Builder
	rest := 0
	for _, found := range parts.FindAllStringSubmatchIndex(code, -1) {
		for group, class := range parts.SubexpNames() {
			if class == "" || found[2*group] < 0 {
				continue
			}
			from, to := found[2*group], found[2*group+1]
			b.WriteString(template.HTMLEscapeString(code[rest:from]))
			rest = to
			if text := code[from:to]; class == "s" && strings.Contains(text, "\n") {
				body, end := text[1:len(text)-1], text[len(text)-1:]
				b.WriteString(template.HTMLEscapeString(text[:1]) + colored(body, partOfJSON) + template.HTMLEscapeString(end))
			} else {
				b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(text) + `</span>`)
			}
		}
	}
	return b.String() + template.HTMLEscapeString(code[rest:])
}
