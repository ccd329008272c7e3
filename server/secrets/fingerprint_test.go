package secrets_test

import (
	"testing"

	"github.com/cauri-dev/cauri/server/secrets"
)

// The documents say how a merchant computes it: printf %s "$SECRET" | sha256sum | cut -c1-8.
func TestFingerprint(t *testing.T) {
	if got := secrets.Fingerprint("abc"); got != "ba7816bf" {
		t.Errorf("the fingerprint is %s", got)
	}
}
