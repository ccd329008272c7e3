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
		b.WriteString("<p>" + string(inline(paragraph)) + "</p>")
	}
	return template.HTML(b.String())
}

// breaking converts a name to HTML in which a line may end behind each slash of a path.
func breaking(name string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(name), "/", "/<wbr>"))
}

// inline converts a paragraph with `code` to HTML.
func inline(text string) template.HTML {
	parts := strings.Split(template.HTMLEscapeString(text), "`")
	for i := range parts {
		if i%2 == 1 {
			parts[i] = "<code>" + parts[i] + "</code>"
		}
	}
	return template.HTML(strings.Join(parts, ""))
}
