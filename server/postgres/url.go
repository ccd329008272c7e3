package postgres

import (
	"errors"
	"regexp"
	"strings"
)

// word matches a run of characters that may be part of a password.
var word = regexp.MustCompile(`[\pL\pN_-]{2,}`)

// unreadable returns the error for a database URL that pgx cannot parse. pgx's own error shows the URL, and hides the
// password only if pgx finds it: not in a URL without a scheme or with an unencoded password. So unreadable keeps only
// the text after the URL, and only if this text contains no word that may be part of the password.
func unreadable(url string, err error) error {
	const form = "write postgres://user:password@host:5432/name, and what is special in the password encoded (%40 for @)"
	said := err.Error()
	said = said[strings.LastIndex(said, "`: ")+1:]
	at := strings.LastIndex(url, "@")
	if _, rest, found := strings.Cut(url[:max(at, 0)], "postgres"); !found || strings.Contains(url, "password=") || mentions(said, rest) {
		return errors.New("it cannot be read: " + form)
	}
	return errors.New(strings.TrimPrefix(said, ": ") + "; " + form)
}

// mentions reports whether a text contains a word of a secret.
func mentions(text, secret string) bool {
	for _, part := range word.FindAllString(secret, -1) {
		if strings.Contains(text, part) {
			return true
		}
	}
	return strings.Contains(text, "`")
}
