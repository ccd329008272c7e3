package apidoc

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"
)

// PagePath is where the description is read by people. It answers behind /sandboxes/{namespace}/{name} too.
const PagePath = "/docs"

// PageStyle and PageScript stand in the page.
var (
	//go:embed page/page.css
	PageStyle string
	//go:embed page/copy.js
	PageScript string

	//go:embed page/rendered.html
	rendered []byte
)

// PageHandler serves the API's description as `make generate` has rendered it (hack/apipage). The page is complete in itself: it
// loads nothing and runs nothing but the script that stands in it.
func PageHandler() http.Handler {
	page := newStatic("text/html; charset=utf-8", rendered)
	page.header.Set("Content-Security-Policy", fmt.Sprintf(
		"default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		sourceHash(PageStyle), sourceHash(PageScript)))
	page.header.Set("Referrer-Policy", "no-referrer")
	return page
}

// sourceHash names a text in a Content-Security-Policy, so that it may stand in the page and nothing else may.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
