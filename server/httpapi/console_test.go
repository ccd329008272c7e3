package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A link of the API opens the console once, and the API lists and ends what came of it.
func TestConsoleLinksAndSessions(t *testing.T) {
	f := newFixture(t)
	link := f.call("POST", "/v1/console_links", object{"role": "viewer"})
	ends, err := time.Parse(time.RFC3339, link.body["expiresAt"].(string))
	if link.status != http.StatusCreated || link.body["role"] != "viewer" || err != nil || time.Until(ends) > 5*time.Minute {
		t.Fatalf("the link: %d %s", link.status, link.raw)
	}
	address, err := url.Parse(link.body["url"].(string))
	if prefix := f.url + "/sandboxes/team/checkout/console/link?token=cauri_cl_viewer_"; err != nil || !strings.HasPrefix(address.String(), prefix) {
		t.Fatalf("the link leads to %s, want %s", address, prefix)
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	page := strings.TrimSuffix(address.String(), "?"+address.RawQuery)
	for _, want := range []int{http.StatusSeeOther, http.StatusGone} {
		got, err := browser.PostForm(page, address.Query())
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.StatusCode != want {
			t.Errorf("the button of the link answered %d, want %d", got.StatusCode, want)
		}
	}
	sessions := f.call("GET", "/v1/console_sessions", nil).body["data"].([]any)
	if len(sessions) != 1 || sessions[0].(object)["role"] != "viewer" {
		t.Fatalf("the sessions are %v", sessions)
	}
	if others := f.call("GET", "/v1/console_sessions", nil, withKey(otherKey)).body["data"].([]any); len(others) != 0 {
		t.Errorf("another sandbox has %v", others)
	}
	one := "/v1/console_sessions/" + sessions[0].(object)["id"].(string)
	if got := f.call("DELETE", one, nil, withKey(otherKey)); got.status != http.StatusNotFound {
		t.Errorf("another sandbox ends the session: %d", got.status)
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if got := f.call("DELETE", one, nil); got.status != want {
			t.Errorf("ending the session answered %d, want %d", got.status, want)
		}
	}
	if got := f.call("POST", "/v1/console_links", nil); got.status != http.StatusCreated || got.body["role"] != "full" {
		t.Errorf("a link without a body: %d %s", got.status, got.raw)
	}
	for _, body := range []object{{"role": "owner"}, {"role": nil}, {"role": ""}, {"msisdn": nil}, {"msisdn": ""}, {"role": nil, "msisdn": alice}} {
		if got := f.call("POST", "/v1/console_links", body); got.status != http.StatusBadRequest || len(got.wrongFields()) != 1 {
			t.Errorf("a link for %v: %d %s", body, got.status, got.raw)
		}
	}
	if got := f.call("DELETE", "/v1/console_sessions", nil); got.status != http.StatusNoContent {
		t.Errorf("ending all answered %d", got.status)
	}
	f.exec("do $$ begin if exists (select from console_links) then raise 'a link is left'; end if; end $$")
}

// A link with a number opens the phone of that test client and nothing else.
func TestConsoleLinkOfOnePhone(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	link := f.call("POST", "/v1/console_links", object{"msisdn": alice})
	if link.status != http.StatusCreated || link.body["role"] != "handset" || link.body["msisdn"] != alice {
		t.Fatalf("the link: %d %s", link.status, link.raw)
	}
	address, err := url.Parse(link.body["url"].(string))
	if err != nil || !strings.HasPrefix(address.Query().Get("token"), "cauri_cl_handset_") {
		t.Fatalf("the link leads to %s", link.raw)
	}
	got, err := http.PostForm(strings.TrimSuffix(address.String(), "?"+address.RawQuery), address.Query())
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	sessions := f.call("GET", "/v1/console_sessions", nil).body["data"].([]any)
	if len(sessions) != 1 || sessions[0].(object)["role"] != "handset" || sessions[0].(object)["msisdn"] != alice {
		t.Errorf("the sessions are %v", sessions)
	}
	for body, says := range map[string]string{
		`{"msisdn":"+250788999999"}`:                 "must be the number of a test client",
		`{"msisdn":"0788000001"}`:                    "E.164",
		`{"msisdn":"` + alice + `","role":"viewer"}`: "must be left out of a link with msisdn",
	} {
		if got := f.call("POST", "/v1/console_links", body); got.status != http.StatusBadRequest || !strings.Contains(got.raw, says) {
			t.Errorf("%s is answered %d %s", body, got.status, got.raw)
		}
	}
	if got := f.call("POST", "/v1/console_links", object{"msisdn": alice}, withKey(otherKey)); got.status != http.StatusBadRequest {
		t.Errorf("another sandbox has a link to the phone: %d %s", got.status, got.raw)
	}
}
