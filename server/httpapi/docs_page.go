package httpapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

// docsPath is where the description is read by people. It answers behind /sandboxes/{namespace}/{name} too.
const docsPath = "/docs"

//go:embed docs/page.html docs/page.css docs/copy.js docs/verify/verify.go docs/verify/verify.mjs
var docsFiles embed.FS

var docsTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"prose": prose, "lower": strings.ToLower,
}).ParseFS(docsFiles, "docs/page.html"))

// newDocsPage renders the API's description, once. The page is complete in itself: it loads nothing and runs nothing but the
// script that stands in it.
func newDocsPage(a *api) http.Handler {
	p := newPage(a)
	var text bytes.Buffer
	if err := docsTemplate.Execute(&text, p); err != nil {
		panic("rendering the API's description: " + err.Error()) // it is the same in every program, so every test would see it
	}
	page := newStatic("text/html; charset=utf-8", bytes.TrimSpace(text.Bytes()))
	page.header.Set("Content-Security-Policy", fmt.Sprintf(
		"default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		sourceHash(string(p.Style)), sourceHash(string(p.Script))))
	page.header.Set("Referrer-Policy", "no-referrer")
	return page
}

// sourceHash names a text in a Content-Security-Policy, so that it may stand in the page and nothing else may.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func docsFile(name string) string {
	text, err := docsFiles.ReadFile("docs/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
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
