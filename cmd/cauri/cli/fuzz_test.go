package cli

import (
	"net/http"
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
		if line := eventSummary(body); strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("%q is shown as %q", body, line)
		}
	})
}
