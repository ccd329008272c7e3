package ledgertest

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/secrets"
)

// NewKey makes a line of a key file.
func NewKey(t *testing.T) string {
	t.Helper()
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(key)
}

// Ring makes a key ring of keys that [NewKey] made.
func Ring(t *testing.T, keys ...string) *secrets.KeyRing {
	t.Helper()
	r, err := secrets.ParseKeyRing(strings.Join(keys, "\n") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Seal seals a secret by a key ring.
func Seal(t *testing.T, r *secrets.KeyRing, owner, secret string) []byte {
	t.Helper()
	sealed, err := r.Seal(rand.Reader, owner, secret)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}
