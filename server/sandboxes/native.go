package sandboxes

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"log/slog"

	"github.com/cauri-dev/cauri/server/payments"
)

// NativeDigests has the hashes of the credentials that the operators' own APIs accept for an API key, by operator. The
// credentials are derived from the API key, so they need no rotation of their own. The hashes are in the row of the
// key.
type NativeDigests map[payments.Operator]NativeDigest

// NativeDigest has the hashes of the credentials that one operator's API accepts.
type NativeDigest struct {
	Key     KeyHash // of the key in each request, which names the sandbox
	User    string  // id of the user who requests tokens
	UserKey KeyHash // of the user's password
	Checked map[string]KeyHash
}

// DigestOf returns the digest of credentials.
func DigestOf(key, user, userKey string) NativeDigest {
	return NativeDigest{Key: sha256.Sum256([]byte(key)), User: user, UserKey: sha256.Sum256([]byte(userKey))}
}

// With returns the digest with the hashes of further credentials.
func (d NativeDigest) With(checked map[string]string) NativeDigest {
	for name, value := range checked {
		if d.Checked == nil {
			d.Checked = map[string]KeyHash{}
		}
		d.Checked[name] = sha256.Sum256([]byte(value))
	}
	return d
}

// Checks reports whether the digest has a further credential with this value. It compares in constant time.
func (d NativeDigest) Checks(name, value string) bool {
	wanted, known := d.Checked[name]
	hash := sha256.Sum256([]byte(value))
	return known && subtle.ConstantTimeCompare(hash[:], wanted[:]) == 1
}

// MatchesUser reports whether the digest has this user and this password. It compares in constant time.
func (d NativeDigest) MatchesUser(user, password string) bool {
	hash := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(hash[:], d.UserKey[:])&subtle.ConstantTimeCompare([]byte(user), []byte(d.User)) == 1
}

// storedDigest is the form of a [NativeDigest] in the database.
type storedDigest struct {
	Key     []byte `json:"key"`
	User    string `json:"user"`
	UserKey []byte `json:"user_key"`

	Checked map[string][]byte `json:"checked,omitempty"`
}

// Encode returns the digests as JSON for the database.
func (d NativeDigests) Encode() []byte {
	stored := map[payments.Operator]storedDigest{}
	for operator, one := range d {
		checked := map[string][]byte{}
		for name, hash := range one.Checked {
			checked[name] = hash[:]
		}
		stored[operator] = storedDigest{one.Key[:], one.User, one.UserKey[:], checked}
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
		return digests // invalid digests, written by hand, accept nothing
	}
	for operator, one := range stored {
		if len(one.Key) != sha256.Size || len(one.UserKey) != sha256.Size {
			continue
		}
		digest := NativeDigest{Key: KeyHash(one.Key), User: one.User, UserKey: KeyHash(one.UserKey)}
		for name, hash := range one.Checked {
			if len(hash) != sha256.Size {
				continue
			}
			if digest.Checked == nil {
				digest.Checked = map[string]KeyHash{}
			}
			digest.Checked[name] = KeyHash(hash)
		}
		digests[operator] = digest
	}
	return digests
}

// sameNative reports whether stored digests equal the wanted ones.
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

// nativeKey is the hash of the key that names the sandbox in a request to an operator's API.
type nativeKey struct {
	operator payments.Operator
	hash     KeyHash
}

// NativeHolder is the owner of a key of an operator's API.
type NativeHolder struct {
	APIKey KeyHash // API key: the operator's key is derived from it and ends with it
	Digest NativeDigest
	key    nativeKey
}

// nativeHolders returns the holders of an API key's derived keys, and adds these keys to the entry.
func nativeHolders(e *entry, apiKey KeyHash, stored []byte) (holders []NativeHolder) {
	for operator, digest := range decodeDigests(stored) {
		key := nativeKey{operator, digest.Key}
		e.native = append(e.native, key)
		holders = append(holders, NativeHolder{APIKey: apiKey, Digest: digest, key: key})
	}
	return holders
}

// ByNativeKey returns the sandbox and the holder of a key of an operator's own API. ok is false for an unknown key, and
// after the end of the API key from which it is derived.
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
