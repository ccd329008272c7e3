// Command apipage renders the pages that the api serves at /docs: that of its own API, and one for each operator's own API. It also
// writes that of its own API, and one for each operation, as Markdown.
// The console has its examples of requests from the same templates.
// It reads their descriptions, and the tables of the operators. `make generate` runs it, from the root of the repository.
//
// The api does not render the pages itself, because a program that executes templates is a quarter larger. A template
// calls methods by name, so the linker must keep all methods of all types.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// The folders of the pages, and of the requests that the console completes.
const (
	folder   = "server/httpapi/apidoc/page"
	postings = "server/assets/posting"
)

//go:embed *.html *.md
var templates embed.FS

func main() {
	if err := write(); err != nil {
		fmt.Fprintf(os.Stderr, "writing %s: %v\n", folder, err)
		os.Exit(1)
	}
}

// write replaces all pages.
func write() error {
	pages, err := render()
	if err != nil {
		return err
	}
	for _, each := range []string{folder, postings} {
		if err := os.RemoveAll(each); err != nil {
			return err
		}
	}
	for name, text := range pages {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render returns the pages, and a request in each language, by their files.
func render() (map[string][]byte, error) {
	own, err := newPage()
	if err != nil {
		return nil, err
	}
	pages, err := markdownPages(own)
	if err != nil {
		return nil, err
	}
	if pages[filepath.Join(folder, "docs.html")], err = execute("page.html", own.frame, own); err != nil {
		return nil, err
	}
	operators, err := operatorPages()
	if err != nil {
		return nil, err
	}
	for _, p := range operators {
		if pages[filepath.Join(folder, string(p.Operator)+".html")], err = execute("operator.html", p.frame, p); err != nil {
			return nil, err
		}
	}
	posting := request{Method: http.MethodPost, Address: assets.PageAddress}
	posting.Body = `{"` + assets.PostedName + `": "` + assets.PostedValue + `"}`
	posting.Headers = []requestHeader{{"Authorization", "Bearer ", "CAURI_API_KEY"}, {Name: "Content-Type", Text: apidoc.MediaJSON}}
	written, err := posting.inLanguages()
	for language, text := range written {
		pages[filepath.Join(postings, language+".txt")] = []byte(text + "\n")
	}
	return pages, err
}

// execute executes the template in a file.
func execute(file string, f frame, shown any) ([]byte, error) {
	parsed, err := template.New("").Funcs(template.FuncMap{
		"prose": prose, "inline": inline, "breaking": breaking, "mark": shownMark, "lower": strings.ToLower, "highlighted": highlighted,
		"icon": f.icon, "languages": func() any { return languages },
	}).ParseFS(templates, "*.html")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.ExecuteTemplate(&text, file, shown); err != nil {
		return nil, err
	}
	return append(bytes.TrimSpace(text.Bytes()), '\n'), nil
}
