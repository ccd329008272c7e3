package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// Encodings returns a secret in the forms in which a program may tell it: as it is, without the prefix of signing secrets,
// and both in URLs, in hex and in base64. The longest is first, so that no form leaves a part of another.
func Encodings(secret string) []string {
	forms := []string{secret}
	if key, prefixed := strings.CutPrefix(secret, "whsec_"); prefixed {
		forms = append(forms, key)
		if bytes, err := base64.StdEncoding.DecodeString(key); err == nil {
			forms = append(forms, string(bytes))
		}
	}
	for _, form := range slices.Clone(forms) {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, encoding.EncodeToString([]byte(form)))
		}
		in := hex.EncodeToString([]byte(form))
		forms = append(forms, in, strings.ToUpper(in), url.QueryEscape(form), url.PathEscape(form))
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(forms)
}
