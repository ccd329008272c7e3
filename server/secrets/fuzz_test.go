package secrets

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
)

// FuzzKeyRing checks that a file of keys is either refused without being shown or opens what it sealed, for its owner alone.
func FuzzKeyRing(f *testing.F) {
	const key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	for _, seed := range []string{key, key + "\n" + key, "# " + key, "", "\n", key[:43], key + "=", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE"} {
		f.Add(seed, "uid", "whsec_x")
	}
	f.Fuzz(func(t *testing.T, text, owner, secret string) {
		ring, err := ParseKeyRing(text)
		if err != nil {
			for line := range strings.FieldsSeq(text) {
				if len(line) > 12 && strings.Contains(err.Error(), line) {
					t.Errorf("the error shows a key: %v", err)
				}
			}
			return
		}
		if len(ring.Keys()) != len(strings.Fields(text)) {
			t.Errorf("%q has %d keys", text, len(ring.Keys()))
		}
		sealed, err := ring.Seal(rand.Reader, owner, secret)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ring.Open(owner, sealed); err != nil || back != secret {
			t.Errorf("%q is opened as %q, %v", secret, back, err)
		}
		if _, err := ring.Open(owner+"x", sealed); !errors.Is(err, ErrSealed) {
			t.Errorf("another sandbox opens it: %v", err)
		}
		sealed[len(sealed)-1] ^= 1
		if _, err := ring.Open(owner, sealed); !errors.Is(err, ErrSealed) {
			t.Errorf("changed, it is opened: %v", err)
		}
	})
}

// FuzzSealed checks that nothing but what the key ring has sealed is opened.
func FuzzSealed(f *testing.F) {
	ring, err := ParseKeyRing("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := ring.Seal(bytes.NewReader(make([]byte, 64)), "uid", "secret")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(sealed[:4])
	f.Add(sealed[:20])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, changed []byte) {
		if secret, err := ring.Open("uid", changed); err == nil && !bytes.Equal(changed, sealed) {
			t.Errorf("%x is opened as %q", changed, secret)
		} else if err != nil && !errors.Is(err, ErrSealed) {
			t.Errorf("%x: %v", changed, err)
		}
	})
}
