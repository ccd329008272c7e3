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

	"github.com/cauri-dev/cauri/server/secrets"
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
	return "v1," + base64.StdEncoding.EncodeToString(mac(standardKey(secret), []byte(signedBefore(id, at)), body))
}

// signedBefore returns the part of the signed text of webhook-signature that precedes the body.
func signedBefore(id string, at time.Time) string {
	return id + "." + strconv.FormatInt(at.Unix(), 10) + "."
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

// Signed has the values of a delivery's signature headers, and the fingerprints of the secrets.
type Signed struct {
	At        time.Time // time in webhook-timestamp
	Signature string    // X-Service-Signature; empty: nothing was signed
	Previous  string    // X-Service-Signature-Previous; empty: there is no previous secret
	Standard  string    // webhook-signature
	Secrets   []string  // fingerprints of the secrets that signed, in the order of the signatures in Standard
}

// Sign returns the signatures of a delivery, before its fault changes it.
func Sign(d Delivery) Signed {
	s := Signed{
		At: d.At, Signature: Signature(d.Secret, d.Body), Secrets: []string{secrets.Fingerprint(d.Secret)},
		Standard: StandardSignatures(d.Secret, d.Previous, EventID(d.ID), d.At, d.Body),
	}
	if len(d.Previous) > 0 {
		s.Previous = Signature(d.Previous[0], d.Body)
	}
	for _, one := range d.Previous {
		s.Secrets = append(s.Secrets, secrets.Fingerprint(one))
	}
	return s
}

// HeaderField is a header of a delivery.
type HeaderField struct{ Name, Value string }

func (s *sending) headers(signed *Signed) []HeaderField {
	id := EventID(s.ID)
	headers := []HeaderField{{"Content-Type", s.contentType}, {HeaderEvent, s.event}, {HeaderDelivery, id}, {HeaderSignature, signed.Signature}}
	if signed.Previous != "" {
		headers = append(headers, HeaderField{HeaderPreviousSignature, signed.Previous})
	}
	return append(headers, HeaderField{HeaderStandardID, id},
		HeaderField{HeaderStandardTimestamp, strconv.FormatInt(signed.At.Unix(), 10)}, HeaderField{HeaderStandardSignature, signed.Standard})
}

func standardKey(secret string) []byte {
	if encoded, found := strings.CutPrefix(secret, SecretPrefix); found {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

// Reasons why [Verify] refuses a delivery.
var (
	ErrBadSignature         = errors.New(HeaderSignature + " is missing or does not match the body and the secret")
	ErrBadStandardSignature = errors.New(HeaderStandardSignature + " is missing or does not match the body and the secret")
	ErrBadTimestamp         = errors.New(HeaderStandardTimestamp + " is missing or more than five minutes away")
)

// tolerance is the largest accepted difference between the timestamp of a delivery and the present time. It limits
// replays.
const tolerance = 5 * time.Minute

// Verify checks the signatures of a delivery as its receiver should: over the exact bytes that arrived, in constant
// time, before it parses anything. If secret is empty, it refuses everything. It returns [ErrBadSignature],
// [ErrBadStandardSignature] or [ErrBadTimestamp].
//
// During a rotation of the secret, the previous secret also signs: in X-Service-Signature-Previous, and with a further
// signature in webhook-signature. Verify accepts a delivery if both kinds of signature match the secret of the
// receiver. Older secrets sign only in webhook-signature, which covers the body too.
func Verify(header http.Header, body []byte, secret string, now time.Time) error {
	if secret == "" {
		return ErrBadSignature
	}
	standard := strings.Fields(header.Get(HeaderStandardSignature))
	older := len(standard) > 2 // a secret older than the previous one signs too
	if !older && !SignedBy(secret, header, body) {
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

// SignedBy reports whether X-Service-Signature, or X-Service-Signature-Previous, is the signature of a secret.
func SignedBy(secret string, header http.Header, body []byte) bool {
	signature := []byte(Signature(secret, body))
	return hmac.Equal([]byte(header.Get(HeaderSignature)), signature) || hmac.Equal([]byte(header.Get(HeaderPreviousSignature)), signature)
}
