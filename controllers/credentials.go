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

// The number of characters of a user's own signing secret.
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
	keyReplaces    string // SHA-256, in hexadecimal, of the key that this key replaces; empty: none
	signingSecret  string
	secretRotation string // value of the spec that the signing secret was made for
}

// issue is why there is a new API key.
type issue int

const (
	issueNothing issue = iota // the key stays
	issueFirst                // there was no key
	issueRotated              // the spec has another value of keyRotation
)

// newAPIKey makes an API key from a source of randomness, whose error it returns.
func newAPIKey(random io.Reader) (string, error) {
	// Only bytes below 248, the largest multiple of 62, give each character the same probability.
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

// checkSigningSecret returns what is wrong with a user's signing secret, without the secret itself.
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

// wantedSecret is what the credentials Secret depends on, besides its present content.
type wantedSecret struct {
	organizationID string
	keyRotation    string // of the spec, empty for none
	secretRotation string // of the spec, empty for none
	grace          time.Duration
	brought        string                      // signing secret of the user's, empty for none
	stored         sandboxes.StoredCredentials // what the database has
	taken          string                      // API key that is another sandbox's, empty for none
}

// choose decides the content of the credentials Secret from its present content.
func (w wantedSecret) choose(held credentials, random io.Reader) (chosen credentials, why issue, err error) {
	if why, err = w.chooseKey(held, &chosen, random); err != nil {
		return credentials{}, why, err
	}
	if err = w.chooseSigningSecret(held, &chosen, random); err != nil {
		return credentials{}, why, err
	}
	return chosen, why, nil
}

// chooseKey keeps a key of a valid form, also one that somebody wrote by hand: the database follows the Secret. The database says for
// which value of keyRotation a key was issued; for a key that it does not know yet, the Secret says so. Such a key is not replaced
// before the database knows it: otherwise it would have no grace.
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

// knows reports whether the database accepts the key, without an expiry.
func (w wantedSecret) knows(apiKey string) bool {
	return slices.Contains(w.stored.APIKeys, sandboxes.KeyHash(sha256.Sum256([]byte(apiKey))))
}

// chooseSigningSecret uses the user's own if there is one. For a generated one the copy in the database counts: a lost or edited
// Secret does not break receivers. The copy in the Secret counts only if it was created for the present value of secretRotation and
// the database does not have it yet. The user's own is dropped with its reference, unless it has the form of a generated one.
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

// isMet reports whether the key was issued for the value of the spec. It is not if the database must first get to know the key that
// is to be replaced.
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
