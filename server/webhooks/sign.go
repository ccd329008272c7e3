package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// SecretPrefix is the prefix of a signing secret in the Standard Webhooks form.
const SecretPrefix = "whsec_"

// Signature returns the value of X-Service-Signature: the HMAC-SHA256 of the body. The key is the text of the secret as
// the user sees it.
func Signature(secret string, body []byte) string {
	return "sha256=" + hex.EncodeToString(mac([]byte(secret), body))
}

// StandardSignature returns the value of webhook-signature for one secret, by the Standard Webhooks specification 1.0.
// The key is the decoded base64 text after whsec_. A secret of another form is the key itself.
func StandardSignature(secret, id string, at time.Time, body []byte) string {
	signed := append([]byte(id+"."+strconv.FormatInt(at.Unix(), 10)+"."), body...)
	return "v1," + base64.StdEncoding.EncodeToString(mac(standardKey(secret), signed))
}

// StandardSignatures returns the value of webhook-signature while previous secrets still sign. The signature of the
// current secret is first.
func StandardSignatures(secret string, previous []string, id string, at time.Time, body []byte) string {
	signatures := StandardSignature(secret, id, at, body)
	for _, one := range previous {
		signatures += " " + StandardSignature(one, id, at, body)
	}
	return signatures
}

func standardKey(secret string) []byte {
	if encoded, found := strings.CutPrefix(secret, SecretPrefix); found {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}

func mac(key, message []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(message)
	return h.Sum(nil)
}

// Reasons why [Verify] refuses a delivery.
var (
	ErrBadSignature         = errors.New(HeaderSignature + " is missing or does not match the body and the secret")
	ErrBadStandardSignature = errors.New(HeaderStandardSignature + " is missing or does not match the body and the secret")
	ErrBadTimestamp         = errors.New(HeaderStandardTimestamp + " is missing or more than five minutes away")
)

// tolerance is the largest difference between the timestamp of a delivery and now, against replays.
const tolerance = 5 * time.Minute

// Verify checks the signatures of a delivery as its receiver should: over the exact bytes that arrived, in constant time, before it parses
// anything. Without a secret it refuses everything. It returns [ErrBadSignature], [ErrBadStandardSignature] or [ErrBadTimestamp].
//
// During a rotation of the secret the previous secret signs too: in X-Service-Signature-Previous, and as one more signature in
// webhook-signature. Verify accepts a delivery if both kinds of signature match the secret of the receiver. Older secrets sign only in
// webhook-signature, which covers the body too.
func Verify(header http.Header, body []byte, secret string, now time.Time) error {
	if secret == "" {
		return ErrBadSignature
	}
	signature := []byte(Signature(secret, body))
	standard := strings.Fields(header.Get(HeaderStandardSignature))
	older := len(standard) > 2 // a secret older than the previous one signs too
	if !older && !hmac.Equal([]byte(header.Get(HeaderSignature)), signature) &&
		!hmac.Equal([]byte(header.Get(HeaderPreviousSignature)), signature) {
		return ErrBadSignature
	}
	seconds, err := strconv.ParseInt(header.Get(HeaderStandardTimestamp), 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return ErrBadTimestamp
	}
	want := []byte(StandardSignature(secret, header.Get(HeaderStandardID), time.Unix(seconds, 0), body))
	for _, one := range standard {
		if hmac.Equal([]byte(one), want) {
			return nil
		}
	}
	return ErrBadStandardSignature
}
