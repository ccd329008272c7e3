package apidoc

import (
	"embed"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/cauri-dev/cauri/server/console/assets"
	"github.com/cauri-dev/cauri/server/exchange/static"
)

const (
	// PagePath is the path of the page that describes the API. The pages of the operators' own APIs are below it. All of them
	// are also served below /sandboxes/{namespace}/{name}.
	PagePath = "/docs"
	// AssetPath is the path of the files that the pages refer to.
	AssetPath = PagePath + "/assets/{file}"
	// PageAddress stands in the pages for the address at which a page is opened, see [assets.Shown].
	PageAddress = assets.PageAddress
)

// rendered are the pages. `make generate` renders them (hack/apipage).
//
//go:embed page/*.html
var rendered embed.FS

// Hosts says where the pages and the consoles are.
type Hosts struct {
	Public   *url.URL // base URL of the APIs; nil: not known
	Console  bool     // whether there are consoles
	Consoles *url.URL // base URL of the consoles, if they have a host of their own; nil: Public
}

// Pages returns the handlers of all pages by their paths.
func Pages(hosts Hosts) map[string]http.Handler {
	pages := map[string]http.Handler{}
	entries, _ := rendered.ReadDir("page") // embedded files are always there
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".html")
		path := PagePath + "/" + name
		if "/"+name == PagePath {
			path = PagePath
		}
		pages[path] = &page{Hosts: hosts, path: path, text: sync.OnceValue(func() string {
			text, _ := rendered.ReadFile("page/" + entry.Name())
			return assetLink.ReplaceAllStringFunc(string(text), func(link string) string {
				_, file, _ := strings.Cut(link, "/assets/")
				return "/assets/" + assets.Named(file)
			})
		})}
	}
	return pages
}

var assetLink = regexp.MustCompile(`/assets/[a-z]+\.[a-z]+`)

// page is a page that describes an API, with the address and the appearance of each request.
type page struct {
	Hosts
	path string
	text func() string
}

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origin, form := static.AskedAt(r, p.Public, p.path)
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(w, r.Body, 1<<10)
		http.SetCookie(w, assets.ThemeCookie(r.PostFormValue("theme"), strings.HasPrefix(origin, "https:")))
		w.Header().Set("Location", p.path[strings.LastIndex(p.path, "/")+1:])
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	text, theme := p.text(), assets.Theme(r)
	text = strings.ReplaceAll(text, PageAddress, assets.Shown(origin+form))
	text = p.withConsole(text, form)
	if theme != "" {
		text = strings.Replace(text, "<html ", `<html data-theme="`+theme+`" `, 1)
	}
	text = strings.Replace(text, `value="`+theme+`" aria-pressed="false"`, `value="`+theme+`" aria-pressed="true"`, 1)
	content := static.New("text/html; charset=utf-8", []byte(text))
	content.Header.Set("Content-Security-Policy", assets.Policy)
	content.Header.Set("Referrer-Policy", "no-referrer")
	content.Header.Set("Cross-Origin-Opener-Policy", "same-origin")
	content.Header.Set("Vary", "Cookie, Accept-Encoding")
	content.ServeHTTP(w, r)
}

var (
	sandboxForm = regexp.MustCompile(`^/sandboxes/[A-Za-z0-9.-]+/[A-Za-z0-9.-]+$`)
	consoleLink = regexp.MustCompile(`(<a href=")[./]*console(">.*</a>)`)
)

// withConsole returns a page whose link leads to the console of the sandbox in the address. Without one there is no link.
func (p *page) withConsole(text, form string) string {
	switch {
	case !p.Console || !sandboxForm.MatchString(form):
		return consoleLink.ReplaceAllString(text, "")
	case p.Consoles != nil:
		return consoleLink.ReplaceAllString(text, "${1}"+strings.TrimSuffix(p.Consoles.String(), "/")+form+"/console${2}")
	}
	return text
}
