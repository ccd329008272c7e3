package store

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// KeyRing encrypts the secrets that the database keeps, by AES-256-GCM. Its first key encrypts and all of them decrypt, so
// that a new key can be put in front and an old one taken away once nothing is encrypted by it any more.
type KeyRing struct {
	keys []ringKey
}

type ringKey struct {
	id   [4]byte // names the key in what it encrypted
	aead cipher.AEAD
}

// ErrNoKeyRing is returned where a secret is read or written and no key ring was given.
var ErrNoKeyRing = errors.New("no encryption key was given: pass --encryption-key-file")

// LoadKeyRing reads a file with one key a line, each 32 bytes in base64, the one that encrypts first.
func LoadKeyRing(path string) (*KeyRing, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the encryption keys: %w", err)
	}
	ring, err := ParseKeyRing(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading the encryption keys in %s: %w", path, err)
	}
	return ring, nil
}

// ParseKeyRing reads what a key file holds. Its errors never show a key.
func ParseKeyRing(text string) (*KeyRing, error) {
	ring := &KeyRing{}
	for number, line := range strings.Fields(text) {
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("key %d is not 32 bytes in base64; make one with: head -c 32 /dev/urandom | base64", number+1)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(key)
		ring.keys = append(ring.keys, ringKey{id: [4]byte(digest[:4]), aead: aead})
	}
	if len(ring.keys) == 0 {
		return nil, errors.New("there is no key; make one with: head -c 32 /dev/urandom | base64")
	}
	return ring, nil
}

// seal encrypts a secret that belongs to owner; it opens only for the same owner, so that a row copied to another sandbox
// is worth nothing.
func (r *KeyRing) seal(random io.Reader, owner, secret string) ([]byte, error) {
	if r == nil {
		return nil, ErrNoKeyRing
	}
	key := r.keys[0]
	nonce := make([]byte, key.aead.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, fmt.Errorf("encrypting a secret: %w", err)
	}
	sealed := append(key.id[:], nonce...)
	return key.aead.Seal(sealed, nonce, []byte(secret), []byte(owner)), nil
}

// open decrypts what seal made.
func (r *KeyRing) open(owner string, sealed []byte) (string, error) {
	if r == nil {
		return "", ErrNoKeyRing
	}
	for _, key := range r.keys {
		id, rest, ok := cut(sealed, len(key.id))
		if !ok || !bytes.Equal(id, key.id[:]) {
			continue
		}
		nonce, text, ok := cut(rest, key.aead.NonceSize())
		if !ok {
			break
		}
		secret, err := key.aead.Open(nil, nonce, text, []byte(owner))
		if err != nil {
			return "", errors.New("a stored secret was changed or belongs to another sandbox")
		}
		return string(secret), nil
	}
	return "", errors.New("a stored secret was encrypted by a key that is not in the key ring")
}

// current reports whether a secret is sealed by the key that encrypts now.
func (r *KeyRing) current(sealed []byte) bool {
	return r != nil && bytes.HasPrefix(sealed, r.keys[0].id[:])
}

func cut(b []byte, n int) (head, tail []byte, ok bool) {
	if len(b) < n {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
