package main

import (
	"bytes"
	"html"
	"html/template"
	"path/filepath"
	"regexp"
	"strings"
	texttemplate "text/template"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// markdownPages returns the page of the API, and one for each operation, as Markdown, by their files.
func markdownPages(p page) (map[string][]byte, error) {
	pages := map[string][]byte{}
	templates, err := texttemplate.New("").Funcs(texttemplate.FuncMap{
		"text": asText, "line": func(text string) string { return strings.Join(strings.Fields(text), " ") }, "common": commonErrors,
	}).ParseFS(templates, "*.md")
	if err != nil {
		return nil, err
	}
	write := func(file, name string, shown any) error {
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, name, shown); err != nil {
			return err
		}
		pages[filepath.Join(folder, file)] = append(bytes.TrimSpace(blankLines.ReplaceAll(text.Bytes(), []byte("\n\n"))), '\n')
		return nil
	}
	if err := write("docs.md", "page.md", p); err != nil {
		return nil, err
	}
	for _, g := range p.Groups {
		for _, o := range g.Operations {
			if err := write(filepath.Join("api", o.ID+".md"), "operation.md", o); err != nil {
				return nil, err
			}
		}
	}
	return pages, nil
}

var (
	blankLines = regexp.MustCompile(`\n{3,}`)
	tag        = regexp.MustCompile(`<[^>]+>`)
)

// asText returns HTML without its tags, as Markdown: a pattern is no link.
func asText(shown template.HTML) string {
	return strings.ReplaceAll(html.UnescapeString(tag.ReplaceAllString(string(shown), "")), "](", "]\\(")
}

// commonErrors returns the errors of an operation that all operations with a key or a body have.
func commonErrors(o pageOperation) (errors []pageError) {
	for _, c := range apidoc.ErrorCases {
		if strings.Contains(string(o.AlsoErrors), linkToError(c.Example.Code)) {
			errors = append(errors, newPageError(c))
		}
	}
	return errors
}
