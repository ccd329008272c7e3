package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// readAs is what a server answers to a program that reads. It needs no database.
func readAs(o fronts.Options, at, accept string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, at, nil)
	r.Header.Set("Accept", accept)
	fronts.New(o).ServeHTTP(w, r)
	return w
}

// Links of what a program reads lead to what it can read, at the address where it read.
func TestTextsForProgramsLinkEachOther(t *testing.T) {
	t.Parallel()
	server := fronts.New(fronts.Options{})
	link := regexp.MustCompile(`\]\(([^)\s#]+)`)
	code := regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```$|`[^`\n]*`")
	for _, base := range []string{"http://127.0.0.1:8080", "http://api.test/sandboxes/team/checkout"} {
		read, waiting := map[string]bool{}, []string{base + "/llms.txt", base + "/docs/README.md"}
		for len(waiting) > 0 {
			at := waiting[0]
			waiting = waiting[1:]
			if read[at] {
				continue
			}
			read[at] = true
			w := httptest.NewRecorder()
			server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, nil))
			if w.Code != http.StatusOK {
				t.Errorf("%s answers %d", at, w.Code)
			}
			if strings.Contains(at, "/v1/") || strings.HasSuffix(at, "-full.txt") {
				continue
			}
			from, err := url.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(w.Body.String(), ""), -1) {
				to, err := from.Parse(found[1])
				if err != nil {
					t.Errorf("%s links to %q: %v", at, found[1], err)
				} else if to.Host == from.Host {
					waiting = append(waiting, to.String())
				}
			}
		}
		if len(read) < 130 {
			t.Errorf("under %s a program finds only %d texts", base, len(read))
		}
	}
}

func TestOperationsAsMarkdown(t *testing.T) {
	t.Parallel()
	for _, o := range apidoc.Operations {
		got := servedAt(t, "http://api.test/sandboxes/team/checkout/docs/api/"+o.ID+".md")
		text := got.Body.String()
		if len(text) > 8000 || got.Header().Get("Content-Type") != "text/markdown; charset=utf-8" {
			t.Errorf("%s has %d bytes, %v", o.ID, len(text), got.Header())
		}
		for _, want := range []string{"`" + o.Method + " " + o.Path + "`", "\n## Answers\n", "`internal`: Repeat the request"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", o.ID, want, text)
			}
		}
		if len(o.Examples) > 0 && !strings.Contains(text, `curl -sS "http://api.test/sandboxes/team/checkout/api/v1/`) {
			t.Errorf("%s has no example of this address:\n%s", o.ID, text)
		}
	}
}

// A page is there as Markdown too: a program asks for it, or follows the link of the page.
func TestPagesAsMarkdown(t *testing.T) {
	t.Parallel()
	for page, title := range map[string]string{"/docs": "# Cauri API\n", "/docs/mtn": "# MTN's own API\n", "/docs/webhooks": "# Webhooks"} {
		for accept, want := range map[string]bool{
			"text/markdown": true, "text/markdown, text/html;q=0.5": true, "text/html;q=0.5, text/markdown;q=0.4": page == "/docs/webhooks",
			"text/html, */*": page == "/docs/webhooks", "*/*": page == "/docs/webhooks", "text/markdown;q=0": page == "/docs/webhooks",
		} {
			got := readAs(fronts.Options{}, "http://api.test/sandboxes/team/checkout"+page, accept)
			if is := strings.HasPrefix(got.Body.String(), title); is != want || got.Code != http.StatusOK {
				t.Errorf("%s with Accept: %s answers %d %.60s", page, accept, got.Code, got.Body)
			}
			if vary := got.Header().Get("Vary"); page != "/docs/webhooks" && !strings.HasPrefix(vary, "Accept,") {
				t.Errorf("%s with Accept: %s varies by %s", page, accept, vary)
			}
		}
		if page == "/docs/webhooks" {
			continue
		}
		html := readAs(fronts.Options{}, "http://api.test/sandboxes/team/checkout"+page, "text/html").Body.String()
		_, to, _ := strings.Cut(html, `<link rel="alternate" type="text/markdown" href="`)
		to, _, _ = strings.Cut(to, `"`)
		from, _ := url.Parse("http://api.test/sandboxes/team/checkout" + page)
		at, err := from.Parse(to)
		if err != nil || !strings.HasPrefix(servedAt(t, at.String()).Body.String(), title) {
			t.Errorf("%s links to %s: %v", page, to, err)
		}
	}
}

// A stranger reads the same of a sandbox that is there and of one that is not, also under a name of somebody else.
func TestTextsTellNothingOfASandbox(t *testing.T) {
	f := newFixture(t)
	own := f.config
	own.Environments = []sandboxes.EnvironmentConfig{{Operator: payments.Orange, Country: payments.CoteDIvoire, Enabled: true}}
	f.sandbox(own, key)
	get := func(path string) (int, string) {
		response, err := http.Get(f.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	for _, path := range []string{"/llms.txt", "/llms-full.txt", "/docs.md", "/docs/api/createPayment.md", "/docs/webhooks.md", "/docs/fr/api.md", "/docs/none.md"} {
		status, known := get("/sandboxes/team/checkout" + path)
		without, unknown := get("/sandboxes/team/checkouz" + path)
		if strings.ReplaceAll(unknown, "checkouz", "checkout") != known || status != without {
			t.Errorf("%s of a sandbox that is there answers %d and %d bytes, of another %d and %d", path, status, len(known), without, len(unknown))
		}
		if strings.Contains(known, key) {
			t.Errorf("%s has a secret", path)
		}
	}
}

// Who is asked under a name of somebody else gives the links of the service.
func TestTextsUnderAForeignName(t *testing.T) {
	t.Parallel()
	public, err := url.Parse("https://pay.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"evil.example": "https://pay.example.com", "pay.example.com": "https://pay.example.com", "127.0.0.1:8080": "http://127.0.0.1:8080",
		"cauri-api.cauri-system.svc:8080": "http://cauri-api.cauri-system.svc:8080",
	} {
		for _, path := range []string{"/llms.txt", "/llms-full.txt"} {
			text := readAs(fronts.Options{BaseURL: public}, "http://"+host+"/sandboxes/team/checkout"+path, "").Body.String()
			if !strings.Contains(text, want+"/sandboxes/team/checkout/docs/") || strings.Contains(text, "evil") {
				t.Errorf("%s under %s:\n%.3000s", path, host, text)
			}
		}
	}
	refusing := fronts.Options{RefusedHost: func(r *http.Request) string { return r.Host }}
	if got := readAs(refusing, "http://evil.example/llms.txt", ""); got.Code != http.StatusMisdirectedRequest {
		t.Errorf("on a developer's machine it answers %d: %s", got.Code, got.Body)
	}
}
