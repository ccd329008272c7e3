package operatorapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
)

// Derived returns 32 hexadecimal digits. A one-way function derives them from an API key or another secret, and from a
// purpose. Derived credentials need no storage, and a rotation of the key replaces them all.
func Derived(apiKey, purpose string) string { return hex.EncodeToString(derived(apiKey, purpose)[:16]) }

// DerivedUUID returns a UUID of version 4 that is derived from an API key.
func DerivedUUID(apiKey, purpose string) string {
	b := derived(apiKey, purpose)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func derived(apiKey, purpose string) []byte {
	mac := hmac.New(sha256.New, []byte(apiKey))
	mac.Write([]byte("cauri " + purpose))
	return mac.Sum(nil)
}

// CallbackKeyOf returns the key that signs the callbacks of an operator's own API. It is derived from the signing
// secret of the sandbox's webhooks, because workers have that secret but not the API key.
func (a *API) CallbackKeyOf(signingSecret string) string {
	return Derived(signingSecret, string(a.Operator)+" callback key")
}

// SecretEntries returns the entries of the API in the credentials Secret.
func (a *API) SecretEntries(apiKey, signingSecret string) map[string]string {
	entries := maps.Clone(a.Derive(apiKey).Secret)
	if a.CallbackKey != "" {
		entries[a.CallbackKey] = a.CallbackKeyOf(signingSecret)
	}
	return entries
}

// AddressEntries returns the entries of the API in the credentials Secret that have its base URLs: the one with a path,
// and the one of a root. The second entry is missing if root is empty.
func (a *API) AddressEntries(path, root string) map[string]string {
	entries := map[string]string{string(a.Operator) + "-uri": path}
	if root != "" {
		entries[string(a.Operator)+"-root-uri"] = root
	}
	return entries
}
