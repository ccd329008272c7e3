package cli

import (
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
)

// The argument of the browser has no token, and leads to the link once, and only for a program of the user.
func TestBrowserGetsNoTokenAsArgument(t *testing.T) {
	t.Parallel()
	const link = "http://localhost:1/console/link?token=secret"
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(address string) (status int, location string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			return 0, ""
		}
		_ = answer.Body.Close()
		return answer.StatusCode, answer.Header.Get("Location")
	}
	mine := false
	whose := func(from, to netip.AddrPort) bool {
		if runtime.GOOS == "linux" && !isOwn(from, to) {
			t.Errorf("the connection from %s to %s is told to be of another user", from, to)
		}
		return mine
	}
	address, visited, err := offer(t.Context(), link, whose)
	if err != nil || strings.Contains(address, "secret") {
		t.Fatalf("the argument is %s, %v", address, err)
	}
	if status, location := get(address); status != http.StatusNotFound || location != "" {
		t.Errorf("another user is answered %d and led to %q", status, location)
	}
	mine = true
	if status, location := get(address[:len(address)-1]); status != http.StatusNotFound || location != "" {
		t.Errorf("another path is answered %d and led to %q", status, location)
	}
	if status, location := get(address); status != http.StatusSeeOther || location != link {
		t.Errorf("the browser is answered %d and led to %q", status, location)
	}
	<-visited
	if status, location := get(address); status != 0 || location != "" {
		t.Errorf("the second visit is answered %d and led to %q", status, location)
	}
}

func TestPageOfALinkIsPrivate(t *testing.T) {
	t.Parallel()
	path, err := pageWith("http://localhost:1/link?token=secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the page has the mode %v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `content="0;url=http://localhost:1/link?token=secret"`) {
		t.Errorf("the page is %s, %v", text, err)
	}
}
