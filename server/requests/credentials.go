package requests

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
)

var (
	// credentials matches the credentials of sandboxes, and other common forms of credentials.
	credentials = regexp.MustCompile(`(?i)(cauri_sk_|whsec_)[A-Za-z0-9+/=_-]*|` +
		`\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]*`)
	// percentWord matches a word with percent-encoding, and escape its parts.
	percentWord = regexp.MustCompile(`\S*%[0-9A-Fa-f]{2}\S*`)
	escape      = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	// base64Word matches what may be a credential in base64, of both alphabets.
	base64Word = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}={0,2}`)
)

// mostEncodings is how often a credential may be encoded and is still found.
const mostEncodings = 3

// hidePlain replaces the credentials that are in a text as they are.
func (k *Redactor) hidePlain(text string) string {
	for _, secret := range k.presented {
		text = strings.ReplaceAll(text, secret, hiddenCredential)
	}
	text = credentials.ReplaceAllString(text, hiddenCredential)
	for _, form := range k.forms {
		text = form.ReplaceAllString(text, hiddenCredential)
	}
	return text
}

// hideEncoded replaces the words of a text that are, or have, a credential in percent-encoding or in base64.
func (k *Redactor) hideEncoded(text string, most int) string {
	if most == 0 {
		return text
	}
	hasCredential := func(plain string) bool {
		return k.hidePlain(plain) != plain || k.hideEncoded(plain, most-1) != plain
	}
	text = percentWord.ReplaceAllStringFunc(text, func(word string) string {
		if hasCredential(unescaped(word)) {
			return hiddenCredential
		}
		return word
	})
	return base64Word.ReplaceAllStringFunc(text, func(word string) string {
		digits := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(word, "="))
		plain, err := base64.RawStdEncoding.DecodeString(digits)
		if err == nil && hasCredential(string(plain)) {
			return hiddenCredential
		}
		return word
	})
}

// unescaped decodes what is percent-encoded in a text, which may have other percent signs.
func unescaped(text string) string {
	return escape.ReplaceAllStringFunc(text, func(escape string) string {
		b, _ := strconv.ParseUint(escape[1:], 16, 8) // two hexadecimal digits
		return string([]byte{byte(b)})
	})
}
