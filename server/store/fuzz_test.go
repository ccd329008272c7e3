package store

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
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
		sealed, err := ring.seal(rand.Reader, owner, secret)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ring.open(owner, sealed); err != nil || back != secret {
			t.Errorf("%q is opened as %q, %v", secret, back, err)
		}
		if _, err := ring.open(owner+"x", sealed); !errors.Is(err, ErrSealed) {
			t.Errorf("another sandbox opens it: %v", err)
		}
		sealed[len(sealed)-1] ^= 1
		if _, err := ring.open(owner, sealed); !errors.Is(err, ErrSealed) {
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
	sealed, err := ring.seal(bytes.NewReader(make([]byte, 64)), "uid", "secret")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(sealed[:4])
	f.Add(sealed[:20])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, changed []byte) {
		if secret, err := ring.open("uid", changed); err == nil && !bytes.Equal(changed, sealed) {
			t.Errorf("%x is opened as %q", changed, secret)
		} else if err != nil && !errors.Is(err, ErrSealed) {
			t.Errorf("%x: %v", changed, err)
		}
	})
}

// FuzzStoredCredentials checks that an operator's credentials come back as they were stored.
func FuzzStoredCredentials(f *testing.F) {
	ring, err := ParseKeyRing("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	if err != nil {
		f.Fatal(err)
	}
	s := &Store{keys: ring, random: rand.Reader}
	f.Add("id", "secret", "key", []byte(`{"ClientID":1}`))
	f.Add("", "\x00", "\u2028", []byte(`null`))
	f.Fuzz(func(t *testing.T, id, secret, key string, stored []byte) {
		for _, text := range []string{id, secret, key} {
			if strings.ToValidUTF8(text, "") != text {
				return // a Secret of Kubernetes may hold any bytes; the controller refuses such ones
			}
		}
		given := OperatorCredentials{ClientID: id, ClientSecret: secret, SubscriptionKey: key}
		sealed, err := s.sealAccess("uid", given)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := s.openAccess("uid", sealed); err != nil || back != given {
			t.Errorf("%q, %q, %q come back as %#v, %v", id, secret, key, struct{ OperatorCredentials }{back}, err)
		}
		if sealed, err = ring.seal(rand.Reader, "uid", string(stored)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.openAccess("uid", sealed); (err == nil) != (json.Unmarshal(stored, &OperatorCredentials{}) == nil) {
			t.Errorf("%q is read with %v", stored, err)
		}
	})
}
