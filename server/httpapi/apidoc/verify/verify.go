// Package verify is the check of a webhook's signature that the documentation shows.
package verify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Verified reports whether a delivery is genuine. The body is what arrived, byte for byte; signature is the header
// X-Service-Signature, or X-Service-Signature-Previous, which is there for 24 hours after a rotation of the secret: accept if
// either matches. secret is the sandbox's webhook-signing-secret, exactly as it is in the Secret.
func Verified(body []byte, signature, secret string) bool {
	if secret == "" {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(signature), []byte(want))
}
