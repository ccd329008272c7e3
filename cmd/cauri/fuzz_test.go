package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// FuzzListen checks that `cauri listen` acknowledges nothing that was not signed, and prints one line of it.
func FuzzListen(f *testing.F) {
	f.Add([]byte(listenedEvent), webhooks.Signature(listenSecret, []byte(listenedEvent)), "evt_1", "1780228800",
		webhooks.StandardSignature(listenSecret, "evt_1", listenedAt, []byte(listenedEvent)))
	f.Add([]byte(`{"event":"a\nb"}`), "sha256=", "", "", "v1,")
	f.Fuzz(func(t *testing.T, body []byte, signature, id, at, standard string) {
		_, verified := deliver(t, &receiver{secret: listenSecret}, string(body), func(r *http.Request) { // signed, whatever it is
			r.Header.Set(webhooks.HeaderDelivery, id)
		})
		answer, printed := deliver(t, &receiver{secret: listenSecret}, string(body), func(r *http.Request) {
			r.Header, r.URL.Path = http.Header{}, "/"+id
			r.Header.Set(webhooks.HeaderSignature, signature)
			r.Header.Set(webhooks.HeaderStandardID, id)
			r.Header.Set(webhooks.HeaderStandardTimestamp, at)
			r.Header.Set(webhooks.HeaderStandardSignature, standard)
		})
		if answer.Code/100 == 2 && string(body) != listenedEvent {
			t.Errorf("%q was acknowledged", body)
		}
		for _, line := range []string{verified, printed} {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl) {
				t.Errorf("more than a line is printed: %q", line)
			}
		}
		if strings.Contains(printed, listenSecret) || strings.Contains(answer.Body.String(), listenSecret) {
			t.Errorf("the secret is shown: %s", printed)
		}
	})
}

// FuzzSummary checks that what an event prints stays on its line, and moves no terminal.
func FuzzSummary(f *testing.F) {
	f.Add([]byte(listenedEvent))
	f.Add([]byte(`{"event":"a\nb","reference":"\u001b[2J"}`))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if line := summary(body); strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("%q is shown as %q", body, line)
		}
	})
}

// FuzzBaseURL checks that a base URL is absolute, and that a sandbox's path can stand behind it.
func FuzzBaseURL(f *testing.F) {
	for _, seed := range []string{"http://localhost:8080", "https://pay.example.com/", "https://a/b?c#d", "ftp://a", "http://", "//a",
		"http://%zz", "http://[::1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseBaseURL(text)
		if err != nil {
			return
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
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
		client := &http.Client{Transport: answering(func() *http.Response {
			return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		})}
		trial := &trial{options: tryOptions{url: "http://sandbox", apiKey: "the-key", amount: 100}, client: client, out: httptest.NewRecorder()}
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
