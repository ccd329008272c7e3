package console_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const guestsPhone = "+250788000001"

// guestWith returns a browser that has used a link for a role.
func (f *fixture) guestWith(role sandboxes.ConsoleRole) *browser {
	f.t.Helper()
	access := sandboxes.ConsoleAccess{Role: role}
	if role == sandboxes.ConsoleHandset {
		access.MSISDN = guestsPhone
	}
	b := f.browser()
	if got := b.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(access)}}); got.status != http.StatusSeeOther {
		f.t.Fatalf("the link answered %d", got.status)
	}
	return b
}

// streams opens streams until one is refused. It returns how many were opened, and the refusal.
func (b *browser) streams(ctx context.Context, path string, change ...func(*http.Request)) (opened int, refused *http.Response) {
	b.t.Helper()
	for ; opened <= 100; opened++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+path, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, each := range change {
			each(r)
		}
		got, err := b.client.Do(r)
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { _ = got.Body.Close() })
		if got.StatusCode != http.StatusOK {
			return opened, got
		}
	}
	return opened, nil
}

// Every session has a maximum number of streams. Sessions never use up all streams of the holder of the API key.
func TestStreamsOfSessionsAreBounded(t *testing.T) {
	f := newFixture(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	most := map[sandboxes.ConsoleRole]int{sandboxes.ConsoleHandset: 4, sandboxes.ConsoleViewer: 16, sandboxes.ConsoleFull: 16}
	for role, want := range most {
		if n, refused := f.guestWith(role).streams(ctx, checkout+"/stream"); n != want || refused.StatusCode != http.StatusTooManyRequests {
			t.Errorf("a session %s has %d streams, want %d, and then %d", role, n, want, refused.StatusCode)
		}
	}
	for _, role := range []sandboxes.ConsoleRole{sandboxes.ConsoleHandset, sandboxes.ConsoleViewer, sandboxes.ConsoleFull} {
		for i := 0; ; i++ {
			if n, _ := f.guestWith(role).streams(ctx, checkout+"/stream"); n == 0 {
				break
			} else if i > 30 {
				t.Fatalf("there is no end of streams of %s", role)
			}
		}
	}
	b := f.browser()
	withKey := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
	if n, refused := b.streams(ctx, "/sandboxes/team/checkout/v1/stream", withKey); n != 15 {
		t.Errorf("the API key has %d streams left, want 15, and then %d", n, refused.StatusCode)
	}
	if !f.signedIn(checkout, key).open(checkout) {
		t.Error("a page cannot be opened without a stream")
	}
}

// A guest who loads too many pages is refused. This affects neither the owner nor other guests, and removes no requests
// from the request log.
func TestGuestsWhoAskTooOften(t *testing.T) {
	f := newFixture(t)
	f.log.Add(requests.Entry{Tenant: f.of("checkout").Tenant, Kind: requests.Failed, Method: "POST", Path: "/v1/payments", Status: 400})
	for role, path := range map[sandboxes.ConsoleRole]string{
		sandboxes.ConsoleHandset: "/handsets/" + guestsPhone, sandboxes.ConsoleViewer: "/ledger",
	} {
		b, last := f.guestWith(role), answer{}
		for n := 0; last.status != http.StatusTooManyRequests; n++ {
			if last = b.get(checkout + path); n > 1000 {
				t.Fatalf("a thousand pages are answered, the last %d", last.status)
			}
		}
		last.has(t, "Too many requests")
		if last.header.Get("Retry-After") != "1" {
			t.Errorf("%s: the headers are %v", role, last.header)
		}
		for range 300 {
			b.send(http.MethodPost, checkout+"/sign-out", nil) // refused, because it has no form token
		}
		if got := f.guestWith(role).get(checkout + path); got.status == http.StatusTooManyRequests {
			t.Errorf("another guest with the role %s is refused", role)
		}
	}
	owner := f.signedIn(checkout, key)
	for range 150 {
		if !owner.open(checkout) {
			t.Fatal("the owner is refused")
		}
	}
	if err := f.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept, err := f.log.List(t.Context(), f.of("checkout").Tenant, requests.Filter{Status: http.StatusTooManyRequests}, nil, 1000)
	if err != nil || len(kept) != 1 || !kept[0].Guest {
		t.Errorf("of the requests that were too many, %d are in the log, %v", len(kept), err)
	}
	kept, err = f.log.List(t.Context(), f.of("checkout").Tenant, requests.Filter{Status: http.StatusBadRequest}, nil, 1000)
	if err != nil || len(kept) != 1 || kept[0].Guest {
		t.Errorf("of the owner's request, %d are in the log, %v", len(kept), err)
	}
}

// New sessions of guests end only old sessions of guests, not the owner's. The same applies to links.
func TestSessionsOfGuestsEndNoOther(t *testing.T) {
	f := newFixture(t)
	first, sandbox := f.signedIn(checkout, key), f.of("checkout")
	full := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull})
	access := sandboxes.ConsoleAccess{Role: sandboxes.ConsoleHandset, MSISDN: guestsPhone, MadeWith: sha256.Sum256([]byte(key))}
	for i := range sandboxes.MaxConsoleSessions {
		if _, _, err := f.store.AddConsoleSession(t.Context(), sandbox, access); err != nil {
			t.Fatal(err)
		}
		if i <= sandboxes.MaxConsoleLinks {
			f.link(access)
		}
	}
	if !first.open(checkout) {
		t.Error("the owner's session has ended")
	}
	if got := f.browser().send(http.MethodPost, checkout+"/link", url.Values{"token": {full}}); got.status != http.StatusSeeOther {
		t.Errorf("the owner's link answered %d", got.status)
	}
}

// A text without the form of a token is refused before any query. A wrong token is refused, and its answer shows
// nothing of the sandbox.
func TestTokensOfAnotherForm(t *testing.T) {
	f := newFixture(t)
	good := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull})
	for _, token := range []string{
		"", "x", good + "x", good[:len(good)-1], strings.Replace(good, "full", "owner", 1), strings.Replace(good, "_cl_", "_cs_", 1),
		strings.Replace(good, "full", "viewer", 1), " " + strings.ToUpper(good), sandboxes.NewConsoleLinkToken(sandboxes.ConsoleFull),
	} {
		if got := f.browser().send(http.MethodPost, checkout+"/link", url.Values{"token": {token}}); got.status != http.StatusGone {
			t.Errorf("the link %q answered %d", token, got.status)
		}
	}
	if got := f.browser().send(http.MethodPost, checkout+"/link", url.Values{"token": {good}}); got.status != http.StatusSeeOther {
		t.Errorf("the right link answered %d", got.status)
	}
}
