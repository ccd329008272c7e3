package sandboxes

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"log/slog"

	"github.com/cauri-dev/cauri/server/payments"
)

// NativeDigests are what the operators' own APIs accept of a sandbox beside its API key, by operator. All of it follows
// from the key, so that it needs no rotation of its own; the hashes stand in the row of the key.
type NativeDigests map[payments.Operator]NativeDigest

// NativeDigest is what one operator's API accepts.
type NativeDigest struct {
	Key     KeyHash // of the text by which each request says which sandbox it is made to
	User    string  // who asks for tokens
	UserKey KeyHash // of the user's password
}

// DigestOf hashes credentials.
func DigestOf(key, user, userKey string) NativeDigest {
	return NativeDigest{Key: sha256.Sum256([]byte(key)), User: user, UserKey: sha256.Sum256([]byte(userKey))}
}

// MatchesUser reports whether a user with a password is the one of the digest. It takes the same time whatever is
// wrong.
func (d NativeDigest) MatchesUser(user, password string) bool {
	hash := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(hash[:], d.UserKey[:])&subtle.ConstantTimeCompare([]byte(user), []byte(d.User)) == 1
}

// storedDigest is a [NativeDigest] as it stands in the database.
type storedDigest struct {
	Key     []byte `json:"key"`
	User    string `json:"user"`
	UserKey []byte `json:"user_key"`
}

// Encode writes the digests as the database keeps them.
func (d NativeDigests) Encode() []byte {
	stored := map[payments.Operator]storedDigest{}
	for operator, one := range d {
		stored[operator] = storedDigest{one.Key[:], one.User, one.UserKey[:]}
	}
	text, err := json.Marshal(stored)
	if err != nil {
		panic(err) // texts and bytes can always be encoded
	}
	return text
}

func decodeDigests(text []byte) NativeDigests {
	digests := NativeDigests{}
	var stored map[payments.Operator]storedDigest
	if len(text) == 0 || json.Unmarshal(text, &stored) != nil {
		return digests // one that somebody has written by hand opens nothing
	}
	for operator, one := range stored {
		if len(one.Key) == sha256.Size && len(one.UserKey) == sha256.Size {
			digests[operator] = NativeDigest{KeyHash(one.Key), one.User, KeyHash(one.UserKey)}
		}
	}
	return digests
}

// sameNative compares stored digests with wanted ones.
func sameNative(stored, wanted []byte) bool {
	return bytes.Equal(decodeDigests(stored).Encode(), wanted)
}

func quirksIn(text []byte) map[string]bool {
	var quirks map[string]bool
	if err := json.Unmarshal(text, &quirks); err != nil {
		slog.Error("the quirks of an environment are ignored", "error", err)
	}
	return quirks
}

// nativeKey is the text by which a request of an operator's API says which sandbox it is made to.
type nativeKey struct {
	operator payments.Operator
	hash     KeyHash
}

// NativeHolder is what such a text opens.
type NativeHolder struct {
	APIKey KeyHash // that it follows from: it ends with that key
	Digest NativeDigest
	key    nativeKey
}

// nativeHolders are those of an API key.
func nativeHolders(e *entry, apiKey KeyHash, stored []byte) (holders []NativeHolder) {
	for operator, digest := range decodeDigests(stored) {
		key := nativeKey{operator, digest.Key}
		e.native = append(e.native, key)
		holders = append(holders, NativeHolder{APIKey: apiKey, Digest: digest, key: key})
	}
	return holders
}

// ByNativeKey finds what the key of an operator's own API opens. It opens nothing once the API key behind it has ended.
func (d *Directory) ByNativeKey(operator payments.Operator, hash KeyHash) (*Sandbox, NativeHolder, bool) {
	d.mu.RLock()
	holder, ok := d.byNative[nativeKey{operator, hash}]
	d.mu.RUnlock()
	if !ok {
		return nil, NativeHolder{}, false
	}
	sandbox, ok := d.ByKey(holder.APIKey)
	return sandbox, holder, ok
}
