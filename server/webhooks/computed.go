package webhooks

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/cauri-dev/cauri/server/secrets"
)

// Computed says what the code of a receiver computed where it should have computed a signature.
type Computed string

// What code computes.
const (
	ComputedRight     Computed = "right"      // a signature that was sent
	ComputedOtherForm Computed = "other_form" // the same, but not as the header has it: other digits, or no prefix
	ComputedNoSecret  Computed = "no_secret"  // with an empty key, or with the name of nothing in a language as the key
	ComputedNoKey     Computed = "no_key"     // a SHA-256 without a key
	ComputedNoHMAC    Computed = "no_hmac"    // no HMAC-SHA256: it has another length
	ComputedOtherKey  Computed = "other_key"  // none of these: with another key, or from other bytes
)

// emptyKeys are what code takes as its key if the variable that should have the secret has none.
var emptyKeys = []string{"", "undefined", "null", "None", "nil", "false", SecretPrefix}

// EmptyFingerprints are the fingerprints of an empty secret, and of one that is only a line break.
var EmptyFingerprints = []string{secrets.Fingerprint(""), secrets.Fingerprint("\n")}

// Recognize says what a value is that code computed from the message that e explains. It needs no secret.
func Recognize(value string, e *Explanation) Computed {
	value = strings.TrimSpace(value)
	sum, ok := digestIn(value)
	if !ok {
		return ComputedNoHMAC
	}
	for _, scheme := range e.Schemes {
		for _, one := range scheme.Signatures {
			if sent, _ := digestIn(one.Value); !bytes.Equal(sent, sum) {
				continue
			}
			if value == one.Value {
				return ComputedRight
			}
			return ComputedOtherForm
		}
	}
	for _, scheme := range e.Schemes {
		message := append([]byte(scheme.Before), scheme.Signed...)
		if plain := sha256.Sum256(message); bytes.Equal(plain[:], sum) {
			return ComputedNoKey
		}
		for _, key := range emptyKeys {
			if hmac.Equal(mac([]byte(key), message), sum) {
				return ComputedNoSecret
			}
		}
	}
	return ComputedOtherKey
}

// digestIn returns the 32 bytes that a text has in hex or in base64, with or without the prefix of a header.
func digestIn(text string) (sum []byte, ok bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "sha256="), "v1,")
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString, base64.URLEncoding.DecodeString,
		base64.RawURLEncoding.DecodeString,
	} {
		if sum, err := decode(text); err == nil && len(sum) == sha256.Size {
			return sum, true
		}
	}
	return nil, false
}
