package secrets_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"testing"

	"github.com/cauri-dev/cauri/server/secrets"
)

func TestEncodings(t *testing.T) {
	t.Parallel()
	const secret = "whsec_c2VjcmV0IG9mIGFub3RoZXIgc2FuZGJveA+/"
	forms := secrets.Encodings(secret)
	for _, want := range []string{
		secret, secret[len("whsec_"):], hex.EncodeToString([]byte(secret)), base64.RawStdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret[len("whsec_"):])), url.QueryEscape(secret),
	} {
		if !slices.Contains(forms, want) {
			t.Errorf("%q is not among %q", want, forms)
		}
	}
	// The bytes of a key are an everyday word at times, which is not to be hidden in each text.
	if forms := secrets.Encodings("whsec_dGVzdA=="); slices.Contains(forms, "test") {
		t.Errorf("the word test is among %q", forms)
	}
	for i := range forms[1:] {
		if len(forms[i+1]) > len(forms[i]) {
			t.Errorf("%q is before the longer %q", forms[i], forms[i+1])
		}
	}
}
