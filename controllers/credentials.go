package controllers

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
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
	apiKey        string
	signingSecret string
}

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
		return errors.New("ends with a line break, as files do: store it without one, for example with kubectl create secret generic --from-literal")
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

// chooseCredentials decides what the credentials Secret should hold, given what it holds now, the signing secret that the
// user brings (empty: none), the one that the database has (empty: none), and an API key that it must not hold (empty: none).
// issued tells that there is a new API key.
//
// A key that has the form of one is kept, also if somebody put it there by hand: the database follows the Secret. Of the
// generated signing secret the database's copy counts, so that neither the loss of the Secret nor a slip of the hand in
// it breaks a receiver. One that was brought is dropped with its reference, unless it has the form of a generated one.
func chooseCredentials(held map[string][]byte, brought, stored, taken string, random io.Reader) (chosen credentials, issued bool, err error) {
	chosen.apiKey = string(held[secretKeyAPIKey])
	if !apiKeyForm.MatchString(chosen.apiKey) || chosen.apiKey == taken {
		issued = true
		if chosen.apiKey, err = newAPIKey(random); err != nil {
			return credentials{}, false, err
		}
	}
	switch inSecret := string(held[secretKeySigningSecret]); {
	case brought != "":
		chosen.signingSecret = brought
	case isGenerated(stored):
		chosen.signingSecret = stored
	case isGenerated(inSecret):
		chosen.signingSecret = inSecret
	default:
		if chosen.signingSecret, err = newSigningSecret(random); err != nil {
			return credentials{}, false, err
		}
	}
	return chosen, issued, nil
}
