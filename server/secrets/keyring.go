// Package secrets encrypts what the database keeps of secrets.
package secrets

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// KeyRing encrypts the secrets that the database keeps, by AES-256-GCM. Its first key encrypts and all of them decrypt, so
// that a new key can be put in front and an old one taken away once nothing is encrypted by it any more. It is safe for
// concurrent use.
type KeyRing struct {
	path string // of the file that it was read from; empty: none
	keys atomic.Pointer[[]ringKey]
}

type ringKey struct {
	id     [4]byte // names the key in what it encrypted
	digest [32]byte
	aead   cipher.AEAD
}

// ErrNoKeyRing is returned where a secret is read or written and no key ring was given.
var ErrNoKeyRing = errors.New("no encryption key was given: pass --encryption-key-file")

// ErrSealed is returned for a stored secret that cannot be opened.
var ErrSealed = errors.New("a stored secret cannot be opened")

// LoadKeyRing reads a file with one key a line, each 32 bytes in base64, the one that encrypts first.
func LoadKeyRing(path string) (*KeyRing, error) {
	ring := &KeyRing{path: path}
	_, err := ring.Reload()
	if err != nil {
		return nil, err
	}
	return ring, nil
}

// Reload reads the file of the key ring again and takes over its keys. It reports whether they changed. With an error, which
// never shows a key, the keys stay as they were.
func (r *KeyRing) Reload() (changed bool, err error) {
	text, err := os.ReadFile(r.path)
	if err != nil {
		return false, fmt.Errorf("reading the encryption keys: %w", err)
	}
	keys, err := parseKeys(string(text))
	if err != nil {
		return false, fmt.Errorf("reading the encryption keys in %s: %w", r.path, err)
	}
	sameKey := func(a, b ringKey) bool { return a.digest == b.digest }
	if present := r.keys.Load(); present != nil && slices.EqualFunc(*present, keys, sameKey) {
		return false, nil
	}
	r.keys.Store(&keys)
	return true, nil
}

// Follow reads the file of the key ring again every interval until ctx ends, so that keys are exchanged without a restart. It
// logs a change and the beginning of a failure.
func (r *KeyRing) Follow(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var failing bool
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		changed, err := r.Reload()
		switch {
		case err != nil && !failing:
			slog.WarnContext(ctx, "the encryption keys cannot be read again; those that were read last are used", "error", err)
		case changed:
			slog.InfoContext(ctx, "the encryption keys have changed", "keys", r.Keys())
		}
		failing = err != nil
	}
}

// ParseKeyRing reads what a key file holds. Its errors never show a key.
func ParseKeyRing(text string) (*KeyRing, error) {
	keys, err := parseKeys(text)
	if err != nil {
		return nil, err
	}
	ring := &KeyRing{}
	ring.keys.Store(&keys)
	return ring, nil
}

func parseKeys(text string) (keys []ringKey, err error) {
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
		keys = append(keys, ringKey{id: [4]byte(digest[:4]), digest: digest, aead: aead})
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key; make one with: head -c 32 /dev/urandom | base64")
	}
	return keys, nil
}

// Keys names the keys, the one that encrypts first, by the first four bytes of the SHA-256 of each in hexadecimal. A name says
// nothing about its key, and begins whatever the key has encrypted.
func (r *KeyRing) Keys() []string {
	var names []string
	for _, key := range *r.keys.Load() {
		names = append(names, hex.EncodeToString(key.id[:]))
	}
	return names
}

// FirstID names the key that encrypts, in what it encrypts.
func (r *KeyRing) FirstID() []byte {
	id := (*r.keys.Load())[0].id
	return id[:]
}

// Seal encrypts a secret that belongs to owner; it opens only for the same owner, so that a row copied to another sandbox
// is worth nothing.
func (r *KeyRing) Seal(random io.Reader, owner, secret string) ([]byte, error) {
	if r == nil {
		return nil, ErrNoKeyRing
	}
	key := (*r.keys.Load())[0]
	nonce := make([]byte, key.aead.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, fmt.Errorf("encrypting a secret: %w", err)
	}
	sealed := append(key.id[:], nonce...)
	return key.aead.Seal(sealed, nonce, []byte(secret), []byte(owner)), nil
}

// Open decrypts what [KeyRing.Seal] made. It returns [ErrSealed] if it cannot.
func (r *KeyRing) Open(owner string, sealed []byte) (string, error) {
	if r == nil {
		return "", ErrNoKeyRing
	}
	for _, key := range *r.keys.Load() {
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
			return "", fmt.Errorf("%w: it was changed or belongs to another sandbox", ErrSealed)
		}
		return string(secret), nil
	}
	return "", fmt.Errorf("%w: it was encrypted by a key that is not in the key ring", ErrSealed)
}

// Current reports whether a secret is sealed by the key that encrypts now.
func (r *KeyRing) Current(sealed []byte) bool {
	return r != nil && bytes.HasPrefix(sealed, r.FirstID())
}

func cut(b []byte, n int) (head, tail []byte, ok bool) {
	if len(b) < n {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
