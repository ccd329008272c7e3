package sandboxes

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/secrets"
)

// FuzzStoredCredentials checks that an operator's credentials come back as they were stored.
func FuzzStoredCredentials(f *testing.F) {
	ring, err := secrets.ParseKeyRing("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	if err != nil {
		f.Fatal(err)
	}
	s := &Registry{keys: ring, random: rand.Reader}
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
		if back, err := s.OpenCredentials("uid", sealed); err != nil || back != given {
			t.Errorf("%q, %q, %q come back as %#v, %v", id, secret, key, struct{ OperatorCredentials }{back}, err)
		}
		if sealed, err = ring.Seal(rand.Reader, "uid", string(stored)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.OpenCredentials("uid", sealed); (err == nil) != (json.Unmarshal(stored, &OperatorCredentials{}) == nil) {
			t.Errorf("%q is read with %v", stored, err)
		}
	})
}
