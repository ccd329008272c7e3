package apidoc_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// discarded is an answer that nobody reads.
type discarded struct {
	header http.Header
	bytes  uint64
}

func (d *discarded) Header() http.Header { return d.header }
func (d *discarded) WriteHeader(int)     {}
func (d *discarded) Write(p []byte) (int, error) {
	d.bytes += uint64(len(p))
	return len(p), nil
}

// Anybody may ask for the page on many connections and not read it: its answers share the text. The test is not parallel,
// since it counts what is allocated.
func TestAnswersWithThePageShareItsText(t *testing.T) {
	page := apidoc.Pages(apidoc.Hosts{Console: true})[apidoc.PagePath]
	ask := func() (size, allocated uint64) {
		var before, after runtime.MemStats
		w := &discarded{header: http.Header{}}
		r := httptest.NewRequest(http.MethodGet, "http://a.example/sandboxes/team/checkout/docs", nil)
		runtime.ReadMemStats(&before)
		page.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		return w.bytes, after.TotalAlloc - before.TotalAlloc
	}
	ask() // makes the text
	if size, allocated := ask(); size < 300_000 || allocated > size/4 {
		t.Errorf("an answer of %d bytes takes %d bytes of memory", size, allocated)
	}
}

// A browser that kept a page asks with its ETag: after a restart without consoles, the page has no link to one.
func TestPageWithoutConsoleIsAnotherOne(t *testing.T) {
	t.Parallel()
	etags := map[string]bool{}
	for _, console := range []bool{true, false} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://a.example/sandboxes/team/checkout/docs", nil)
		apidoc.Pages(apidoc.Hosts{Console: console})[apidoc.PagePath].ServeHTTP(w, r)
		if linked := strings.Contains(w.Body.String(), `href="console"`); linked != console {
			t.Fatalf("a console: %t, and the page links one: %t", console, linked)
		}
		etags[w.Header().Get("ETag")] = true
	}
	if len(etags) != 2 || etags[""] {
		t.Errorf("the ETags are %v", etags)
	}
}

// A page of a sandbox has examples of its market. A page of none, and of another path, has the fixed ones.
func TestPageHasExamplesOfTheSandbox(t *testing.T) {
	t.Parallel()
	ci := sandboxes.Market{Operator: payments.Orange, Country: payments.CoteDIvoire}
	mtn := sandboxes.Market{Operator: payments.MTN, Country: payments.CoteDIvoire}
	rwanda := sandboxes.Market{Operator: payments.MTN, Country: payments.Rwanda}
	at := func(path string, markets ...sandboxes.Market) (string, string) {
		hosts := apidoc.Hosts{}
		if len(markets) > 0 {
			hosts.Sandbox = func(form string) *sandboxes.Sandbox {
				if form != "/sandboxes/team/checkout" {
					return nil
				}
				s := &sandboxes.Sandbox{Markets: markets, Environments: map[sandboxes.Market]sandboxes.Environment{}}
				for _, m := range markets {
					s.Environments[m] = sandboxes.Environment{Enabled: true}
				}
				return s
			}
		}
		w := httptest.NewRecorder()
		apidoc.Pages(hosts)[path].ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://a.example/sandboxes/team/checkout"+path, nil))
		return w.Body.String(), w.Header().Get("ETag")
	}
	shown := func(markets ...sandboxes.Market) (string, string) { return at(apidoc.PagePath, markets...) }
	fixed, tag := shown()
	if same, again := shown(rwanda, ci); same != fixed || again != tag {
		t.Error("the page of a sandbox of MTN in Rwanda is another one")
	}
	request := func(page string) string {
		_, request, _ := strings.Cut(page, `<figure class="code request">`)
		request, _, _ = strings.Cut(request, "</figure>")
		return request
	}
	for name, test := range map[string]struct {
		markets []sandboxes.Market
		want    []string
	}{
		"Orange":             {[]sandboxes.Market{ci}, []string{"+2250707123456", "XOF", "&#34;orange&#34;", "&#34;CI&#34;"}},
		"Orange, Rwanda too": {[]sandboxes.Market{ci, rwanda}, []string{"+2250707123456", "XOF", "&#34;orange&#34;", "&#34;CI&#34;"}},
		"MTN too":            {[]sandboxes.Market{ci, rwanda, mtn}, []string{"+2250506123456", "XOF", "&#34;mtn&#34;", "&#34;CI&#34;"}},
	} {
		page, etag := shown(test.markets...)
		for _, want := range test.want {
			if !strings.Contains(request(page), want) {
				t.Errorf("%s: the first example lacks %s in\n%s", name, want, request(page))
			}
		}
		if strings.Contains(request(page), "+250") || strings.Contains(request(page), "RWF") || etag == tag {
			t.Errorf("%s: the first example is\n%s", name, request(page))
		}
	}
	ofRwanda, _ := at(apidoc.PagePath + "/mtn")
	if elsewhere, _ := at(apidoc.PagePath+"/mtn", ci); elsewhere != ofRwanda {
		t.Error("MTN's page of a sandbox without MTN is another one")
	}
	own, _ := at(apidoc.PagePath+"/mtn", ci, mtn, rwanda)
	figures := regexp.MustCompile(`(?s)<figure class="code.*?</figure>`).FindAllString(own, -1)
	code := strings.Join(figures, "\n")
	for text, want := range map[string]bool{"250788123456": false, "RWF": false, "mtnrwanda": false, "2250506123456": true, "XOF": true, "mtnivorycoast": true} {
		if strings.Contains(code, text) != want {
			t.Errorf("MTN's page of Côte d'Ivoire: an example has %s is %t", text, !want)
		}
	}
}
