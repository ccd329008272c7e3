// Command apipage renders the page that the api serves at /docs from the API's description. `make generate` runs it, from the root of the
// repository.
//
// The api does not render the page itself, because a program that executes templates is a quarter larger. A template
// calls methods by name, so the linker must keep all methods of all types.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"strings"
)

const renderedFile = "server/httpapi/apidoc/page/rendered.html"

//go:embed page.html
var pageTemplate string

func main() {
	text, err := render()
	if err == nil {
		err = os.WriteFile(renderedFile, text, 0o644)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "writing %s: %v\n", renderedFile, err)
		os.Exit(1)
	}
}

// render returns the page, rendered from the document and the template.
func render() ([]byte, error) {
	parsed, err := template.New("page").Funcs(template.FuncMap{"prose": prose, "lower": strings.ToLower}).Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	shown, err := newPage()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, shown); err != nil {
		return nil, err
	}
	return append(bytes.TrimSpace(text.Bytes()), '\n'), nil
}
