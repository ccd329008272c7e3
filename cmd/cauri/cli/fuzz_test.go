package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
		if line := eventSummary(body).Layout(time.Now(), 0, false); strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("%q is shown as %q", body, line)
		}
	})
}

// FuzzCapturedRequest checks that the body of a captured request is what stands behind its headers, byte for byte.
func FuzzCapturedRequest(f *testing.F) {
	f.Add("POST /hooks HTTP/1.1\r\nX-Service-Signature: sha256=00\r\n\r\n" + listenedEvent)
	f.Add("webhook-id: evt_1\n\n\r\n")
	f.Add("POST ")
	f.Fuzz(func(t *testing.T, request string) {
		header, body, err := captured(strings.NewReader(request), "")
		if err != nil {
			return
		}
		if !strings.HasSuffix(request, string(body)) {
			t.Errorf("the body of %q is read as %q", request, body)
		}
		if _, err := verify(header, body, listenSecret, listenedAt, false); err == nil && string(body) != listenedEvent {
			t.Errorf("%q is verified", request)
		}
	})
}

// FuzzEnvFile checks that a file of variables says what was written into it.
func FuzzEnvFile(f *testing.F) {
	f.Add("CAURI_URI", "http://127.0.0.1:8080/sandboxes/default/shop")
	f.Add("A", "b=c")
	f.Add("CAURI_WEBHOOK_SECRET", ` it's a "secret" of $HOME\ and 'more'=`)
	f.Add("CAURI_WEBHOOK_SECRET", `ends with a quote'`)
	f.Fuzz(func(t *testing.T, name, value string) {
		if name == "" || strings.ContainsAny(name, "=#\r\n") || strings.ContainsAny(value, "\r\n") ||
			strings.TrimSpace(name) != name || strings.HasPrefix(name, "export ") {
			return
		}
		path := filepath.Join(t.TempDir(), "env")
		if err := os.WriteFile(path, []byte("# a comment\nexport "+EnvLine(name, value)), 0o600); err != nil {
			t.Fatal(err)
		}
		values, err := ReadEnvFile(path)
		if err != nil || values[name] != value || len(values) != 1 {
			t.Errorf("%q=%q is read as %q, %v", name, value, values, err)
		}
	})
}
