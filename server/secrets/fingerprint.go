package secrets

import (
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint returns a text that tells secrets apart and shows none of them: the first 8 hexadecimal digits of the
// SHA-256 of the secret's text.
func Fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:4])
}
