package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

// FuzzBaseURL checks that a base URL is absolute, and that a sandbox's path can stand behind it.
func FuzzBaseURL(f *testing.F) {
	for _, seed := range []string{"http://localhost:8080", "https://pay.example.com/", "https://a/b?c#d", "ftp://a", "http://", "//a",
		"http://a/b", "http://a//", "http://u:p@a", "http://%zz", "http://[::1", "http://[::1%25lo]", "http://:80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseBaseURL("--base-url", text)
		if err != nil {
			return
		}
		host := url.URL{Scheme: u.Scheme, Host: u.Host}
		if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "%") || *u != host {
			t.Errorf("%q is read as %s", text, u)
		}
	})
}

// FuzzAnswerOfTheAPI checks that `cauri try` shows neither its key nor fails badly, whatever it is answered.
func FuzzAnswerOfTheAPI(f *testing.F) {
	f.Add(200, `{"data":[{"msisdn":"+250788000001","state":"Active","behavior":"Approve","balance":5000}]}`)
	f.Add(401, `{"error":"unauthorized","message":"no"}`)
	f.Add(503, `{"error":1}`)
	f.Add(200, `null`)
	f.Fuzz(func(t *testing.T, code int, body string) {
		if code < 200 || code > 599 {
			return
		}
		api := sandboxapi.New("http://sandbox", "the-key", answering(func() *http.Response {
			return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		}))
		trial := &trial{options: tryOptions{amount: 100}, api: api, out: httptest.NewRecorder()}
		payer, err := trial.findPayer(t.Context())
		if err != nil && strings.Contains(err.Error(), "the-key") && !strings.Contains(body, "the-key") {
			t.Errorf("%v", err)
		}
		if err == nil && (payer.State != "Active" || payer.Balance < 100 || code > 299) {
			t.Errorf("%d %q has the payer %+v", code, body, payer)
		}
	})
}

type answering func() *http.Response

func (f answering) RoundTrip(*http.Request) (*http.Response, error) { return f(), nil }
