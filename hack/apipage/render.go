package main

import (
	"html/template"
	"strings"
)

// prose converts a description with paragraphs and `code` to HTML.
func prose(text string) template.HTML {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if paragraph == "" {
			continue
		}
		b.WriteString("<p>")
		for i, part := range strings.Split(paragraph, "`") {
			part = template.HTMLEscapeString(part)
			if i%2 == 1 {
				part = "<code>" + part + "</code>"
			}
			b.WriteString(part)
		}
		b.WriteString("</p>")
	}
	return template.HTML(b.String())
}
