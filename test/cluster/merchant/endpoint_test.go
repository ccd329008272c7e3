package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

var secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret that signs"))

const paid = `{"event":"payment.completed","tx_id":"TX_1","status":"SUCCESS"}`

// signed is a delivery as a worker makes it.
func signed(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/checkout", strings.NewReader(body))
	digest := hmac.New(sha256.New, []byte(secret))
	digest.Write([]byte(body))
	r.Header.Set("X-Service-Event", "payment.completed")
	r.Header.Set("X-Service-Delivery", "evt_1")
	r.Header.Set("X-Service-Signature", "sha256="+hex.EncodeToString(digest.Sum(nil)))
	now := fmt.Sprint(time.Now().Unix())
	standard := hmac.New(sha256.New, []byte("a secret that signs"))
	fmt.Fprintf(standard, "evt_1.%s.%s", now, body)
	r.Header.Set("webhook-id", "evt_1")
	r.Header.Set("webhook-timestamp", now)
	r.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(standard.Sum(nil)))
	return r
}

func TestEndpointTakesWhatIsSignedBothWays(t *testing.T) {
	t.Parallel()
	routes := newMerchant(map[string]binding{"checkout": {name: "checkout", secret: secret}}).routes()
	deliver := func(change func(*http.Request)) int {
		r, w := signed(paid), httptest.NewRecorder()
		change(r)
		routes.ServeHTTP(w, r)
		return w.Code
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	cases := map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"as it is":              {func(*http.Request) {}, http.StatusNoContent},
		"again":                 {func(*http.Request) {}, http.StatusNoContent},
		"another signature":     {header("X-Service-Signature", "sha256=00"), http.StatusUnauthorized},
		"no standard signature": {header("webhook-signature", ""), http.StatusUnauthorized},
		"another event":         {header("X-Service-Event", "payment.refunded"), http.StatusUnauthorized},
		"another binding":       {func(r *http.Request) { r.URL.Path = "/webhooks/none" }, http.StatusNotFound},
	}
	for name, c := range cases {
		if got := deliver(c.change); got != c.want {
			t.Errorf("%s: answered %d, want %d", name, got, c.want)
		}
	}
	w := httptest.NewRecorder()
	routes.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/arrivals/checkout", nil))
	var got merchantapi.Arrivals
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]merchantapi.Event{"evt_1": {Event: "payment.completed", TransactionID: "TX_1", Status: "SUCCESS", Arrived: 2}}
	if diff := cmp.Diff(want, got.Events); diff != "" || len(got.Refused) != 3 {
		t.Errorf("it refused %v, and took (-want +got):\n%s", got.Refused, diff)
	}
}

func TestReadBindings(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put := func(folder, name, text string) {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("database", "type", "postgresql")
	if _, err := readBindings(root); err == nil {
		t.Error("a folder without a binding of ours is no error")
	}
	put("checkout", "type", "cauri\n")
	put("checkout", "uri", "http://api")
	put("checkout", "api-key", "key")
	if _, err := readBindings(root); err == nil {
		t.Error("a binding without a signing secret is no error")
	}
	put("checkout", "webhook-signing-secret", secret)
	got, err := readBindings(root)
	want := binding{name: "checkout", uri: "http://api", key: "key", secret: secret}
	if err != nil || len(got) != 1 || got["checkout"] != want {
		t.Errorf("read %v, %v; want %v", got, err, want)
	}
}
