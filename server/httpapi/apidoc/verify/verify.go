// Package verify has the code of the documentation that verifies the signatures of a webhook.
package verify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Verified reports whether a delivery is genuine and at most five minutes old. body is the unchanged body of the
// request. secret is the value of the key webhook-signing-secret in the sandbox's Secret. After a rotation, the new and
// the previous secret verify.
func Verified(header http.Header, body []byte, secret string, now time.Time) bool {
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if secret == "" || err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	want := "sha256=" + hex.EncodeToString(sign([]byte(secret), body))
	if !equal(header.Get("X-Service-Signature"), want) && !equal(header.Get("X-Service-Signature-Previous"), want) {
		return false
	}
	key := []byte(secret)
	if encoded, found := strings.CutPrefix(secret, "whsec_"); found {
		key, _ = base64.StdEncoding.DecodeString(encoded)
	}
	want = "v1," + base64.StdEncoding.EncodeToString(sign(key, []byte(id+"."+sentAt+"."), body))
	for one := range strings.FieldsSeq(header.Get("webhook-signature")) {
		if equal(one, want) {
			return true
		}
	}
	return false
}

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// equal compares in constant time.
func equal(got, want string) bool { return hmac.Equal([]byte(got), []byte(want)) }
