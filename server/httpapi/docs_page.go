package httpapi

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"net/http"
)

// docsPath is where the description is read by people. It answers behind /sandboxes/{namespace}/{name} too.
const docsPath = "/docs"

//go:embed docs/rendered.html docs/page.css docs/copy.js docs/verify/verify.go docs/verify/verify.mjs
var docsFiles embed.FS

// newDocsPage serves the API's description as `make generate` has rendered it ([renderDocsPage]). The page is complete in itself: it
// loads nothing and runs nothing but the script that stands in it.
func newDocsPage() http.Handler {
	page := newStatic("text/html; charset=utf-8", []byte(docsFile("rendered.html")))
	page.header.Set("Content-Security-Policy", fmt.Sprintf(
		"default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		sourceHash(docsFile("page.css")), sourceHash(docsFile("copy.js"))))
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
