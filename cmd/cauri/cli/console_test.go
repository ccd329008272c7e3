package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// opened is what a browser shows at the address of a link.
func opened(t *testing.T, link string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("%s answered %d, %v", link, got.StatusCode, err)
	}
	return string(text)
}

func TestConsoleIsOpenedInABrowser(t *testing.T) {
	f := newFixture(t)
	var urls []string
	browser := func(works bool) Options {
		return Options{Browse: func(_ context.Context, url string) bool { urls = append(urls, url); return works }}
	}
	at := []string{"console", "--url=" + f.url, "--api-key=" + testKey}
	r := run(t, browser(true), at...)
	r.want(t, ExitSuccess, "opens the console of "+f.url+" once, within five minutes, with the role full", "It is open in your browser.")
	if link := strings.TrimSpace(r.out); len(urls) != 1 || urls[0] != link || !strings.Contains(opened(t, link), "look at everything, and change it") {
		t.Errorf("printed %q, opened %q", link, urls)
	}
	if r := run(t, browser(false), at...); r.err != nil || strings.Contains(r.progress, "in your browser") {
		t.Errorf("without a browser: %v, %s", r.err, r.progress)
	}
	urls = nil
	viewer := run(t, browser(true), append(at, "--print", "--role=viewer")...)
	viewer.want(t, ExitSuccess, "with the role viewer")
	if !strings.Contains(opened(t, strings.TrimSpace(viewer.out)), "look at everything, change nothing") {
		t.Errorf("the link of a viewer is %s", viewer.out)
	}
	handset := run(t, browser(true), append(at, "--print", "--msisdn="+alice)...)
	handset.want(t, ExitSuccess, "with the role handset")
	if !strings.Contains(opened(t, strings.TrimSpace(handset.out)), "use one phone") {
		t.Errorf("the link of a handset is %s", handset.out)
	}
	run(t, browser(true), append(at, "--msisdn=+250788999999")...).want(t, ExitRefused, "must be the number of a test client")
	run(t, browser(true), append(at, "--msisdn=")...).want(t, ExitUsage, "leave it out for a link to the whole sandbox")
	run(t, browser(true), append(at, "--role=viewer", "--msisdn="+alice)...).want(t, ExitUsage, "leave out --role")
	link := decoded[wire.ConsoleLink](t, run(t, browser(true), append(at, "-o", "json")...))
	if !strings.HasPrefix(link.URL, f.url+"/console/link?token=") || link.Role != "full" || urls != nil {
		t.Errorf("as JSON the link is %+v; opened %q", link, urls)
	}
	run(t, browser(true), append(at, "--role=handset")...).want(t, ExitUsage, "write full or viewer")
	run(t, browser(true), "console", "--url="+f.url, "--api-key=wrong").want(t, ExitRefused, "unauthorized")
}

// Through a port-forward the link leads to a port of this machine, which serves the console until the command ends.
func TestConsoleThroughAPortForward(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, "http://cauri-api.payments.svc/sandboxes/team/checkout")
	const pods = "/api/v1/namespaces/payments/pods"
	c.other["GET "+pods] = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"api-1"},
			"spec":{"containers":[{"ports":[{"name":"http","containerPort":8080}]}]}}]}`)
	}
	c.streams["POST "+pods+"/api-1/portforward"] = forwardTo(t, f.url, nil)
	ctx, interrupt := context.WithCancel(t.Context())
	var text, link string
	browse := func(_ context.Context, url string) bool {
		link = url
		go func() {
			defer interrupt()
			text = opened(t, url)
		}()
		return true
	}
	r := runWithin(ctx, t, Options{Plugin: true, Browse: browse}, "", "console", "checkout", "--port-forward", "--kubeconfig="+c.kubeconfig)
	r.want(t, ExitSuccess, "The console goes through a port-forward, until Ctrl-C.")
	if at, err := url.Parse(link); err != nil || at.Hostname() != "localhost" || at.Path != "/sandboxes/team/checkout/console/link" {
		t.Errorf("the link is %s, %v", link, err)
	}
	if !strings.Contains(text, "look at everything, and change it") {
		t.Errorf("the browser shows %s", text)
	}
}
