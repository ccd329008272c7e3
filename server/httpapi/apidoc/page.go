package apidoc

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange/static"
)

// PagePath is the path of the page that describes the API. The page is also served below /sandboxes/{namespace}/{name}.
const PagePath = "/docs"

// PageStyle and PageScript are parts of the page.
var (
	//go:embed page/page.css
	PageStyle string
	//go:embed page/copy.js
	PageScript string

	//go:embed page/rendered.html
	rendered []byte
)

// PageHandler serves the page that describes the API. `make generate` renders the page (hack/apipage). The page loads
// no other resources, and only its own script may run.
func PageHandler() http.Handler {
	page := static.New("text/html; charset=utf-8", rendered)
	page.Header.Set("Content-Security-Policy", fmt.Sprintf(
		"default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		sourceHash(PageStyle), sourceHash(PageScript)))
	page.Header.Set("Referrer-Policy", "no-referrer")
	return page
}

// sourceHash returns the hash source expression that allows this inline text in a Content-Security-Policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
