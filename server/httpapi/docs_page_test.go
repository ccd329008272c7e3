package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpapi/apidoc/verify"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// docsPage is the page as a browser gets it. It needs no database.
func docsPage(t *testing.T, path string) (http.Header, *html.Node) {
	t.Helper()
	recorder := httptest.NewRecorder()
	fronts.New(fronts.Options{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	if recorder.Code != http.StatusOK || !strings.HasPrefix(recorder.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("%s answered %d %s", path, recorder.Code, recorder.Header())
	}
	page, err := html.Parse(recorder.Body)
	if err != nil {
		t.Fatal(err)
	}
	return recorder.Header(), page
}

// all are the elements below a node that have a name, or any element for "".
func all(n *html.Node, name string) []*html.Node {
	var found []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && (name == "" || d.Data == name) {
			found = append(found, d)
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return ""
	}
	return n.Attr[i].Val
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// byID are the elements of a page that have an id, which has to be theirs alone.
func byID(t *testing.T, page *html.Node) map[string]*html.Node {
	t.Helper()
	found := map[string]*html.Node{}
	for _, n := range all(page, "") {
		if id := attribute(n, "id"); id != "" {
			if found[id] != nil {
				t.Errorf("the id %s is there twice", id)
			}
			found[id] = n
		}
	}
	return found
}

func TestDocsPageShowsEverything(t *testing.T) {
	t.Parallel()
	_, page := docsPage(t, "/docs")
	elements := byID(t, page)
	for id, o := range theContract(t).operations() {
		article := elements[id]
		if article == nil {
			t.Errorf("%s is not there", id)
			continue
		}
		text := textOf(article)
		for _, want := range []string{o.method, o.path, "curl"} {
			if want == "curl" && len(o.examples) == 0 {
				continue
			}
			if !strings.Contains(text, want) {
				t.Errorf("%s does not show %s", id, want)
			}
		}
	}
	for _, kind := range payments.Types {
		if elements[kind.Event()] == nil {
			t.Errorf("the event %s is not there", kind.Event())
		}
	}
	for _, status := range payments.Statuses {
		if !strings.Contains(textOf(elements["statuses"]), string(status)) {
			t.Errorf("the status %s is not there", status)
		}
	}
	for _, scenario := range payments.Scenarios {
		if !strings.Contains(textOf(elements["scenarios"]), string(scenario)) {
			t.Errorf("the scenario %s is not there", scenario)
		}
	}
	for id := range linked(page) {
		if elements[id] == nil {
			t.Errorf("a link leads to #%s, which is not there", id)
		}
	}
}

// docsPages are the paths of all pages, in two forms.
func docsPages() (all []string) {
	for _, form := range []string{"", "/sandboxes/team/checkout"} {
		all = append(all, form+"/docs")
		for _, api := range operators.NativeAPIs() {
			all = append(all, form+"/docs/"+string(api.Operator))
		}
	}
	return all
}

// The pages load only files that the api serves beside them, and their policy lets nothing else in. They lead to each other, and to
// what the api has.
func TestDocsPagesLoadOnlyTheirFiles(t *testing.T) {
	t.Parallel()
	server := fronts.New(fronts.Options{})
	for _, path := range docsPages() {
		header, page := docsPage(t, path)
		if policy := header.Get("Content-Security-Policy"); policy != assets.Policy || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy of %s is %s", path, policy)
		}
		byID(t, page)
		for _, n := range all(page, "") {
			if n.Data == "style" || n.Data == "script" && n.FirstChild != nil {
				t.Errorf("%s has an inline %s", path, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case a.Key == "href" || a.Key == "src":
					reference, err := url.Parse(a.Val)
					if err != nil || reference.IsAbs() || reference.Host != "" || strings.HasPrefix(a.Val, "/") {
						t.Errorf("%s leads to %s", path, a.Val)
						continue
					}
					recorder := httptest.NewRecorder()
					target := (&url.URL{Path: path}).ResolveReference(reference).Path
					server.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, target, nil))
					if recorder.Code != http.StatusOK {
						t.Errorf("%s leads to %s, which answers %d", path, target, recorder.Code)
					}
				case slices.Contains([]string{"srcset", "action", "data", "poster", "background", "style"}, a.Key), strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: <%s> has %s=%q", path, n.Data, a.Key, a.Val)
				}
			}
		}
	}
}

