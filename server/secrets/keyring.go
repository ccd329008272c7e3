// Package secrets encrypts the secrets that the database stores.
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
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cauri-dev/cauri/server/textfile"
)

// KeyRing encrypts the secrets that the database stores, by AES-256-GCM. Its first key encrypts, and all of its keys
// decrypt. So a new key can be put first, and an old key can be removed when it encrypts no stored secret any more. A
// KeyRing is safe for concurrent use.
type KeyRing struct {
	path string // of the file that it was read from; empty: none
	keys atomic.Pointer[[]ringKey]
}

type ringKey struct {
	id     [4]byte // identifies the key, at the start of each secret that it encrypted
	digest [32]byte
	aead   cipher.AEAD
}

// ErrNoKeyRing is returned if a secret is read or written without a key ring.
var ErrNoKeyRing = errors.New("no encryption key was given: pass --encryption-key-file")

// ErrSealed is returned for a stored secret that cannot be decrypted.
var ErrSealed = errors.New("a stored secret cannot be opened")

// LoadKeyRing reads a file with one key in each line, 32 bytes in base64. The first key encrypts.
func LoadKeyRing(path string) (*KeyRing, error) {
	ring := &KeyRing{path: path}
	_, err := ring.Reload()
	if err != nil {
		return nil, err
	}
	return ring, nil
}

// Reload reads the file of the key ring again and uses its keys. It reports whether they changed. After an error, the
// keys stay as they were. Errors never show a key.
func (r *KeyRing) Reload() (changed bool, err error) {
	text, err := textfile.Read(r.path)
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

// Follow reloads the file of the key ring at every interval until ctx ends, so that keys change without a restart. It
// logs each change, and the first failure in a row.
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

// ParseKeyRing parses the content of a key file. Its errors never show a key.
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

// Keys returns the names of the keys; the first key encrypts. The name of a key is the first four bytes of its SHA-256,
// in hexadecimal, which do not reveal the key. These bytes are the start of each secret that the key has encrypted.
func (r *KeyRing) Keys() []string {
	var names []string
	for _, key := range *r.keys.Load() {
		names = append(names, hex.EncodeToString(key.id[:]))
	}
	return names
}

// FirstID returns the first four bytes of the SHA-256 of the key that encrypts.
func (r *KeyRing) FirstID() []byte {
	id := (*r.keys.Load())[0].id
	return id[:]
}

// Seal encrypts a secret that belongs to owner. It can be decrypted only for the same owner, so that a row that is
// copied to another sandbox is useless.
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

// Open decrypts the result of [KeyRing.Seal]. It returns [ErrSealed] if it cannot.
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

// Current reports whether the first key has encrypted a secret.
func (r *KeyRing) Current(sealed []byte) bool {
	return r != nil && bytes.HasPrefix(sealed, r.FirstID())
}

func cut(b []byte, n int) (head, tail []byte, ok bool) {
	if len(b) < n {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
