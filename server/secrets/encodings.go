package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Form matches API keys and signing secrets in a text.
var Form = regexp.MustCompile(`cauri_sk_[A-Za-z0-9_-]{8,}|whsec_[A-Za-z0-9+/=_-]{8,}`)

// Shortest is the length of the shortest secret to search for in texts. A PIN of four digits is part of too many numbers.
const Shortest = 6

// Encodings returns a secret in the forms in which a program may tell it: as it is, without the prefix of signing secrets,
// and both in URLs, in hex and in base64. The bytes of a signing key are only there in hex and in base64, since they may be
// a word. The longest form is first, so that no form leaves a part of another.
func Encodings(secret string) []string {
	forms := []string{secret}
	var bytes []byte
	if key, prefixed := strings.CutPrefix(secret, "whsec_"); prefixed {
		forms = append(forms, key)
		bytes, _ = base64.StdEncoding.DecodeString(key) // a secret of another form is the key itself
	}
	for _, form := range slices.Clone(forms) {
		forms = append(forms, url.QueryEscape(form), url.PathEscape(form))
		forms = append(forms, encoded([]byte(form))...)
	}
	forms = append(forms, encoded(bytes)...)
	forms = slices.DeleteFunc(forms, func(form string) bool { return len(form) < Shortest })
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(forms)
}

// encoded returns bytes in base64 without padding, which a text with padding begins with, and in hex.
func encoded(bytes []byte) []string {
	in := hex.EncodeToString(bytes)
	return []string{base64.RawStdEncoding.EncodeToString(bytes), base64.RawURLEncoding.EncodeToString(bytes), in, strings.ToUpper(in)}
}