// The page of an operator has all of its calls and refusals, each with what to do, and the values that the table has for its parameters.
func TestDocsPagesOfOperatorsShowEverything(t *testing.T) {
	t.Parallel()
	for _, api := range operators.NativeAPIs() {
		_, page := docsPage(t, "/docs/"+string(api.Operator))
		elements := byID(t, page)
		for _, r := range api.Described() {
			article := elements[r.ID()]
			if article == nil || !strings.Contains(textOf(article), r.Method+" "+r.Path) {
				t.Errorf("%s %s is not there", r.Method, r.Path)
				continue
			}
			code := ""
			if r.Doc.Query == nil { // the page has no example with a query
				code = textOf(all(article, "pre")[0])
			}
			if strings.Contains(code, "{type}") || strings.Contains(code, ": '") {
				t.Errorf("%s %s has a parameter without an example:\n%s", r.Method, r.Path, code)
			}
			for _, why := range api.Refusals(r) {
				line, advice := elements["error-"+string(why)], api.Advice(why)
				if line == nil || advice.When == "" || advice.Instead == "" {
					t.Errorf("%s does not say what to do after %s", api.Operator, why)
				}
			}
		}
		for id := range linked(page) {
			if elements[id] == nil {
				t.Errorf("a link leads to #%s, which is not there", id)
			}
		}
	}
}

// linked are the ids that links of a page lead to.
func linked(page *html.Node) map[string]bool {
	ids := map[string]bool{}
	for _, link := range all(page, "a") {
		if id, inside := strings.CutPrefix(attribute(link, "href"), "#"); inside {
			ids[id] = true
		}
	}
	return ids
}

// The examples call the address at which the page was opened, unless it would mean something to a shell.
func TestDocsPagesHaveTheirAddress(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/docs":                         `curl -sS "http://example.com/api/v1/payments"`,
		"/sandboxes/team/shop/docs":     `curl -sS "http://example.com/sandboxes/team/shop/api/v1/payments"`,
		"/sandboxes/team/shop/docs/mtn": `curl -sS "http://example.com/sandboxes/team/shop/operators/mtn/`,
		"/sandboxes/$(id)/shop/docs":    `curl -sS "https://cauri.example/api/v1/payments"`,
		"/sandboxes/a%22b/shop/docs":    `curl -sS "https://cauri.example/api/v1/payments"`,
		"/sandboxes/%60id%60/shop/docs": `curl -sS "https://cauri.example/api/v1/payments"`,
	} {
		_, page := docsPage(t, path)
		text := textOf(page)
		if !strings.Contains(text, want) || strings.Contains(text, "cauri.example") != strings.Contains(want, "cauri.example") {
			t.Errorf("%s does not have %s", path, want)
		}
	}
}

// The page of a sandbox leads to its console, where that is.
func TestDocsPagesLeadToTheConsole(t *testing.T) {
	t.Parallel()
	own := &url.URL{Scheme: "https", Host: "console.example.com"}
	for _, c := range []struct {
		path    string
		options fronts.Options
		want    string
	}{
		{"/sandboxes/team/shop/docs", fronts.Options{Console: true}, `<a href="console">`},
		{"/sandboxes/team/shop/docs/mtn", fronts.Options{Console: true}, `<a href="../console">`},
		{"/sandboxes/team/shop/docs/mtn", fronts.Options{Console: true, ConsoleURL: own}, `<a href="https://console.example.com/sandboxes/team/shop/console">`},
		{"/sandboxes/team/shop/docs", fronts.Options{}, ""},
		{"/sandboxes/a%22b/shop/docs", fronts.Options{Console: true}, ""},
		{"/docs", fronts.Options{Console: true}, ""},
	} {
		recorder, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, c.path, nil)
		if c.options.ConsoleURL != nil {
			request.Host = "pay.example.com"
		}
		fronts.New(c.options).ServeHTTP(recorder, request)
		text := recorder.Body.String()
		if recorder.Code != http.StatusOK || !strings.Contains(text, c.want) || strings.Contains(text, "Console of this sandbox") != (c.want != "") {
			t.Errorf("%s with %+v: %d, want %q", c.path, c.options, recorder.Code, c.want)
		}
	}
}

// The pages with all that they load stay small.
func TestDocsPagesAreSmall(t *testing.T) {
	t.Parallel()
	const limit = 250_000
	sum := 0
	for _, path := range docsPages()[:len(docsPages())/2] {
		recorder, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Accept-Encoding", "gzip")
		fronts.New(fronts.Options{}).ServeHTTP(recorder, request)
		if recorder.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is not compressed: %s", path, recorder.Header())
		}
		sum += recorder.Body.Len()
	}
	for name, size := range assets.Sizes() {
		if !strings.Contains(name, "htmx") && !strings.Contains(name, "console.js") {
			sum += size
		}
	}
	if sum > limit || sum < 50_000 {
		t.Errorf("%d bytes, at most %d are allowed", sum, limit)
	}
}

