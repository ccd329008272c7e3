package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// TestKeys follows a rotation of the encryption key with the command.
func TestKeys(t *testing.T) {
	url, path := ledgertest.URL(t), filepath.Join(t.TempDir(), "keys")
	older, newer := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)),
		base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{2}, 32))
	const olderName, newerName = "72cd6e84", "75877bb4"
	write := func(keys ...string) *ledgertest.Store {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(keys, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		ring, err := secrets.LoadKeyRing(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ledgertest.OpenWith(url, ledgertest.Options{KeyRing: ring})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	says := func(wantErr string, want ...string) {
		t.Helper()
		var out bytes.Buffer
		root := newRootCommand(false)
		root.SetOut(&out)
		root.SetArgs([]string{"keys", "--database-url=" + url, "--encryption-key-file=" + path})
		err := root.ExecuteContext(t.Context())
		if (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("got %v, want %q", err, wantErr)
		}
		var lines []string
		for line := range strings.Lines(out.String()) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		if diff := cmp.Diff(append([]string{"KEY IN THE FILE SECRETS"}, want...), lines); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(out.String(), older[:8]) || strings.Contains(out.String(), newer[:8]) {
			t.Error("a key is shown")
		}
	}

	s := write(older)
	config := sandboxes.Config{UID: "11111111-1111-1111-1111-111111111111", Namespace: "team", Name: "checkout"}
	if _, err := s.ApplySandbox(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyCredentials(t.Context(), config.UID, sandboxes.Credentials{SigningSecret: "whsec_MDEyMzQ1Njc4OTAxMjM0NQ=="}); err != nil {
		t.Fatal(err)
	}
	says("", olderName+" first 1")
	write(older, newer)
	says("", olderName+" first 1", newerName+" yes 0")
	s = write(newer, older)
	says("1 stored secret is not encrypted with the first key", newerName+" first 0", olderName+" yes 1")
	write(newer)
	says("1 stored secret is not encrypted with the first key", newerName+" first 0", olderName+" missing 1")
	if _, err := s.Reseal(t.Context()); err != nil {
		t.Fatal(err)
	}
	says("", newerName+" first 1")
}
