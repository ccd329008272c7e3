package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A client may close its side of the connection once it has sent its request, and read on. It gets its whole answer, from every route.
func TestHalfClosedConnectionIsAnswered(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	id := f.paid("paid")
	prompt := f.call("POST", "/v1/payments", payment("prompt")).body["id"].(string)
	tried := 0
	for path, item := range theContract(t).document["paths"].(object) {
		// A stream has no end: it ends when its client goes away. There is no check of a receiver without a webhook.
		if _, found := item.(object)["get"]; !found || path == "/v1/stream" || strings.HasPrefix(path, "/v1/receiver_checks") {
			continue
		}
		path = strings.NewReplacer("{msisdn}", url.PathEscape(alice), "{tx}", prompt, "/events/{id}", "/events/"+strings.Replace(id, "TX_", "evt_", 1), "{id}", id).
			Replace(path)
		tried++
		t.Run(path, func(t *testing.T) {
			for range 5 {
				answer, text := f.exchange("GET "+path+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+key+"\r\n\r\n", true)
				if answer.StatusCode != http.StatusOK || !json.Valid([]byte(text)) {
					t.Fatalf("answered %d: %q", answer.StatusCode, text)
				}
			}
		})
	}
	if tried < 8 {
		t.Errorf("only %d routes were tried", tried)
	}
	if answer, text := f.exchange(
		"GET /docs HTTP/1.1\r\nHost: x\r\n\r\n",
		true,
	); answer.StatusCode != http.StatusOK ||
		!strings.Contains(text, "</html>") {
		t.Errorf("the page is answered %d: %q", answer.StatusCode, text)
	}
	if answer, text := f.exchange(request("half", "success"), true); answer.StatusCode != http.StatusCreated || !json.Valid([]byte(text)) {
		t.Errorf("a payment is answered %d: %q", answer.StatusCode, text)
	}
	if answer, _ := f.exchange(
		"GET /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer unknown\r\n\r\n",
		true,
	); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("an unknown key is answered %d", answer.StatusCode)
	}
}
