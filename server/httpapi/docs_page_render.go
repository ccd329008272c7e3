package httpapi

import (
	"bytes"
	"html/template"
	"strings"
)

// renderDocsPage makes the page from the document and a template, once, before the program is built. The program itself must not:
// executing a template calls methods by names that no linker knows, so that it keeps all methods of all types, and the program grows
// by a quarter.
func renderDocsPage(pageTemplate string) ([]byte, error) {
	parsed, err := template.New("page").Funcs(template.FuncMap{"prose": prose, "lower": strings.ToLower}).Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, newPage()); err != nil {
		return nil, err
	}
	return append(bytes.TrimSpace(text.Bytes()), '\n'), nil
}

// prose makes HTML of a description: paragraphs, and `code`.
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
