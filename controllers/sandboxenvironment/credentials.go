package sandboxenvironment

import (
	"bytes"
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

// Credentials are stored twice: in plain text in the credentials Secret, and in the database as a hash (the key) and
// encrypted (the signing secret). A reconciliation makes the two copies equal:
//
//  1. reconcileCredentials collects the inputs: the spec, the user's own signing secret, and what is in the database.
//  2. credentialInputs.choose computes the next credentials from the current ones, without any I/O. This file has the rules.
//  3. ensureSecret writes them to the Secret (secret.go).
//  4. applyCredentials writes them to the database (credentials_sync.go).
//
// syncCredentials repeats steps 2 to 4 if the Secret or the database changed during them, or if the database refused
// the key.

// The formats of keys and secrets that the controller generates.
const (
	apiKeyPrefix        = "cauri_sk_test_"
	apiKeyLength        = 32 // characters of base 62 after the prefix: 190 bits. A key that somebody chose may be longer.
	signingSecretPrefix = "whsec_"
	signingSecretBytes  = 32
)

// Limits of a user's own signing secret, in characters.
const (
	minSigningSecret = 16
	maxSigningSecret = 256
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var apiKeyForm = regexp.MustCompile(fmt.Sprintf(`^%s[0-9A-Za-z]{%d,}$`, apiKeyPrefix, apiKeyLength))

// credentials are the contents of a sandbox's credentials Secret.
type credentials struct {
	apiKey         string
	keyRotation    string // spec.keyRotation when the key was issued
	keyReplaces    string // SHA-256, in hexadecimal, of the replaced key; empty: none
	signingSecret  string
	secretRotation string // spec.webhook.secretRotation when the signing secret was generated
}

// keyIssue is the reason for a new API key.
type keyIssue int

const (
	issueNothing keyIssue = iota // the key stays
	issueFirst                   // there was no valid key
	issueRotated                 // spec.keyRotation changed
)

// CheckAPIKey returns an error for a key of an invalid format. The error does not contain the key.
func CheckAPIKey(key string) error {
	if !apiKeyForm.MatchString(key) {
		return fmt.Errorf("the API key is %q with at least %d letters and digits behind it", apiKeyPrefix, apiKeyLength)
	}
	return nil
}

// maxAPIKey is the maximum length of a user's own API key in a Secret, in characters.
const maxAPIKey = 256

// checkOwnAPIKey returns an error for a value of a Secret that is no API key. The error does not contain the value.
func checkOwnAPIKey(value []byte) error {
	switch {
	case bytes.HasSuffix(value, []byte("\n")) && apiKeyForm.Match(bytes.TrimRight(value, "\r\n")):
		return errors.New(endsWithLineBreak)
	case len(value) > maxAPIKey:
		return fmt.Errorf("the API key has at most %d characters", maxAPIKey)
	}
	return CheckAPIKey(string(value))
}

// newAPIKey returns a new API key, or the error of the random source.
func newAPIKey(random io.Reader) (string, error) {
	// Bytes from 248 on are dropped, because only a multiple of 62 gives each character the same probability.
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

// newSigningSecret returns a new webhook signing secret, or the error of the random source.
func newSigningSecret(random io.Reader) (string, error) {
	var secret [signingSecretBytes]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", fmt.Errorf("making a signing secret: %w", err)
	}
	return signingSecretPrefix + base64.StdEncoding.EncodeToString(secret[:]), nil
}

// isGenerated reports whether a signing secret has the format that newSigningSecret returns.
func isGenerated(secret string) bool {
	encoded, ok := strings.CutPrefix(secret, signingSecretPrefix)
	if !ok {
		return false
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	return err == nil && len(decoded) == signingSecretBytes
}

// CheckSigningSecret returns an error for an invalid signing secret of a user. The error does not contain the secret.
func CheckSigningSecret(secret string) error {
	if err := checkSigningSecret([]byte(secret)); err != nil {
		return fmt.Errorf("the signing secret %w: write %d to %d printable characters", err, minSigningSecret, maxSigningSecret)
	}
	return nil
}

// endsWithLineBreak is the error for the value of a Secret that was made of a file.
const endsWithLineBreak = "ends with a line break, as files do: store it without one, for example with kubectl create secret generic --from-literal"

func checkSigningSecret(secret []byte) error {
	if !utf8.Valid(secret) {
		return errors.New("is not text")
	}
	if last := len(secret) - 1; last >= 0 && (secret[last] == '\n' || secret[last] == '\r') {
		return errors.New(endsWithLineBreak)
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

// credentialInputs are the inputs of choose, beside the current content of the credentials Secret.
type credentialInputs struct {
	organizationID    string
	keyRotation       string // spec.keyRotation; may be empty
	secretRotation    string // spec.webhook.secretRotation; may be empty
	grace             time.Duration
	userAPIKey        string                      // from the Secret of apiKeySecretRef; empty for none
	userSigningSecret string                      // from the Secret of signingSecretRef; empty for none
	inDatabase        sandboxes.StoredCredentials // the copy in the database, with hashes of the keys
	rejectedKey       string                      // API key in the Secret that another sandbox has; empty for none
	unwritten         bool                        // no Secret was written yet, as far as is known
}

// nextCredentials decides the next content of the credentials Secret.
func (inputs credentialInputs) nextCredentials(current credentials, random io.Reader) (next credentials, issue keyIssue, err error) {
	if issue, err = inputs.chooseKey(current, &next, random); err != nil {
		return credentials{}, issue, err
	}
	if err = inputs.chooseSigningSecret(current, &next, random); err != nil {
		return credentials{}, issue, err
	}
	return next, issue, nil
}

// chooseKey keeps a key of a valid format, even if a user wrote it into the Secret: the database follows the Secret. If
// keyRotation changed since the key was issued, chooseKey issues a new key. The database records the keyRotation of a
// key; for a key that is not in the database yet, the annotation of the Secret is used. A key that is not in the
// database yet is not replaced, because only a key in the database keeps working for the grace period. The user's own
// key takes precedence over all this.
func (inputs credentialInputs) chooseKey(current credentials, next *credentials, random io.Reader) (issue keyIssue, err error) {
	issuedFor := current.keyRotation
	known := inputs.knows(current.apiKey)
	if known {
		issuedFor = inputs.inDatabase.KeyRotation
	}
	if inputs.userAPIKey != "" && inputs.userAPIKey != inputs.rejectedKey {
		return inputs.useOwnKey(current, next, issuedFor), nil
	}
	switch {
	case !apiKeyForm.MatchString(current.apiKey) || current.apiKey == inputs.rejectedKey:
		issue = issueFirst
		next.keyRotation = cmp.Or(inputs.keyRotation, inputs.inDatabase.KeyRotation)
	case known && inputs.keyRotation != "" && inputs.keyRotation != issuedFor:
		issue = issueRotated
		next.keyRotation, next.keyReplaces = inputs.keyRotation, hexHash(current.apiKey)
	default:
		next.apiKey, next.keyRotation, next.keyReplaces = current.apiKey, issuedFor, current.keyReplaces
		return issueNothing, nil
	}
	next.apiKey, err = newAPIKey(random)
	return issue, err
}

// useOwnKey takes the user's own key. It replaces the current key, which then still works for the grace period if the
// database has it.
func (inputs credentialInputs) useOwnKey(current credentials, next *credentials, issuedFor string) (issue keyIssue) {
	next.apiKey, next.keyRotation, next.keyReplaces = inputs.userAPIKey, cmp.Or(inputs.keyRotation, issuedFor), current.keyReplaces
	switch {
	case current.apiKey == inputs.userAPIKey:
		return issueNothing
	case !inputs.knows(current.apiKey):
		return issueFirst
	}
	next.keyReplaces = hexHash(current.apiKey)
	return issueRotated
}

// knows reports whether the database has the key, without an expiry.
func (inputs credentialInputs) knows(apiKey string) bool {
	return slices.Contains(inputs.inDatabase.APIKeys, sandboxes.KeyHash(sha256.Sum256([]byte(apiKey))))
}

// chooseSigningSecret chooses the first of these signing secrets:
//
//   - The user's own, from signingSecretRef.
//   - The generated secret in the database, if secretRotation has not changed. So a lost or edited Secret does not
//     break receivers.
//   - The generated secret in the Secret, if it was generated for the current secretRotation and the database does not
//     have it yet.
//   - A new generated secret.
//
// If signingSecretRef is removed, the user's own secret in the database stays only if it has the format of a generated
// one.
func (inputs credentialInputs) chooseSigningSecret(current credentials, next *credentials, random io.Reader) (err error) {
	inDatabase := inputs.inDatabase
	next.signingSecret, next.secretRotation = inputs.userSigningSecret, cmp.Or(inputs.secretRotation, inDatabase.SecretRotation)
	switch {
	case inputs.userSigningSecret != "":
	case isGenerated(inDatabase.SigningSecret) && next.secretRotation == inDatabase.SecretRotation:
		next.signingSecret = inDatabase.SigningSecret
	case isGenerated(current.signingSecret) && current.signingSecret != inDatabase.SigningSecret &&
		(inputs.secretRotation == "" || inputs.secretRotation == current.secretRotation):
		next.signingSecret, next.secretRotation = current.signingSecret, current.secretRotation
	default:
		next.signingSecret, err = newSigningSecret(random)
	}
	return err
}

// keyFollowsSpec reports whether the key was issued for the current spec.keyRotation. It returns false if chooseKey
// kept the key because the database did not have it yet.
func (inputs credentialInputs) keyFollowsSpec(current credentials) bool {
	return inputs.keyRotation == "" || inputs.keyRotation == current.keyRotation
}

func hexHash(apiKey string) string {
	hash := sha256.Sum256([]byte(apiKey))
	return hex.EncodeToString(hash[:])
}

// parseHash parses a result of hexHash. It returns nil for any other text.
func parseHash(text string) *sandboxes.KeyHash {
	hash, err := hex.DecodeString(text)
	if err != nil || len(hash) != sha256.Size {
		return nil
	}
	return new(sandboxes.KeyHash(hash))
}
