package apidoc

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/sandboxes"
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
//go:embed page/*.html page/*.md page/api/*.md
var rendered embed.FS

// Hosts says where the pages and the consoles are.
type Hosts struct {
	Public   *url.URL // base URL of the APIs; nil: not known
	Console  bool     // whether there are consoles
	Consoles *url.URL // base URL of the consoles, if they have a host of their own; nil: Public
	// Sandbox returns the sandbox that the examples are of, by the path before that of the page; nil for none. A page that
	// strangers see must not have one, because it tells that the sandbox is there.
	Sandbox func(form string) *sandboxes.Sandbox
}

// Pages returns the handlers of all pages by their paths.
func Pages(hosts Hosts) map[string]http.Handler {
	pages := map[string]http.Handler{}
	entries, _ := rendered.ReadDir("page") // embedded files are always there
	for _, entry := range entries {
		name, isPage := strings.CutSuffix(entry.Name(), ".html")
		if !isPage {
			continue
		}
		path := PagePath + "/" + name
		if "/"+name == PagePath {
			path = PagePath
		}
		pages[path] = &page{Hosts: hosts, path: path, shared: sync.OnceValue(func() *shared {
			text, _ := rendered.ReadFile("page/" + entry.Name())
			return sharedOf(assetLink.ReplaceAllFunc(text, func(link []byte) []byte {
				_, file, _ := strings.Cut(string(link), "/assets/")
				return []byte("/assets/" + assets.Named(file))
			}))
		})}
	}
	return pages
}

var assetLink = regexp.MustCompile(`/assets/[a-z]+\.[a-z]+`)

// page is a page that describes an API, with the address and the appearance of each request.
type page struct {
	Hosts
	path   string
	shared func() *shared
}

// shared is what all answers with a page have in common.
type shared struct {
	pieces []piece
	digest string
}

// piece is a part of a page. Every answer shares the text; what follows it depends on the request.
type piece struct {
	text, then []byte
	of         figure // that then is a part of
}

var (
	// varying matches what depends on the request: the address, the appearance, and the link to the console.
	varying = regexp.MustCompile(regexp.QuoteMeta(PageAddress) + `|<html |value="[a-z]*" aria-pressed="false"|` + consoleLink.String())
	// consoleLink is the link to the console of the sandbox in the address.
	consoleLink = regexp.MustCompile(`(<a href=")[./]*console(">.*</a>)`)
	sandboxForm = regexp.MustCompile(`^/sandboxes/[A-Za-z0-9.-]+/[A-Za-z0-9.-]+$`)
)

func sharedOf(text []byte) *shared {
	s, from := &shared{digest: fmt.Sprintf("%x", sha256.Sum256(text))}, 0
	places := placesOfExamples(text)
	for _, at := range varying.FindAllIndex(text, -1) {
		places = append(places, place{at[0], at[1], noFigure})
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.begin, b.begin) })
	for _, at := range places {
		s.pieces = append(s.pieces, piece{text[from:at.begin], text[at.begin:at.end], at.of})
		from = at.end
	}
	s.pieces = append(s.pieces, piece{text: text[from:]})
	return s
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
	if content := p.asMarkdown(r); content != nil {
		content.ServeHTTP(w, r)
		return
	}
	theme, address, market := assets.Theme(r), []byte(assets.Shown(origin+form)), p.marketOfPage(form)
	page := p.shared()
	parts := make([][]byte, 0, 2*len(page.pieces))
	for _, piece := range page.pieces {
		then := piece.then
		switch {
		case piece.of != noFigure:
			then = inMarket(then, piece.of, market)
		case string(then) == PageAddress:
			then = address
		case string(then) == "<html " && theme != "":
			then = []byte(`<html data-theme="` + theme + `" `)
		case string(then) == `value="`+theme+`" aria-pressed="false"`:
			then = []byte(`value="` + theme + `" aria-pressed="true"`)
		case bytes.HasPrefix(then, []byte("<a ")):
			then = p.toConsole(then, form)
		}
		parts = append(parts, piece.text, then)
	}
	version := strings.Join([]string{page.digest, string(address), form, theme, fmt.Sprint(p.Console, p.Consoles, market)}, "\n")
	content := static.Of("text/html; charset=utf-8", version, parts...)
	content.Header.Set("Content-Security-Policy", assets.Policy)
	content.Header.Set("Referrer-Policy", "no-referrer")
	content.Header.Set("Cross-Origin-Opener-Policy", "same-origin")
	content.Header.Set("Vary", "Accept, Cookie, Accept-Encoding")
	content.ServeHTTP(w, r)
}

// toConsole returns the link to the console of the sandbox in the address; nil where there is none.
func (p *page) toConsole(link []byte, form string) []byte {
	switch {
	case !p.Console || !sandboxForm.MatchString(form):
		return nil
	case p.Consoles != nil:
		return consoleLink.ReplaceAll(link, []byte("${1}"+strings.TrimSuffix(p.Consoles.String(), "/")+form+"/console${2}"))
	}
	return link
}
