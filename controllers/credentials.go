package controllers

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// The forms of what the controller issues.
const (
	apiKeyPrefix        = "cauri_sk_test_"
	apiKeyLength        = 32 // characters of base 62 after the prefix: 190 bits
	signingSecretPrefix = "whsec_"
	signingSecretBytes  = 32
)

// A signing secret that a user brings has so many characters.
const (
	minSigningSecret = 16
	maxSigningSecret = 256
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var apiKeyForm = regexp.MustCompile(fmt.Sprintf(`^%s[0-9A-Za-z]{%d}$`, apiKeyPrefix, apiKeyLength))

// credentials are what a sandbox's credentials Secret holds.
type credentials struct {
	apiKey         string
	keyRotation    string // value of the spec that the key was issued for
	keyReplaces    string // SHA-256, in hexadecimal, of the key that it was issued in place of; empty: none
	signingSecret  string
	secretRotation string // value of the spec that the signing secret was made for
}

// issue tells why there is a new API key.
type issue int

const (
	issueNothing issue = iota // there is none
	issueFirst                // there was no key
	issueRotated              // the spec has another value of keyRotation
)

// newAPIKey makes an API key from a source of randomness, whose error it returns.
func newAPIKey(random io.Reader) (string, error) {
	// A byte below 248, the largest multiple of 62, gives each character the same chance; any other is thrown away.
	const fair = 256 / len(base62) * len(base62)
	key := make([]byte, 0, apiKeyLength)
	var buffer [apiKeyLength]byte
	for {
		if _, err := io.ReadFull(random, buffer[:]); err != nil {
			return "", fmt.Errorf("making an API key: %w", err)
		}
		for _, b := range buffer {
			if int(b) >= fair {
				continue
			}
			key = append(key, base62[int(b)%len(base62)])
			if len(key) == apiKeyLength {
				return apiKeyPrefix + string(key), nil
			}
		}
	}
}

// newSigningSecret makes a webhook signing secret from a source of randomness, whose error it returns.
func newSigningSecret(random io.Reader) (string, error) {
	var secret [signingSecretBytes]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", fmt.Errorf("making a signing secret: %w", err)
	}
	return signingSecretPrefix + base64.StdEncoding.EncodeToString(secret[:]), nil
}

// isGenerated reports whether a signing secret has the form of those that [newSigningSecret] makes.
func isGenerated(secret string) bool {
	encoded, ok := strings.CutPrefix(secret, signingSecretPrefix)
	if !ok {
		return false
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	return err == nil && len(decoded) == signingSecretBytes
}

// checkSigningSecret says what is wrong with a signing secret that a user brought, never what the secret is.
func checkSigningSecret(secret []byte) error {
	if !utf8.Valid(secret) {
		return errors.New("is not text")
	}
	if last := len(secret) - 1; last >= 0 && (secret[last] == '\n' || secret[last] == '\r') {
		return errors.New(
			"ends with a line break, as files do: store it without one, for example with kubectl create secret generic --from-literal",
		)
	}
	if n := utf8.RuneCount(secret); n < minSigningSecret || n > maxSigningSecret {
		return fmt.Errorf("has %d characters", n)
	}
	for _, r := range string(secret) {
		if !unicode.IsPrint(r) {
			return errors.New("has a character that cannot be printed")
		}
	}
	return nil
}

// wantedSecret is what the content of the credentials Secret depends on, beside what it holds already.
type wantedSecret struct {
	organizationID string
	keyRotation    string // of the spec, empty for none
	secretRotation string // of the spec, empty for none
	grace          time.Duration
	brought        string                      // signing secret of the user's, empty for none
	stored         sandboxes.StoredCredentials // what the database has
	taken          string                      // API key that is another sandbox's, empty for none
}

// choose decides what the credentials Secret should hold, given what it holds now.
func (w wantedSecret) choose(held credentials, random io.Reader) (chosen credentials, why issue, err error) {
	if why, err = w.chooseKey(held, &chosen, random); err != nil {
		return credentials{}, why, err
	}
	if err = w.chooseSigningSecret(held, &chosen, random); err != nil {
		return credentials{}, why, err
	}
	return chosen, why, nil
}

// chooseKey keeps a key that has the form of one, also if somebody put it there by hand: the database follows the Secret. What
// a key was issued for the database says; of a key that it does not know yet, the Secret. Such a key is not replaced before
// the database has come to know it, so that it gets its grace.
func (w wantedSecret) chooseKey(held credentials, chosen *credentials, random io.Reader) (why issue, err error) {
	issuedFor := held.keyRotation
	known := w.knows(held.apiKey)
	if known {
		issuedFor = w.stored.KeyRotation
	}
	switch {
	case !apiKeyForm.MatchString(held.apiKey) || held.apiKey == w.taken:
		why = issueFirst
		chosen.keyRotation = cmp.Or(w.keyRotation, w.stored.KeyRotation)
	case known && w.keyRotation != "" && w.keyRotation != issuedFor:
		why = issueRotated
		chosen.keyRotation, chosen.keyReplaces = w.keyRotation, hexHash(held.apiKey)
	default:
		chosen.apiKey, chosen.keyRotation, chosen.keyReplaces = held.apiKey, issuedFor, held.keyReplaces
		return issueNothing, nil
	}
	chosen.apiKey, err = newAPIKey(random)
	return why, err
}

// knows reports whether the database accepts the key, without an end.
func (w wantedSecret) knows(apiKey string) bool {
	return slices.Contains(w.stored.APIKeys, sandboxes.KeyHash(sha256.Sum256([]byte(apiKey))))
}

// chooseSigningSecret takes one that was brought. Of a generated one the database's copy counts, so that neither the loss of
// the Secret nor a slip of the hand in it breaks a receiver; the Secret's does only where it was made for the value of the spec
// and the database has not followed it yet. One that was brought is dropped with its reference, unless it has the form of a
// generated one.
func (w wantedSecret) chooseSigningSecret(held credentials, chosen *credentials, random io.Reader) (err error) {
	stored := w.stored
	chosen.signingSecret, chosen.secretRotation = w.brought, cmp.Or(w.secretRotation, stored.SecretRotation)
	switch {
	case w.brought != "":
	case isGenerated(stored.SigningSecret) && chosen.secretRotation == stored.SecretRotation:
		chosen.signingSecret = stored.SigningSecret
	case isGenerated(held.signingSecret) && held.signingSecret != stored.SigningSecret &&
		(w.secretRotation == "" || w.secretRotation == held.secretRotation):
		chosen.signingSecret, chosen.secretRotation = held.signingSecret, held.secretRotation
	default:
		chosen.signingSecret, err = newSigningSecret(random)
	}
	return err
}

// isMet reports whether the key was issued for the value of the spec. It is not where the database has to learn of the key
// that is to be replaced first.
func (w wantedSecret) isMet(held credentials) bool {
	return w.keyRotation == "" || w.keyRotation == held.keyRotation
}

func hexHash(apiKey string) string {
	hash := sha256.Sum256([]byte(apiKey))
	return hex.EncodeToString(hash[:])
}

// parseHash reads what hexHash made; nil for anything else.
func parseHash(text string) *sandboxes.KeyHash {
	hash, err := hex.DecodeString(text)
	if err != nil || len(hash) != sha256.Size {
		return nil
	}
	return new(sandboxes.KeyHash(hash))
}
