package secrets_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/secrets"
)

// newKey makes a line of a key file.
func newKey(t *testing.T) string {
	t.Helper()
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(key)
}

func ring(t *testing.T, keys ...string) *secrets.KeyRing {
	t.Helper()
	r, err := secrets.ParseKeyRing(strings.Join(keys, "\n") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func seal(t *testing.T, r *secrets.KeyRing, owner, secret string) []byte {
	t.Helper()
	sealed, err := r.Seal(rand.Reader, owner, secret)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestKeyRingRotation(t *testing.T) {
	t.Parallel()
	older, newer := newKey(t), newKey(t)
	sealed := map[string][]byte{
		"old": seal(t, ring(t, older), "owner", "whsec_1"), "new": seal(t, ring(t, newer, older), "owner", "whsec_1"),
	}
	cases := map[string]struct {
		ring  *secrets.KeyRing
		opens map[string]bool
	}{
		"before":       {ring(t, older), map[string]bool{"old": true}},
		"new is ahead": {ring(t, newer, older), map[string]bool{"old": true, "new": true}},
		"new is last":  {ring(t, older, newer), map[string]bool{"old": true, "new": true}},
		"after":        {ring(t, newer), map[string]bool{"new": true}},
		"neither":      {ring(t, newKey(t)), nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for by, text := range sealed {
				secret, err := c.ring.Open("owner", text)
				if (err == nil) != c.opens[by] || err == nil && secret != "whsec_1" {
					t.Errorf("sealed by the %s key: got %q, %v", by, secret, err)
				}
			}
		})
	}
}

func TestKeyRingSealsEachTimeAnew(t *testing.T) {
	t.Parallel()
	r := ring(t, newKey(t))
	first, second := seal(t, r, "owner", "secret"), seal(t, r, "owner", "secret")
	if string(first) == string(second) {
		t.Error("a secret was sealed twice in the same way")
	}
}

func TestKeyRingOpensOnlyWhatItSealed(t *testing.T) {
	t.Parallel()
	r := ring(t, newKey(t))
	sealed := seal(t, r, "owner", "the secret itself")
	check := func(what, owner string, text []byte) {
		t.Helper()
		secret, err := r.Open(owner, text)
		if err == nil || secret != "" || strings.Contains(err.Error(), "the secret") {
			t.Errorf("%s: got %q, %v", what, secret, err)
		}
	}
	check("another owner", "other", sealed)
	check("no owner", "", sealed)
	for i := range sealed {
		check("cut", "owner", sealed[:i])
		changed := append([]byte(nil), sealed...)
		changed[i] ^= 1
		check("changed", "owner", changed)
	}
	check("longer", "owner", append(append([]byte(nil), sealed...), 0))
}

func TestKeyRingIsNeeded(t *testing.T) {
	t.Parallel()
	if _, err := (*secrets.KeyRing)(nil).Seal(rand.Reader, "owner", "secret"); !errors.Is(err, secrets.ErrNoKeyRing) {
		t.Errorf("sealing: %v", err)
	}
	if _, err := (*secrets.KeyRing)(nil).Open("owner", []byte("sealed")); !errors.Is(err, secrets.ErrNoKeyRing) {
		t.Errorf("opening: %v", err)
	}
}

func TestParseKeyRing(t *testing.T) {
	t.Parallel()
	good, short := newKey(t), base64.StdEncoding.EncodeToString([]byte("sixteen bytes ok"))
	cases := map[string]struct{ text, wrong string }{
		"one":              {good, ""},
		"line break":       {good + "\n", ""},
		"Windows":          {good + "\r\n" + good + "\r\n", ""},
		"blank lines":      {"\n\n" + good + "\n\n", ""},
		"nothing":          {"", "there is no key"},
		"blanks":           {" \n\t", "there is no key"},
		"too short":        {short, "key 1 is not 32 bytes"},
		"too long":         {base64.StdEncoding.EncodeToString(make([]byte, 33)), "key 1 is not 32 bytes"},
		"the second":       {good + "\n" + short, "key 2 is not 32 bytes"},
		"hexadecimal":      {strings.Repeat("ab", 32), "key 1 is not 32 bytes"},
		"not base64":       {"!" + good[1:], "key 1 is not 32 bytes"},
		"raw bytes":        {strings.Repeat("k", 32), "key 1 is not 32 bytes"},
		"of another shape": {"key: " + good, "key 1 is not 32 bytes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := secrets.ParseKeyRing(c.text)
			switch {
			case c.wrong == "" && err != nil:
				t.Error(err)
			case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
				t.Errorf("got %v, want %q", err, c.wrong)
			}
			for _, line := range strings.Fields(c.text) {
				if err != nil && strings.Contains(err.Error(), line[:min(len(line), 12)]) && line != "key:" {
					t.Errorf("the error shows a key: %v", err)
				}
			}
		})
	}
}

func TestLoadKeyRing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	if _, err := secrets.LoadKeyRing(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	key := newKey(t)
	if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := secrets.LoadKeyRing(path)
	if err != nil {
		t.Fatal(err)
	}
	if secret, err := loaded.Open("owner", seal(t, ring(t, key), "owner", "secret")); secret != "secret" {
		t.Errorf("got %q, %v", secret, err)
	}
	if err := os.WriteFile(path, []byte(key[1:]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secrets.LoadKeyRing(path); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), key[1:9]) {
		t.Errorf("a bad file: %v", err)
	}
}

func TestKeyRingFollowsItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil { // as a mounted Secret changes, at one moment
			t.Fatal(err)
		}
	}
	older, newer := newKey(t), newKey(t)
	write(older)
	r, err := secrets.LoadKeyRing(path)
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, r, "owner", "secret")
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Follow(ctx, time.Millisecond) })
	defer running.Wait()
	defer stop()

	names := func(keys ...string) []string { return ring(t, keys...).Keys() }
	for _, lines := range [][]string{{older, newer}, {newer, older}} {
		write(lines...)
		eventually(t, func() bool { return slices.Equal(r.Keys(), names(lines...)) })
	}
	if got, err := r.Open("owner", sealed); got != "secret" {
		t.Errorf("what the older key sealed: %q, %v", got, err)
	}
	if got, err := ring(t, newer).Open("owner", seal(t, r, "owner", "secret")); got != "secret" {
		t.Errorf("what is sealed now, by the newer key: %q, %v", got, err)
	}
	write(newer)
	eventually(t, func() bool { return len(r.Keys()) == 1 })
	if _, err := r.Open("owner", sealed); !errors.Is(err, secrets.ErrSealed) {
		t.Errorf("without the older key: %v", err)
	}
}

// A file that is being written, or was deleted, takes no key away.
func TestKeyRingSurvivesABadFile(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "keys"), newKey(t)
	if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := secrets.LoadKeyRing(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func() error{
		"half a key": func() error { return os.WriteFile(path, []byte(key[:20]), 0o600) },
		"emptied":    func() error { return os.WriteFile(path, nil, 0o600) },
		"deleted":    func() error { return os.RemoveAll(path) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		changed, err := r.Reload()
		if changed || err == nil || !slices.Equal(r.Keys(), ring(t, key).Keys()) {
			t.Errorf("%s: changed %t, %v", what, changed, err)
		}
	}
	if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := r.Reload(); changed || err != nil {
		t.Errorf("the same key again: changed %t, %v", changed, err)
	}
}

// eventually waits for something to become true.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has not come true in a minute")
		}
	}
}