// The examples of events verify, with the code that stands beside them, at the time at which they were sent.
func TestVerificationThatIsShown(t *testing.T) {
	t.Parallel()
	_, page := docsPage(t, "/docs")
	elements := byID(t, page)
	secret := textOf(slices.DeleteFunc(all(elements["verification"], "code"), func(n *html.Node) bool {
		return !strings.HasPrefix(textOf(n), "whsec_")
	})[0])
	for _, kind := range payments.Types {
		blocks := all(elements[kind.Event()], "pre")
		body, header := textOf(blocks[2]), http.Header{} // the second one is indented
		for line := range strings.Lines(textOf(blocks[0])) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			header.Set(name, value)
		}
		seconds, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if !verify.Verified(header, []byte(body), secret, time.Unix(seconds, 0)) {
			t.Errorf("%s does not verify with %s:\n%s\n%s", kind.Event(), secret, header, body)
		}
	}
}

// HEAD answers as GET, and a browser that asks for nothing is led to the page. A program reads where the page is.
func TestDocsPageIsFound(t *testing.T) {
	call := func(method, path, accept string) *httptest.ResponseRecorder {
		recorder, request := httptest.NewRecorder(), httptest.NewRequest(method, path, nil)
		request.Header.Set("Accept", accept)
		fronts.New(fronts.Options{}).ServeHTTP(recorder, request)
		return recorder
	}
	for _, path := range []string{"/docs", "/sandboxes/team/shop/docs"} {
		if got := call(http.MethodHead, path, "*/*"); got.Code != http.StatusOK || got.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("HEAD %s answered %d %s", path, got.Code, got.Header())
		}
	}
	if got := call(http.MethodPatch, "/docs", "*/*"); got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("PATCH /docs answered %d %s", got.Code, got.Header())
	}
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for path, page := range map[string]string{
		"/": "/docs", "/sandboxes/team/shop": "/sandboxes/team/shop/docs", "/sandboxes/team/shop/": "/sandboxes/team/shop/docs",
	} {
		if got := call(http.MethodGet, path, browser); got.Code != http.StatusSeeOther || got.Header().Get("Location") != page ||
			got.Header().Get("Vary") != "Accept" {
			t.Errorf("a browser gets %d %s at %s", got.Code, got.Header(), path)
		}
		if got := call(http.MethodHead, path, browser); got.Code != http.StatusSeeOther || got.Header().Get("Location") != page {
			t.Errorf("HEAD of a browser gets %d %s at %s", got.Code, got.Header(), path)
		}
		got := call(http.MethodGet, path, "application/json")
		if body := got.Body.String(); got.Code != http.StatusNotFound || !strings.Contains(body, "/docs") || !strings.Contains(body, "/v1/meta") {
			t.Errorf("a program gets %d %s at %s", got.Code, body, path)
		}
	}
	for _, path := range []string{"/v2", "/sandboxes/team", "//team", "/sandboxes/team/shop/v2"} {
		if got := call(http.MethodGet, path, browser); got.Code != http.StatusNotFound {
			t.Errorf("a browser gets %d at %s", got.Code, path)
		}
	}
}

// Each error leads to its line of the page, at the address that was called.
func TestErrorsLeadToTheirExplanation(t *testing.T) {
	_, page := docsPage(t, "/docs")
	elements := byID(t, page)
	for path, prefix := range map[string]string{
		"/nothing": "", "/v1/payments": "", "/api/v1/payments": "", "/sandboxes/team/shop/v1/payments": "/sandboxes/team/shop",
		"/sandboxes/team/shop/api/v1/payments": "/sandboxes/team/shop", "/sandboxes/a%3E%0Ab/c/v1/payments": "/sandboxes/a%3E%0Ab/c",
	} {
		recorder := httptest.NewRecorder()
		fronts.New(fronts.Options{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
		var said wire.Error
		if err := json.Unmarshal(recorder.Body.Bytes(), &said); err != nil {
			t.Fatal(err)
		}
		if got, want := recorder.Header().Get("Link"), "<"+prefix+"/docs#error-"+said.Code+`>; rel="help"`; got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
		if elements["error-"+said.Code] == nil {
			t.Errorf("the page does not explain %s", said.Code)
		}
	}
}
